//! Everything that can be asked of a run, by the names of its steps. A report on a task is for its present execution.

use std::sync::Arc;

use abide_core::command::{
    ChildFinished, ChildOutcome, CodeArrived, Command, CreateWaitpoint, DeliverEvent, Event, LeaseLoss,
    LeaseLost, Mismatch, Move, ResumeTarget, ResumeWaitpoint, SendSignal, Steer, Steering, TaskCompleted,
    TaskFailed, TaskHeartbeat, TaskPaused, TaskRecorded, TaskStarted, TaskSuspended, Via, Vote, WaitFor,
    WaitSpec,
};
use abide_core::effect::RoundEffect;
use abide_core::history::{Failure, JournalResult, WakeOn};
use abide_core::id::{EventUid, WorkspaceId};
use abide_core::json::Json;
use abide_core::waitpoint::{Decision, ListensFor};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, Scenario, definition, millis};

/// Workers.
impl Scenario {
    pub(crate) fn take(&mut self, step: &str, worker: &str) -> Answer {
        let (at, lease_epoch) = (self.at(step), self.lease_epoch(step));
        self.send(Command::TaskStarted(TaskStarted::new(at, lease_epoch, worker)))
    }

    /// A worker that says which code it has takes the task.
    pub(crate) fn take_with(&mut self, step: &str, build: &str) -> Answer {
        let taken = TaskStarted::new(self.at(step), self.lease_epoch(step), "worker-1");
        self.send(Command::TaskStarted(TaskStarted { build: Some(build.into()), ..taken }))
    }

    /// The code does not fit what the handler has recorded.
    pub(crate) fn mismatch(&mut self, step: &str) -> Answer {
        let mismatch = Mismatch { recorded: "`charge`".to_owned(), found: "`bill`".to_owned() };
        let command = TaskFailed { mismatch: Some(mismatch), ..self.failure(step) };
        self.send(Command::TaskFailed(command))
    }

    /// A worker comes with this code, for the step's open wait.
    pub(crate) fn bring_code(&mut self, step: &str, build: &str) -> Answer {
        let (number, worker) = (self.waitpoint(step).number, "worker-2".into());
        self.send(Command::CodeArrived(CodeArrived { number, worker, build: build.into() }))
    }

    pub(crate) fn complete(&mut self, step: &str, output: Value) -> Answer {
        let lease_epoch = self.lease_epoch(step);
        self.complete_epoch(step, lease_epoch, output)
    }

