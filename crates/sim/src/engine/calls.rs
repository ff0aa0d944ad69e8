//! What is asked of engines, and who waits for the answer.

use std::sync::Arc;
use std::time::Duration;

use abide_core::capacity::LimitSettings;
use abide_core::command::{Command, Reply};
use abide_core::id::{LimitId, RunId, WorkspaceId};
use abide_core::waitpoint::Actor;
use abide_engine::machine::{
    Decide, Handed, Input, Poll, Query, Request, SendEvent, Sender, StartRun, TaskRequest,
};
use abide_engine::{
    Asker, Error, EventSent, Handler, LimitOrder, Ordered, ScheduleOrder, Started, Stats, TaskResult,
};
use serde_json::Value;
use tokio::sync::oneshot::{self, Receiver};

use super::agenda::Event;
use super::world::World;

pub(super) type Answered<T> = Receiver<Result<T, Error>>;

/// A request under way, to a node.
pub(super) struct Call {
    pub(super) node: usize,
    pub(super) asked: PendingCall,
}

impl Call {
    pub(super) fn is_poll(&self) -> bool {
        matches!(self.asked, PendingCall::Poll { .. })
    }
}

pub(super) enum PendingCall {
    Start { start: StartCall, answer: Answered<Started> },
    StartMany { starts: Vec<StartCall>, answer: Answered<Vec<Result<Started, Error>>> },
    Command { command: CommandCall, answer: Answered<Reply> },
    Event { event: EventCall, answer: Answered<EventSent> },
    Poll { worker: Arc<str>, answer: Answered<Handed> },
    Schedule { answer: Answered<Box<Ordered>> },
    SetLimit { settings: LimitId, answer: Answered<Box<LimitSettings>> },
    Stats { answer: Answered<Stats> },
}

