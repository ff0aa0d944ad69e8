//! A node: the machine of one engine, and the shell around it as far as it matters: a clock, an inbox, heartbeats, and
//! handlers of its own.

use std::collections::VecDeque;
use std::time::Duration;

use abide_core::time::Millis;
use abide_engine::machine::{
    Control, Done, Input, Machine, Now, Output, Perform, Request, Room, Setup, TaskKey, Wake,
};
use abide_store::Store;
use abide_store::cluster::NodeId;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use super::agenda::{Event, Life};
use super::store::Kind;
use super::world::World;
use crate::world::Check;

/// How often a node says that it is there.
const HEARTBEAT: Millis = Millis(500);
/// Steps of one node at one instant; with more, it does not come to an end.
const STEPS: usize = 2_000;
/// Commits of one node of a cluster that may be under way at once.
const COMMITTERS: usize = 2;
/// Requests that give tasks back, at most.
const GIVEN_BACK: usize = 1_000;

pub(super) struct Node {
    place: usize,
    pub(super) life: u32,
    pub(super) id: NodeId,
    machine: Option<Machine>,
    started: Timestamp,
    /// The process is stopped, and goes on later as if nothing had happened.
    pub(super) is_frozen: bool,
    /// How far its clock is behind the store's, or ahead of it; in a cluster it is never ahead.
    pub(super) clock_ms: i64,
    /// What was asked and was not taken yet.
    inbox: VecDeque<Input>,
    /// What came of outputs and was not heard yet.
    done: VecDeque<Done>,
    /// Tasks whose poller has gone come back this way.
    back: Option<(mpsc::Sender<Request>, mpsc::Receiver<Request>)>,
    /// The last wish to be woken.
    wish: u64,
    /// Tasks that its own handlers are at.
    pub(super) performing: Vec<TaskKey>,
    /// The node was asked to stop.
    pub(super) is_stopping: bool,
}

impl Node {
    pub(super) fn dead(place: usize) -> Node {
        Node {
            place,
            life: 0,
            id: NodeId(0),
            machine: None,
            started: Timestamp::UNIX_EPOCH,
            is_frozen: false,
            clock_ms: 0,
            inbox: VecDeque::new(),
            done: VecDeque::new(),
            back: None,
            wish: 0,
            performing: Vec::new(),
            is_stopping: false,
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        self.machine.is_some()
    }

    fn take_back(&mut self) {
        if let Some((_, given_back)) = &mut self.back {
            while let Ok(request) = given_back.try_recv() {
                self.inbox.push_back(Input::Request(request));
            }
        }
    }

    /// Whether requests are sent to it.
    pub(super) fn is_reachable(&self) -> bool {
        self.is_alive() && !self.is_frozen && !self.is_stopping
    }

    /// What time it is, as the shell of this node knows it.
    fn now(&self, now: Timestamp, kind: Kind) -> Now {
        let wall = now + SignedDuration::from_millis(self.clock_ms);
        let latest = match kind {
            Kind::OneWriter => wall,
            Kind::Cluster => now + SignedDuration::from_millis(1),
        };
        let elapsed = Duration::from_millis(Millis::between(self.started, now).0);
        Now { wall: whole_ms(wall), latest: whole_ms(latest), elapsed }
    }
}

fn whole_ms(instant: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(instant.as_millisecond()).unwrap_or(instant)
}

impl World {
    /// A process begins on this node.
    pub(super) fn restart(&mut self, node: usize) -> Check {
        if self.nodes[node].is_alive() {
            return Ok(());
        }
        let id = NodeId(self.random.draw_u128());
        let (seed, kind) = (self.random.draw(), self.store.kind());
        let store = self.store.of(id);
        let (back, given_back) = mpsc::channel(GIVEN_BACK);
        let mut setup = Setup::new(Box::new(store.clone()), seed, back.downgrade());
        if kind == Kind::Cluster {
            setup.node = Some((id, Box::new(store)));
            setup.committers = COMMITTERS;
        }
        let mut machine = Machine::new(setup);
        let clock_ms = self.clock_of(kind);
        let mut begun = Node {
            life: self.nodes[node].life + 1,
            id,
            started: self.now,
            clock_ms,
            back: Some((back, given_back)),
            ..Node::dead(node)
        };
        let mut outputs = Vec::new();
        if machine.recover(begun.now(self.now, kind), &mut outputs).is_err() {
            return self.restart_later(node);
        }
        begun.machine = Some(machine);
        self.nodes[node] = begun;
        self.tell(|| format!("node {node} begins as {:x}", id.0 >> 96));
        let life = self.life(node);
        self.perform(life, outputs)?;
        if node.is_multiple_of(2) {
            self.nodes[node].inbox.push_back(Input::Request(super::calls::register("local")));
        }
        if kind == Kind::Cluster {
            self.heartbeat(life)?;
        }
        self.run(node)
    }