    pub(crate) fn complete_epoch(&mut self, step: &str, lease_epoch: u32, output: Value) -> Answer {
        let (at, output) = (self.at(step), output.into());
        self.send(Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates: None }))
    }

    /// With these `stateUpdates`.
    pub(crate) fn update(&mut self, step: &str, updates: Value) -> Answer {
        let (at, lease_epoch, output) = (self.at(step), self.lease_epoch(step), Json::null());
        let updates = updates.as_object().expect("state updates").clone();
        let state_updates = Some(updates.into_iter().map(|(key, value)| (key, value.into())).collect());
        self.send(Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates }))
    }

    pub(crate) fn fail(&mut self, step: &str) -> Answer {
        let command = TaskFailed { retryable: true, ..self.failure(step) };
        self.send(Command::TaskFailed(command))
    }

    pub(crate) fn fail_for_good(&mut self, step: &str) -> Answer {
        let command = self.failure(step);
        self.send(Command::TaskFailed(command))
    }

    pub(crate) fn fail_until(&mut self, step: &str, retry_after: &str) -> Answer {
        let command =
            TaskFailed { retryable: true, retry_after: Some(millis(retry_after)), ..self.failure(step) };
        self.send(Command::TaskFailed(command))
    }

    fn failure(&self, step: &str) -> TaskFailed {
        let (at, lease_epoch, message) = (self.at(step), self.lease_epoch(step), "it went wrong".to_owned());
        let (code, retry_after, detail) = (None, None, None);
        TaskFailed { at, lease_epoch, message, code, retryable: false, retry_after, detail, mismatch: None }
    }

    pub(crate) fn pause_task(&mut self, step: &str, name: &str, duration: &str) -> Answer {
        self.pause_task_at(step, name, duration, None)
    }

    pub(crate) fn pause_task_at(
        &mut self,
        step: &str,
        name: &str,
        duration: &str,
        checkpoint: Option<Value>,
    ) -> Answer {
        let (at, lease_epoch, checkpoint) =
            (self.at(step), self.lease_epoch(step), checkpoint.map(Json::new));
        let (name, duration) = (name.into(), millis(duration));
        self.send(Command::TaskPaused(TaskPaused { at, lease_epoch, name, duration, checkpoint }))
    }

    /// The handler waits for all of these.
    pub(crate) fn suspend(&mut self, step: &str, waits: Vec<WaitSpec>) -> Answer {
        self.suspend_for(step, waits, WakeOn::All, &[])
    }

    pub(crate) fn suspend_for(
        &mut self,
        step: &str,
        waits: Vec<WaitSpec>,
        wake: WakeOn,
        results: &[(&str, Value)],
    ) -> Answer {
        let (at, lease_epoch, entries) = (self.at(step), self.lease_epoch(step), entries(results));
        let (checkpoint, cancels) = (None, Vec::new());
        let command = TaskSuspended { at, lease_epoch, entries, waits, wake, checkpoint, cancels };
        self.send(Command::TaskSuspended(command))
    }

    pub(crate) fn journal(&mut self, step: &str, results: &[(&str, Value)]) -> Answer {
        let (at, lease_epoch, entries) = (self.at(step), self.lease_epoch(step), entries(results));
        self.send(Command::TaskHeartbeat(TaskHeartbeat {
            at,
            lease_epoch,
            checkpoint: None,
            entries,
            calls: Vec::new(),
            cancels: Vec::new(),
        }))
    }

    pub(crate) fn record(&mut self, step: &str, results: &[(&str, Value)], waits: Vec<WaitSpec>) -> Answer {
        let (at, lease_epoch, entries) = (self.at(step), self.lease_epoch(step), entries(results));
        self.send(Command::TaskRecorded(TaskRecorded { at, lease_epoch, entries, waits }))
    }

    pub(crate) fn checkpoint(&mut self, step: &str, checkpoint: Value) -> Answer {
        let (at, lease_epoch, checkpoint) = (self.at(step), self.lease_epoch(step), Some(checkpoint.into()));
        self.send(Command::TaskHeartbeat(TaskHeartbeat {
            at,
            lease_epoch,
            checkpoint,
            entries: Vec::new(),
            calls: Vec::new(),
            cancels: Vec::new(),
        }))
    }

    pub(crate) fn lose_worker(&mut self, step: &str) -> Answer {
        let (at, lease_epoch, loss) = (self.at(step), self.lease_epoch(step), LeaseLoss::Expired);
        self.send(Command::LeaseLost(LeaseLost { at, lease_epoch, loss }))
    }

    pub(crate) fn release(&mut self, step: &str) -> Answer {
        let (at, lease_epoch, loss) = (self.at(step), self.lease_epoch(step), LeaseLoss::Released);
        self.send(Command::LeaseLost(LeaseLost { at, lease_epoch, loss }))
    }

    pub(crate) fn create_waitpoint(&mut self, step: &str, name: &str) -> Answer {
        let (at, lease_epoch, name) = (self.at(step), self.lease_epoch(step), name.into());
        self.send(Command::CreateWaitpoint(CreateWaitpoint {
            at,
            lease_epoch,
            name,
            wait: WaitFor::Call { allow_get: false, timeout: None },
            asked: None,
            response: None,
        }))
    }
}

/// Senders, callers and people.
impl Scenario {
    pub(crate) fn signal(&mut self, signal_type: &str, payload: Value) -> Answer {
        self.send(Command::SendSignal(SendSignal {
            signal_type: signal_type.into(),
            payload: payload.into(),
        }))
    }