#[derive(Clone, Debug)]
pub(super) struct StartCall {
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) run_at: Option<jiff::Timestamp>,
    pub(super) key: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct CommandCall {
    pub(super) run: RunId,
    pub(super) command: Command,
    pub(super) by: String,
    pub(super) key: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct EventCall {
    pub(super) event_id: Arc<str>,
    pub(super) data: Value,
    pub(super) key: Option<String>,
    /// The task that sends it.
    pub(super) sender: Option<Sender>,
}

/// What is asked for again when no answer came.
#[derive(Clone, Debug)]
pub(super) enum Retry {
    Start(StartCall),
    Command(CommandCall),
    Event(EventCall),
}

impl StartCall {
    fn request(&self) -> StartRun {
        StartRun::new(&self.name)
            .input(self.input.clone())
            .run_at(self.run_at)
            .idempotency_key(self.key.clone())
            .by(Actor::new(crate::choices::STARTER))
    }
}

impl World {
    /// A node that answers, if there is one.
    pub(super) fn some_node(&mut self) -> Option<usize> {
        let reachable: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.nodes[*node].is_reachable()).collect();
        self.pick(&reachable)
    }

    fn send(&mut self, node: usize, request: impl Into<Request>, asked: PendingCall) {
        let life = self.life(node);
        let way = self.way();
        let input = Box::new(Input::Request(request.into()));
        self.after(way, Event::Arrive { life, input });
        self.calls.push(Call { node, asked });
    }

    pub(super) fn call(&mut self, asked: Retry) {
        match self.some_node() {
            Some(node) => match asked {
                Retry::Start(start) => self.call_start(node, start),
                Retry::Command(command) => self.call_command(node, command),
                Retry::Event(event) => self.call_event(node, event),
            },
            None => self.retries.push_back(asked),
        }
    }

    fn call_start(&mut self, node: usize, start: StartCall) {
        self.tell(|| format!("node {node}: start {} with key {:?}", start.name, start.key));
        let (sender, answer) = oneshot::channel();
        let request = Decide::Start { start: Box::new(start.request()), listener: None, answer: sender };
        self.send(node, request, PendingCall::Start { start, answer });
    }

    /// Starts these with one request, the first of them twice if it has a key.
    pub(super) fn call_start_many(&mut self, mut starts: Vec<StartCall>) {
        let Some(node) = self.some_node() else {
            return self.retries.extend(starts.into_iter().map(Retry::Start));
        };
        starts.extend(starts.first().filter(|start| start.key.is_some()).cloned());
        self.tell(|| format!("node {node}: start {} runs with one request", starts.len()));
        let (sender, answer) = oneshot::channel();
        let request = Decide::StartMany {
            workspace: WorkspaceId::DEFAULT,
            starts: starts.iter().map(|start| Ok(start.request())).collect(),
            checking: 0,
            answer: sender,
        };
        self.send(node, request, PendingCall::StartMany { starts, answer });
    }

    fn call_command(&mut self, node: usize, command: CommandCall) {
        self.tell(|| format!("node {node}: {} asks {} for {:?}", command.by, command.run, command.command));
        let (sender, answer) = oneshot::channel();
        let request = Decide::Command {
            workspace: Some(WorkspaceId::DEFAULT),
            run: command.run,
            command: Box::new(command.command.clone()),
            asker: Asker { by: Actor::new(&command.by), traceparent: None },
            key: command.key.clone(),
            listener: None,
            answer: sender,
        };
        self.send(node, request, PendingCall::Command { command, answer });
    }

    fn call_event(&mut self, node: usize, event: EventCall) {
        self.tell(|| format!("node {node}: event {} {}", event.event_id, event.data));
        let (sender, answer) = oneshot::channel();
        let request = Decide::SendEvent {
            send: Box::new(
                SendEvent::new(Arc::clone(&event.event_id))
                    .data(event.data.clone())
                    .idempotency_key(event.key.clone())
                    .sent_by(event.sender.clone()),
            ),
            answer: sender,
        };
        self.send(node, request, PendingCall::Event { event, answer });
    }

    pub(super) fn call_poll(
        &mut self,
        node: usize,
        (worker, build): (&str, &str),
        handlers: &[&str],
        waits: bool,
    ) {
        if !self.calm {
            self.tell(|| format!("node {node}: {worker} of build `{build}` polls for {handlers:?}"));
        }
        let most = 1 + self.random.below(3) as usize;
        let lease = Duration::from_secs(30);
        let poll = Poll::new(worker, handlers.iter().copied(), lease).most(most).build(build).waits(waits);
        let poll = poll.in_workspace(WorkspaceId::DEFAULT);
        let (sender, answer) = oneshot::channel();
        let request = TaskRequest::Poll { poll, answer: sender };
        self.send(node, request, PendingCall::Poll { worker: worker.into(), answer });
    }

    pub(super) fn call_schedule(&mut self, node: usize, order: ScheduleOrder) {
        self.tell(|| format!("node {node}: {order:?}"));
        let (sender, answer) = oneshot::channel();
        let request = Decide::Schedule {
            workspace: WorkspaceId::DEFAULT,
            order: Box::new(order),
            by: Actor::new("operator"),
            key: None,
            checked: None,
            answer: sender,
        };
        self.send(node, request, PendingCall::Schedule { answer });
    }

    pub(super) fn call_set_limit(&mut self, node: usize, order: LimitOrder) {
        self.tell(|| format!("node {node}: {order:?}"));
        let settings = LimitId::of_settings(WorkspaceId::DEFAULT, order.workflow.as_deref(), &order.name);
        self.store.state().ordered.push(settings);
        let (sender, answer) = oneshot::channel();
        let request = Decide::SetLimit {
            workspace: WorkspaceId::DEFAULT,
            order: Box::new(order),
            by: Actor::new("operator"),
            answer: sender,
        };
        self.send(node, request, PendingCall::SetLimit { settings, answer });
    }

    pub(super) fn call_stats(&mut self, node: usize) {
        let (sender, answer) = oneshot::channel();
        self.send(node, Query::Stats { answer: sender }, PendingCall::Stats { answer });
    }

    /// A handler of the node says what came of a task.
    pub(super) fn report_from(
        &mut self,
        life: super::agenda::Life,
        run: RunId,
        command: Command,
        after_ms: u64,
    ) {
        let (sender, _) = oneshot::channel();
        let request = Decide::Command {
            workspace: None,
            run,
            command: Box::new(command),
            asker: Asker { by: Actor::new("worker"), traceparent: None },
            key: None,
            listener: None,
            answer: sender,
        };
        let input = Box::new(Input::Report(request.into()));
        self.after(abide_core::time::Millis(after_ms), Event::Arrive { life, input });
    }
}

/// A node has a handler of this name. What it does is up to the world.
pub(super) fn register(name: &str) -> Request {
    let handler = Handler::new(|_| async { TaskResult::fail("handlers are simulated") });
    TaskRequest::Register { name: name.into(), handler }.into()
}