    fn restart_later(&mut self, node: usize) -> Check {
        self.after(Millis(100), Event::Restart(node));
        Ok(())
    }

    /// How wrong the clock of a node is.
    pub(super) fn clock_of(&mut self, kind: Kind) -> i64 {
        if self.calm {
            return 0;
        }
        let small = i64::try_from(self.random.below(20)).unwrap_or(0);
        let large = i64::try_from(self.random.below(900)).unwrap_or(0);
        let by = if self.chance(6) { large } else { small };
        match kind {
            Kind::Cluster => -by,
            Kind::OneWriter => 0,
        }
    }

    pub(super) fn is_living(&self, life: Life) -> bool {
        let node = &self.nodes[life.node];
        node.life == life.number && node.is_alive()
    }

    pub(super) fn wake(&mut self, life: Life, wish: u64) -> Check {
        if self.is_living(life) && self.nodes[life.node].wish == wish { self.run(life.node) } else { Ok(()) }
    }

    /// An output was done; a frozen node hears of it when it goes on.
    pub(super) fn is_done(&mut self, life: Life, done: Done) -> Check {
        if !self.is_living(life) {
            return Ok(());
        }
        self.nodes[life.node].done.push_back(done);
        self.run(life.node)
    }

    /// Something arrives; a frozen node finds it when it goes on.
    pub(super) fn arrive(&mut self, life: Life, input: Input) -> Check {
        if !self.is_living(life) {
            return Ok(());
        }
        self.nodes[life.node].inbox.push_back(input);
        self.run(life.node)
    }

    pub(super) fn thaw(&mut self, life: Life) -> Check {
        if self.is_living(life) && self.nodes[life.node].is_frozen {
            self.nodes[life.node].is_frozen = false;
            self.tell(|| format!("node {} goes on", life.node));
            self.run(life.node)?;
        }
        Ok(())
    }

    pub(super) fn heartbeat(&mut self, life: Life) -> Check {
        if !self.is_living(life) {
            return Ok(());
        }
        self.after(HEARTBEAT, Event::Heartbeat(life));
        if self.fault(20) || self.nodes[life.node].is_frozen {
            return Ok(());
        }
        let id = self.nodes[life.node].id;
        let Some(mut cluster) = self.store.of(id).cluster().map_err(|error| error.to_string())? else {
            return Ok(());
        };
        if let Ok(heard) = cluster.heartbeat(id) {
            self.nodes[life.node].clock_ms = self.clock_of(Kind::Cluster);
            let input = Box::new(Input::Request(Control::Nodes(heard.nodes).into()));
            self.after(Millis(1), Event::Arrive { life, input });
        }
        Ok(())
    }

    /// Lets a node go on until it has nothing more to do now.
    pub(super) fn run(&mut self, place: usize) -> Check {
        let kind = self.store.kind();
        for _ in 0..STEPS {
            let node = &mut self.nodes[place];
            if node.is_frozen {
                return Ok(());
            }
            let now = node.now(self.now, kind);
            self.hear_done(place, now)?;
            let node = &mut self.nodes[place];
            node.take_back();
            let Some(machine) = &mut node.machine else { return Ok(()) };
            let mut inputs = take_inputs(&mut node.inbox, machine, now);
            let mut outputs = Vec::new();
            machine.step(now, &mut inputs, &mut outputs);
            let life = self.life(place);
            self.perform(life, outputs)?;
            self.hear_answers(place)?;
            let node = &mut self.nodes[place];
            node.take_back();
            if let Some(done) = node.machine.take_if(|machine| machine.is_stopping() && machine.is_drained())
            {
                return match done.end(now) {
                    Some(_) => self.stopped(life),
                    None => Err(format!("node {place} stops, and nobody asked for it")),
                };
            }
            let Some(machine) = &mut node.machine else { return Ok(()) };
            let Wake { after, .. } = machine.wake(now);
            // What there is no room for waits until the round that is full has been sent off.
            if node.done.is_empty() && !has_takeable(&node.inbox, machine.room(now)) && !after.is_zero() {
                node.wish += 1;
                let wish = node.wish;
                let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX).max(1);
                self.after(Millis(ms), Event::Wake { life, wish });
                return Ok(());
            }
        }
        let why = self.nodes[place].machine.as_ref().map(|machine| {
            let now = self.nodes[place].now(self.now, kind);
            machine.wake(now).reason
        });
        Err(format!("node {place} goes on without end ({why:?}), and no time passes"))
    }