    /// Someone sends an event: it is stored, and offered to every wait for it. Says who took it.
    pub(crate) fn notify(&mut self, event_id: &str, data: Value) -> Vec<String> {
        let id = EventUid::new(self.now, self.events.len() as u128);
        let event = self.event(id, event_id, data, self.now);
        self.events.push(event.clone());
        let waiting: Vec<u32> = self
            .run
            .open_waitpoints()
            .filter(|wait| matches!(&wait.listens_for, ListensFor::Event(filter) if *filter.event_id == *event_id))
            .map(|wait| wait.number)
            .collect();
        waiting.into_iter().filter_map(|number| self.offer(number, event.clone())).collect()
    }

    /// The errands that the run asked for: waits are offered what was received before they began.
    pub(crate) fn look_back(&mut self) -> Vec<String> {
        let asked: Vec<u32> = self.in_round[self.looked_back..]
            .iter()
            .filter_map(
                |effect| if let RoundEffect::LookBack { number } = effect { Some(*number) } else { None },
            )
            .collect();
        self.looked_back = self.in_round.len();
        let stored = self.events.clone();
        asked
            .into_iter()
            .flat_map(|number| stored.iter().map(move |event| (number, event.clone())))
            .filter_map(|(number, event)| self.offer(number, event))
            .collect()
    }

    fn event(&self, id: EventUid, event_id: &str, data: Value, received_at: Timestamp) -> Event {
        let (workspace, event_id, data) = (self.run().workspace, event_id.into(), data.into());
        Event { id, workspace, event_id, data, received_at, run: None }
    }

    /// Somebody of another workspace sends an event, and it is offered to the step's wait.
    pub(crate) fn deliver_from_elsewhere(&mut self, step: &str, event_id: &str, data: Value) -> Answer {
        let (number, id) = (self.wait(step), EventUid::new(self.now, self.events.len() as u128));
        let workspace = WorkspaceId(self.run().workspace.0 + 1);
        let event = Event { workspace, ..self.event(id, event_id, data, self.now) };
        self.send(Command::DeliverEvent(DeliverEvent { number, event }))
    }

    fn offer(&mut self, number: u32, event: Event) -> Option<String> {
        let step = self.run.waitpoint(number).and_then(|wait| wait.at).map(|at| self.run.step_name(at));
        let context = self.context("sender");
        let mut run = self.run.clone();
        let command = Command::DeliverEvent(DeliverEvent { number, event });
        let answer = abide_core::command::decide(&mut run, command, &context);
        let taken = answer.is_ok();
        self.decided(run, answer).ignore();
        step.filter(|_| taken)
    }

    /// Offers one event, received at this instant, to the step's wait.
    pub(crate) fn deliver(
        &mut self,
        step: &str,
        event_id: &str,
        data: Value,
        received_at: Timestamp,
    ) -> Answer {
        let (number, id) = (self.wait(step), EventUid::new(received_at, self.events.len() as u128));
        let event = self.event(id, event_id, data, received_at);
        self.send(Command::DeliverEvent(DeliverEvent { number, event }))
    }

    /// A call on the step's resume URL.
    pub(crate) fn call(&mut self, step: &str, body: Value) -> Answer {
        let target = ResumeTarget::Waitpoint(self.wait(step));
        self.resume(target, body, Via::Write)
    }

    /// Someone, or something, opens the link.
    pub(crate) fn open_link(&mut self, step: &str) -> Answer {
        let target = ResumeTarget::Waitpoint(self.wait(step));
        self.resume(target, Value::Null, Via::Read)
    }

    /// A call that names the step, begun or not.
    pub(crate) fn call_step(&mut self, step: &str, body: Value) -> Answer {
        self.resume(ResumeTarget::Step { step: step.to_owned(), wait: None }, body, Via::Write)
    }

    /// A call that names a wait of a task.
    pub(crate) fn call_wait(&mut self, step: &str, wait: &str, body: Value) -> Answer {
        let target = ResumeTarget::Step { step: step.to_owned(), wait: Some(wait.into()) };
        self.resume(target, body, Via::Write)
    }

