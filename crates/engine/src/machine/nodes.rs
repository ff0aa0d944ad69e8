//! What the machine does where other nodes write to the store, too: nothing is decided on what was read before it was asked, and
//! what the others did or left undone is looked for. Alone, there is nothing of this to do.

use std::sync::Arc;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_store::EventName;
use abide_store::cluster::{ClusterNotification, NodeId};

use super::{Machine, Output};
use crate::alarm::Shard;
use crate::cluster::{LATE, RENEW_AFTER, VERY_LATE};
use crate::engine::{Ended, RunReply};
use crate::error::Error;
use crate::followers::Changed;
use crate::request::{Decide, Query, Request, TaskRequest};
use crate::round::{AfterCommitAction, FIRST_PAGE};

impl Machine {
    /// Takes tasks that are asked for, and compares all runs that this pass is about with the store at once.
    pub(super) fn begin_pass_among_nodes(&mut self) {
        self.memory.begin_pass();
        self.alarm.keep_near(self.now.wall);
        let mut kept: Vec<(RunId, Vec<AfterCommitAction>)> = Vec::new();
        for (run, actions) in self.open.batch.take_unchanged() {
            kept.push((run.id, actions));
            // One that is being committed is not kept before it is.
            if !self.in_flight.has_run(run.id) {
                self.memory.put(run);
            }
        }
        self.find_tasks();
        let mut needed: Vec<RunId> = kept.iter().map(|(run, _)| *run).collect();
        self.requests.iter().for_each(|request| runs_of(request, &mut needed));
        needed.extend(self.tasks.needed());
        self.look_up_waiters();
        needed.extend(self.waiting.values().flatten().map(|waiter| waiter.waitpoint.run));
        self.refresh(needed);
        let (mut round, _, _) = self.round();
        for (run, actions) in kept.into_iter().filter(|(_, actions)| !actions.is_empty()) {
            round.resume_actions(run, actions);
        }
    }

    /// Looks up who waits for the events of this pass, all at once. What cannot be looked up now is when it is needed.
    fn look_up_waiters(&mut self) {
        self.waiting.clear();
        self.starting.clear();
        let mut events: Vec<(WorkspaceId, Arc<str>)> = self.requests.iter().filter_map(event_of).collect();
        events.sort();
        events.dedup();
        if events.is_empty() {
            return;
        }
        let names = events.iter().map(|(workspace, event_id)| EventName { workspace: *workspace, event_id });
        let names: Vec<EventName<'_>> = names.collect();
        match self.store.waiters_of(&names, FIRST_PAGE) {
            Ok(waiters) => self.waiting = events.iter().cloned().zip(waiters).collect(),
            Err(error) => tracing::error!(%error, "who waits for events could not be looked up"),
        }
        match self.store.event_starts_of(&names, FIRST_PAGE) {
            Ok(starters) => self.starting = events.iter().cloned().zip(starters).collect(),
            Err(error) => tracing::error!(%error, "what events start could not be looked up"),
        }
    }

    /// Compares runs with the store. What cannot be compared now is when it is needed.
    pub(super) fn refresh(&mut self, mut runs: Vec<RunId>) {
        if self.cluster.is_alone() {
            return;
        }
        runs.retain(|run| !self.open.batch.has_run(*run) && !self.in_flight.changes(*run));
        if let Err(error) = self.memory.refresh(&mut *self.store, runs) {
            tracing::error!(%error, "runs could not be loaded");
        }
    }

    /// Which nodes are there has changed, or not.
    pub(super) fn divide(&mut self, nodes: &[NodeId]) {
        if self.cluster.divide(nodes) {
            self.alarm.forget_loaded();
            // What a node that is gone had left is for the others.
            self.backlog.recheck([]);
        }
    }

    pub(super) fn look_now(&mut self) {
        self.cluster.look_now();
        if !self.cluster.is_alone() {
            self.tasks.may_be_free_anywhere();
        }
    }

    pub(super) fn notified(&mut self, notifications: Vec<ClusterNotification>) {
        for notification in notifications {
            match notification {
                ClusterNotification::RunChanged { run, workspace, status, version } => {
                    let changed = Changed { run, workspace, status, version, after: version };
                    self.outputs.push(Output::Changed(changed));
                    if self.is_waited_for(run) {
                        self.cluster.has_moved(run);
                    }
                }
                ClusterNotification::TaskReady { workspace, queue } => {
                    self.tasks.may_be_free((workspace, queue))
                }
                ClusterNotification::Missed => self.look_now(),
            }
        }
    }