    fn hear_done(&mut self, place: usize, now: Now) -> Check {
        while let Some(done) = self.nodes[place].done.pop_front() {
            let Some(machine) = &mut self.nodes[place].machine else { return Ok(()) };
            let mut outputs = Vec::new();
            machine.hear(now, done, &mut outputs);
            self.perform(self.life(place), outputs)?;
        }
        Ok(())
    }

    /// Does what a machine wants to be done.
    fn perform(&mut self, life: Life, outputs: Vec<Output>) -> Check {
        for output in outputs {
            match output {
                Output::Commit { round, batch } => self.send_commit(life, round, batch)?,
                Output::Deploy { .. } | Output::Write(_) | Output::SettleWebhooks(_) => {
                    return Err("a machine wants what nobody asked it for".to_owned());
                }
                Output::Hold { held, .. } => {
                    return Err(format!("{} is held: {}", held.owner, held.reason));
                }
                Output::Unhold { owner, .. } => return Err(format!("{owner} is released, and was not held")),
                Output::Check(check) => self.check_input(life, check),
                Output::Perform(perform) => self.begin_performing(life, *perform),
                Output::Abort(task) | Output::Detach(task) => {
                    self.nodes[life.node].performing.retain(|performed| *performed != task);
                }
                Output::Register { .. }
                | Output::Webhooks(_)
                | Output::Changed(_)
                | Output::Version { .. } => {}
            }
        }
        Ok(())
    }

    fn check_input(&mut self, life: Life, check: abide_engine::machine::Check) {
        let abide_engine::machine::Check { definition, input, then, workspace: _ } = check;
        let result = definition.check_input(&input).map_err(abide_engine::Error::from);
        let done = Box::new(Done::Checked { definition, result, then });
        let took = Millis(1 + self.random.below(20));
        self.after(took, Event::Done { life, done });
    }

    /// A handler of the node begins with a task, and reports after a while; some never do.
    fn begin_performing(&mut self, life: Life, perform: Perform) {
        let Perform { ready, .. } = perform;
        self.nodes[life.node].performing.push(ready);
        self.performs(life, ready);
    }

    /// The process ends: all that it had in memory is gone.
    pub(super) fn end_life(&mut self, node: usize) -> Check {
        let dead = &mut self.nodes[node];
        let life = Life { node, number: dead.life };
        let id = dead.id;
        *dead = Node { life: dead.life, ..Node::dead(dead.place) };
        self.store.state().dead.insert(id);
        self.hear_answers(node)?;
        self.settle_commits(life)
    }
}

fn has_takeable(inbox: &VecDeque<Input>, room: Room) -> bool {
    inbox.iter().any(|input| match input {
        Input::Request(_) => room.requests > 0,
        Input::Report(_) => room.requests > 0 && room.reports > 0,
    })
}

/// As much as the machine has room for.
fn take_inputs(inbox: &mut VecDeque<Input>, machine: &mut Machine, now: Now) -> VecDeque<Input> {
    let room = machine.room(now);
    let (mut requests, mut reports) = (room.requests, room.reports);
    let (mut asked, mut rest) = (VecDeque::new(), VecDeque::new());
    for input in inbox.drain(..) {
        match input {
            Input::Request(_) if requests > 0 => {
                requests -= 1;
                asked.push_back(input);
            }
            Input::Report(_) if requests > 0 && reports > 0 => {
                requests -= 1;
                reports -= 1;
                asked.push_back(input);
            }
            Input::Request(_) | Input::Report(_) => rest.push_back(input),
        }
    }
    *inbox = rest;
    asked
}