    pub(crate) fn resume(&mut self, target: ResumeTarget, body: Value, via: Via) -> Answer {
        let payload = json!({ "body": body }).into();
        self.send(Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via }))
    }

    pub(crate) fn approve(&mut self, who: &str, step: &str) -> Answer {
        self.vote(who, step, Decision::Approve, None)
    }

    pub(crate) fn reject(&mut self, who: &str, step: &str) -> Answer {
        self.vote(who, step, Decision::Reject, None)
    }

    pub(crate) fn edit(&mut self, who: &str, step: &str, content: Value) -> Answer {
        self.vote(who, step, Decision::Edit, Some(content))
    }

    pub(crate) fn vote(
        &mut self,
        who: &str,
        step: &str,
        decision: Decision,
        edited: Option<Value>,
    ) -> Answer {
        let (number, edited_content) = (self.wait(step), edited.map(Json::new));
        self.send_as(who, Command::Vote(Vote { edited_content, ..Vote::new(number, decision) }))
    }

    pub(crate) fn child_completes(&mut self, step: &str, output: Value) -> Answer {
        self.child_ends(step, ChildOutcome::Completed { output: output.into() })
    }

    pub(crate) fn child_fails(&mut self, step: &str) -> Answer {
        self.child_ends(step, ChildOutcome::Failed { error: Failure::new("BROKEN", "it broke") })
    }

    pub(crate) fn child_ends(&mut self, step: &str, outcome: ChildOutcome) -> Answer {
        let number = self.wait(step);
        self.send(Command::ChildFinished(ChildFinished { number, outcome }))
    }
}

/// Operators.
impl Scenario {
    pub(crate) fn steer(&mut self, step: &str, steering: Steering) -> Answer {
        let number = self.wait(step);
        self.steer_wait(number, steering)
    }

    pub(crate) fn steer_wait(&mut self, number: u32, steering: Steering) -> Answer {
        let scopes = vec!["approve".into()];
        self.send_as("operator", Command::Steer(Steer { number, steering, scopes }))
    }

    pub(crate) fn reschedule(&mut self, step: &str, resume_at: Timestamp) -> Answer {
        self.steer(step, Steering::Reschedule { resume_at })
    }

    pub(crate) fn pause(&mut self) -> Answer {
        self.send_as("operator", Command::Pause)
    }

    pub(crate) fn unpause(&mut self) -> Answer {
        self.send_as("operator", Command::Unpause)
    }

    pub(crate) fn cancel(&mut self) -> Answer {
        self.send_as("operator", Command::Cancel { reason: Some("not needed".to_owned()) })
    }

    /// To another version of its workflow: of these steps, or of this document.
    pub(crate) fn move_to(&mut self, version: &str, document: Value) -> Answer {
        let mut document = if document.is_array() { json!({ "steps": document }) } else { document };
        document["version"] = json!(version);
        let to = Arc::new(definition(document));
        self.others.push(Arc::clone(&to));
        self.send(Command::Move(Move { to }))
    }

    pub(crate) fn retry(&mut self) -> Answer {
        self.send_as("operator", Command::Retry)
    }
}

pub(crate) fn wait_for(name: &str, wait: WaitFor) -> WaitSpec {
    WaitSpec::new(name, wait)
}

pub(crate) fn for_sleep(name: &str, duration: &str) -> WaitSpec {
    wait_for(name, WaitFor::Sleep { duration: millis(duration) })
}

pub(crate) fn for_signal(name: &str, signal_type: &str) -> WaitSpec {
    wait_for(name, WaitFor::Signal { signal_type: signal_type.into(), timeout: None })
}

/// For a call on a waitpoint that the handler creates now, or has created.
pub(crate) fn for_call(name: &str) -> WaitSpec {
    wait_for(name, WaitFor::Call { allow_get: false, timeout: None })
}

fn entries(results: &[(&str, Value)]) -> Vec<JournalResult> {
    let entry = |(name, result): &(&str, Value)| JournalResult {
        name: Arc::from(*name),
        result: result.clone().into(),
    };
    results.iter().map(entry).collect()
}