    fn is_waited_for(&self, run: RunId) -> bool {
        self.watchers.contains_key(&run) || self.listeners.contains_key(&run)
    }

    /// Looks at what others did or left undone.
    pub(super) fn look_around(&mut self) {
        self.cluster.looked(self.now.elapsed);
        self.tasks.look_for_code();
        if let Err(error) = self.find_undone() {
            tracing::error!(%error, "what is late could not be looked for");
            self.in_trouble();
        }
    }

    fn find_undone(&mut self) -> Result<(), Error> {
        let now = self.now;
        if self.cluster.take_renewal(now.elapsed) {
            self.holds.load(&mut *self.store)?;
            self.tasks.renew_lasting(RENEW_AFTER, now)?;
        }
        self.alarm.load_late(&mut *self.store, LATE.before(now.wall), self.cluster.shard())?;
        if self.alarm.next().is_none_or(|next| next > now.wall) {
            self.alarm.load_late(&mut *self.store, VERY_LATE.before(now.wall), Shard::ALL)?;
        }
        self.find_moved()?;
        self.look_up_webhooks()
    }

    /// Compares the versions of all runs that somebody waits for or follows.
    fn find_moved(&mut self) -> Result<(), Error> {
        let waited_for = self.watchers.keys().chain(self.listeners.keys()).copied();
        let mut runs: Vec<RunId> = waited_for.chain(self.followers.followed()).collect();
        runs.sort();
        runs.dedup();
        let versions = if runs.is_empty() { Vec::new() } else { self.store.versions(&runs)? };
        for (run, version) in &versions {
            self.outputs.push(Output::Version { run: *run, version: *version });
        }
        for run in self.cluster.saw(&versions) {
            if self.is_waited_for(run) {
                self.cluster.has_moved(run);
            }
        }
        Ok(())
    }

    /// Answers those who wait for runs that have ended, or said something, elsewhere.
    pub(super) fn tell_of_moved(&mut self) {
        let moved = self.cluster.take_moved();
        if moved.is_empty() {
            return;
        }
        self.refresh(moved.iter().copied().collect());
        for id in moved {
            let (mut round, _, _) = self.round();
            // What is not committed yet is heard of when it is.
            let Some(Ok(run)) = round.read_settled(id, Run::clone) else { continue };
            self.tell_what_was_said(&run);
            if let Some(ended) = Ended::of(&run) {
                self.tell_ended(id, &ended);
            }
        }
    }

    fn tell_what_was_said(&mut self, run: &Run) {
        let Some(listeners) = self.listeners.get(&run.id) else { return };
        let Some(first) = listeners.iter().map(|(from, _)| *from).min().filter(|first| *first < run.seq)
        else {
            return;
        };
        let Ok(new) = self.store.records_after(run.id, first, usize::MAX, usize::MAX) else { return };
        let listeners = self.listeners.remove(&run.id).unwrap_or_default();
        let listeners = listeners.into_iter().filter(|(from, listener)| {
            let after = new.partition_point(|record| record.seq <= *from);
            match run.reply_in(&new[after..]).cloned() {
                Some(said) => {
                    listener.tell(RunReply::Response(said));
                    false
                }
                None => true,
            }
        });
        let listeners: Vec<_> = listeners.collect();
        if !listeners.is_empty() {
            self.listeners.insert(run.id, listeners);
        }
    }
}

/// The event that a request sends.
fn event_of(request: &Request) -> Option<(WorkspaceId, Arc<str>)> {
    if let Request::Decide(Decide::SendEvent { send, .. }) = request {
        Some((send.workspace, Arc::clone(&send.event_id)))
    } else {
        None
    }
}

/// The runs that a request is about.
fn runs_of(request: &Request, runs: &mut Vec<RunId>) {
    match request {
        Request::Decide(Decide::Command { run, .. })
        | Request::Query(Query::Get { run, .. } | Query::Watch { run, .. }) => runs.push(*run),
        Request::Decide(Decide::Commands { commands, .. }) => {
            runs.extend(commands.iter().map(|(run, _)| *run));
        }
        Request::Decide(Decide::SendEvent { send, .. }) => {
            runs.extend(send.sender.as_ref().map(|sender| sender.run));
        }
        Request::Task(TaskRequest::Accept { accept, .. }) => runs.push(accept.task.run),
        Request::Task(TaskRequest::Release { tasks }) => runs.extend(tasks.iter().map(|task| task.run)),
        Request::Decide(_) | Request::Task(_) | Request::Query(_) | Request::Control(_) => {}
    }
}
