//! The beginning of a pass: what is to be decided again comes first, and tasks that somebody asks for are taken from the board.

use super::Machine;
use crate::request::{Poll, Request, TaskRequest};

impl Machine {
    /// What is to be decided again comes first. Tasks that are asked for are taken from the board. Where other nodes write to the
    /// store, too, all runs that this pass is about are compared with it at once.
    pub(super) fn begin_pass(&mut self) {
        let room = self.round_requests().saturating_sub(self.open.requests).min(self.again.len());
        for request in self.again.drain(..room).rev() {
            self.requests.push_front(request);
        }
        if self.cluster.is_alone() {
            self.find_tasks();
        } else {
            self.begin_pass_among_nodes();
        }
    }

    /// Takes tasks that are free, where somebody asks for them.
    pub(super) fn find_tasks(&mut self) {
        if self.paused || self.stop.is_some() || self.is_in_trouble() {
            return;
        }
        let is_time = self.cluster.is_time_to_look(self.now.elapsed);
        let polls = || self.requests.iter().filter_map(poll_of);
        if !(is_time || self.tasks.has_hints() || polls().next().is_some()) {
            return;
        }
        if let Err(error) = self.tasks.find(polls(), is_time, &self.shares, self.now.wall) {
            tracing::error!(%error, "tasks could not be looked for");
            self.in_trouble();
        }
    }
}

fn poll_of(request: &Request) -> Option<&Poll> {
    if let Request::Task(TaskRequest::Poll { poll, .. }) = request { Some(poll) } else { None }
}
