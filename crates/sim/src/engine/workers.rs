//! Workers: those that poll, and the handlers that nodes have themselves. Some vanish, some report late, some twice.

use abide_core::command::{Command, TaskNotified};
use abide_core::id::{RunId, StepAddress};
use abide_core::waitpoint::Actor;
use abide_engine::machine::{Sender, TaskKey};
use serde_json::Value;

use super::agenda::Life;
use super::calls::{CommandCall, EventCall, Retry};
use super::world::World;
use crate::choices::Report;
use crate::inspector::lease;
use crate::world::Check;

const WORKERS: [(&str, &str); 4] = [("w0", ""), ("w1", "b1"), ("w2", "b2"), ("w3", "b1")];
/// All that workers have handlers for; what engines call themselves, they do here, too.
const HANDLERS: [&str; 4] = ["work", "local", "http", "llm"];

/// A task that a worker believes to have.
#[derive(Clone, Debug)]
pub(super) struct InHand {
    pub(super) run: RunId,
    pub(super) at: StepAddress,
    pub(super) epoch: u32,
    /// Names the worker has used in the journal.
    pub(super) named: u32,
}

impl World {
    /// A worker asks some node for tasks.
    pub(super) fn poll(&mut self) -> Check {
        if let (Some(node), Some((worker, build))) = (self.some_node(), self.pick(&WORKERS)) {
            let handlers: &[&str] = if self.chance(3) { &HANDLERS[..1] } else { &HANDLERS };
            let waits = self.chance(2);
            self.call_poll(node, (worker, build), handlers, waits);
        }
        Ok(())
    }

    /// All workers ask all nodes, so that whatever can be handed out is.
    pub(super) fn poll_everywhere(&mut self) {
        for node in 0..self.nodes.len() {
            for worker in WORKERS {
                self.call_poll(node, worker, &HANDLERS, false);
            }
        }
    }

    /// Pollers that have gone: their answers find nobody.
    pub(super) fn give_up_polling(&mut self) {
        let polls: Vec<usize> = (0..self.calls.len()).filter(|index| self.calls[*index].is_poll()).collect();
        if let Some(index) = self.pick(&polls) {
            self.calls.swap_remove(index);
        }
    }

    /// A worker does something with a task it believes to have.
    pub(super) fn work(&mut self) -> Check {
        let places: Vec<usize> = (0..self.in_hand.len()).collect();
        let Some(place) = self.pick(&places) else { return Ok(()) };
        let InHand { run, at, epoch, mut named } = self.in_hand[place].clone();
        let report = self.choices().report(at, epoch, &mut named);
        self.in_hand[place].named = named;
        let Some(Report { command, lets_go }) = report else {
            self.tell(|| format!("whoever had {run} {at:?} vanishes"));
            self.in_hand.swap_remove(place);
            return Ok(());
        };
        // Now and then a worker keeps at what it has reported, and reports again.
        if lets_go && !self.chance(10) {
            self.in_hand.swap_remove(place);
        }
        self.report_of_worker(run, at, epoch, command);
        Ok(())
    }

    /// All workers finish what they have.
    pub(super) fn finish_work(&mut self) {
        for InHand { run, at, epoch, .. } in std::mem::take(&mut self.in_hand) {
            let command = self.choices().completed(at, epoch);
            self.report_of_worker(run, at, epoch, command);
        }
    }

    fn report_of_worker(&mut self, run: RunId, at: StepAddress, epoch: u32, command: Command) {
        let number = self.number();
        let by = lease::holder(number, at, epoch);
        if let Command::TaskNotified(TaskNotified { event_id, .. }) = command {
            let sender = Some(Sender { run, at, lease_epoch: epoch, by: Actor::new(&by) });
            let key = Some(format!("event-{number}"));
            return self.call(Retry::Event(EventCall { event_id, data: Value::Null, key, sender }));
        }
        self.call(Retry::Command(CommandCall { run, command, by, key: None }));
    }

    /// Handlers of nodes that hang come to an end.
    pub(super) fn finish_performing(&mut self) {
        for node in 0..self.nodes.len() {
            let life = self.life(node);
            for TaskKey { run, at, lease_epoch } in self.nodes[node].performing.clone() {
                let command = self.choices().completed(at, lease_epoch);
                self.report_from(life, run, command, 1);
            }
        }
    }

    /// A handler of a node is at a task: it reports once, or it hangs.
    pub(super) fn performs(&mut self, life: Life, ready: TaskKey) {
        let TaskKey { run, at, lease_epoch } = ready;
        self.tell(|| format!("node {} performs {run} {at:?}, epoch {lease_epoch}", life.node));
        if self.fault(12) {
            return;
        }
        let command = if self.chance(3) {
            self.choices().failed(at, lease_epoch)
        } else {
            self.choices().completed(at, lease_epoch)
        };
        let length = if self.calm { 1 } else { 1 + self.random.below(4_000) };
        self.report_from(life, run, command, length);
    }
}
