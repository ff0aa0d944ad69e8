//! What the writer does where others write to the store, too: nothing is decided on what was read before it was asked, a
//! round in which others were first is decided again, and what they did or left undone is looked for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::run::Run;
use abide_store::EventName;
use abide_store::cluster::{NodeId, Notification as News};
use abide_store::tasks::FoundTask;
use jiff::Timestamp;

use super::{TROUBLE, Writer};
use crate::aftermath::Aftermath;
use crate::alarm::Portion;
use crate::dispatcher::ReadyTask;
use crate::engine::{Ended, Said};
use crate::error::Error;
use crate::followers::Changed;
use crate::in_flight::RoundNumber;
use crate::queues::queue_of;
use crate::request::Request;
use crate::round::{Errand, FIRST_PAGE};
use crate::share::{HOLD, KEEP, KEEP_AFTER, LATE, LATE_HOLD, LATE_TASKS, LOOK, VERY_LATE};

impl Writer {
    /// What is to be decided again comes first. All runs that this pass is about are compared with the store at once.
    pub(super) fn begin_pass(&mut self, requests: &mut VecDeque<Request>, now: Timestamp) {
        let room = self.round_requests().saturating_sub(self.open.requests).min(self.again.len());
        for request in self.again.drain(..room).rev() {
            requests.push_front(request);
        }
        if self.share.is_none() {
            return;
        }
        self.memory.begin_pass();
        self.alarm.keep_near(now);
        let mut kept: Vec<(RunId, Vec<Errand>)> = Vec::new();
        for (run, errands) in self.open.decided.take_unchanged() {
            kept.push((run.id, errands));
            // One that is being committed is not kept before it is.
            if !self.in_flight.touches(run.id) {
                self.memory.put(run);
            }
        }
        self.find_tasks(requests, now);
        let mut needed: Vec<RunId> = kept.iter().map(|(run, _)| *run).collect();
        requests.iter().for_each(|request| runs_of(request, &mut needed));
        needed.extend(self.dispatcher.needed());
        self.look_up_waiters(requests);
        needed.extend(self.waiting.values().flatten().map(|waiter| waiter.waitpoint.run));
        self.refresh(needed);
        let (mut round, _, _) = self.round(now);
        for (run, errands) in kept.into_iter().filter(|(_, errands)| !errands.is_empty()) {
            round.resume_errands(run, errands);
        }
    }

    /// Looks up who waits for the events of this pass, all at once. What cannot be looked up now is when it is needed.
    fn look_up_waiters(&mut self, requests: &VecDeque<Request>) {
        self.waiting.clear();
        let mut events: Vec<(WorkspaceId, Arc<str>)> =
            requests.iter().filter_map(event_of).map(|(place, event)| (place, Arc::clone(event))).collect();
        events.sort();
        events.dedup();
        if events.is_empty() {
            return;
        }
        let names = events.iter().map(|(workspace, event_id)| EventName { workspace: *workspace, event_id });
        match self.store.waiters_of(&names.collect::<Vec<_>>(), FIRST_PAGE) {
            Ok(waiters) => self.waiting = events.into_iter().zip(waiters).collect(),
            Err(error) => tracing::error!(%error, "who waits for events could not be looked up"),
        }
    }

    /// Compares runs with the store. What cannot be compared now is when it is needed.
    pub(super) fn refresh(&mut self, mut runs: Vec<RunId>) {
        if self.share.is_none() {
            return;
        }
        runs.retain(|run| !self.open.decided.touches(*run) && !self.in_flight.touches(*run));
        if let Err(error) = self.memory.refresh(&mut *self.store, runs) {
            tracing::error!(%error, "runs could not be loaded");
        }
    }

    /// Takes tasks that are free, where somebody asks for them.
    fn find_tasks(&mut self, requests: &VecDeque<Request>, now: Timestamp) {
        let Some(share) = &mut self.share else { return };
        let polls = || {
            requests.iter().filter_map(|request| match request {
                Request::Poll { poll, .. } => Some(poll),
                Request::Start { .. }
                | Request::Command { .. }
                | Request::Commands { .. }
                | Request::Notify { .. }
                | Request::Get { .. }
                | Request::Watch { .. }
                | Request::Schedule { .. }
                | Request::WebhooksChanged { .. }
                | Request::Told { .. }
                | Request::Deploy { .. }
                | Request::Register { .. }
                | Request::Lend { .. }
                | Request::GiveBack { .. }
                | Request::Stats { .. }
                | Request::Workers { .. }
                | Request::Write(_)
                | Request::Hold { .. }
                | Request::Release { .. }
                | Request::Nodes(_)
                | Request::News(_)
                | Request::Tick
                | Request::NextTimer { .. }
                | Request::Stop { .. } => None,
            })
        };
        if self.trouble_until.is_some_and(|until| until > Instant::now()) {
            return;
        }
        let is_time = share.next_look <= Instant::now();
        if self.stop.is_some() || !(share.task_may_be_free || is_time || polls().next().is_some()) {
            return;
        }
        share.task_may_be_free = false;
        let wanted = self.dispatcher.wanted(polls());
        match share.tasks.take(&wanted, now, HOLD.after(now)) {
            Ok(found) => found.into_iter().for_each(|task| self.dispatcher.take_up(task)),
            Err(error) => {
                tracing::error!(%error, "tasks could not be looked for");
                share.task_may_be_free = true;
                self.trouble_until = Some(Instant::now() + TROUBLE);
            }
        }
    }

    /// What is worked on here is anybody's from now on.
    pub(super) fn let_go(&mut self) {
        let Some(share) = &mut self.share else { return };
        let tasks: Vec<FoundTask> = self.dispatcher.held().map(found).collect();
        if !tasks.is_empty()
            && let Err(error) = share.tasks.release(&tasks, self.clock.now())
        {
            tracing::warn!(%error, "tasks could not be given back; they are free in a while");
        }
    }

    /// Others were first: the round is decided again, and so is the open one if it was decided on top of it.
    pub(super) fn decide_again(&mut self, round: RoundNumber, aftermath: Aftermath) {
        self.conflicts += 1;
        self.stats.conflicts += 1;
        let is_on_top = self.open.decided.is_on_top_of(round);
        let open = is_on_top.then(|| std::mem::take(&mut self.open).aftermath);
        let now = self.clock.now();
        for mut undone in [aftermath].into_iter().chain(open) {
            self.backlog.doubt(std::mem::take(&mut undone.follow_ups));
            self.again.extend(undone.ask_again(&mut self.alarm, &mut self.dispatcher, now));
        }
    }

    /// A task that was just made: for a handler here, or for whoever finds it.
    pub(super) fn dispatch(&mut self, run: &Run, at: At, delivery: u32) {
        let Some(share) = &mut self.share else { return self.dispatcher.dispatch(run, at, delivery) };
        if self.dispatcher.works_at(run, at) {
            self.dispatcher.dispatch(run, at, delivery);
        } else if let Some(work) = run.defined(at).action.work() {
            let queue = (run.workspace, queue_of(run, at, work));
            share.task_may_be_free |= self.dispatcher.is_waited_for(&queue);
        }
    }

    pub(super) fn until_look(&self) -> Option<Duration> {
        let share = self.share.as_ref().filter(|_| self.stop.is_none())?;
        let at_once = share.task_may_be_free || !share.moved.is_empty();
        Some(if at_once { Duration::ZERO } else { share.next_look.saturating_duration_since(Instant::now()) })
    }

    /// Finds what was left for later rounds, here or by nodes that are gone.
    pub(super) fn load_backlog(&mut self) {
        let others: Vec<u128> = match &self.share {
            Some(share) => {
                share.nodes.iter().map(|node| node.0).filter(|node| *node != share.node().0).collect()
            }
            None => Vec::new(),
        };
        let loaded = self.backlog.load(&mut *self.store, &others);
        if let Err(error) = &loaded {
            tracing::error!(%error, "what is left to be done could not be looked up");
            self.trouble_until = Some(Instant::now() + TROUBLE);
        }
        self.watch.backlog_loaded(loaded.err().map(|error| error.to_string()));
    }

    pub(super) fn divide(&mut self, nodes: &[NodeId]) {
        if self.share.as_mut().is_some_and(|share| share.divide(nodes)) {
            self.alarm.forget_loaded();
            // What a node that is gone had left is for the others.
            self.backlog.doubt([]);
        }
    }

    pub(super) fn heard(&mut self, news: Vec<News>) {
        let Some(share) = &mut self.share else { return };
        for news in news {
            match news {
                News::RunChanged { run, workspace, status, version } => {
                    self.followers.tell_of(Changed { run, workspace, status, version, after: version });
                    if self.watchers.contains_key(&run) || self.listeners.contains_key(&run) {
                        share.moved.insert(run);
                    }
                }
                News::TaskReady { workspace, queue } => {
                    share.task_may_be_free |= self.dispatcher.is_waited_for(&(workspace, queue));
                }
                News::Missed => share.look_now(),
            }
        }
    }

    /// Looks at what others did or left undone. Gives the tasks whose time is over.
    pub(super) fn look_around(&mut self, now: Timestamp) -> Vec<ReadyTask> {
        let Some(share) = &mut self.share else { return Vec::new() };
        let mut late = Vec::new();
        if share.next_look <= Instant::now() {
            share.next_look = Instant::now() + LOOK;
            self.dispatcher.look_for_code();
            late = self.find_late(now).unwrap_or_else(|error| {
                tracing::error!(%error, "what is late could not be looked for");
                self.trouble_until = Some(Instant::now() + TROUBLE);
                Vec::new()
            });
        }
        self.tell_of_moved(now);
        late
    }

    fn find_late(&mut self, now: Timestamp) -> Result<Vec<ReadyTask>, Error> {
        let Some(share) = &mut self.share else { return Ok(Vec::new()) };
        if share.next_keep <= Instant::now() {
            share.next_keep = Instant::now() + KEEP;
            self.holds.load(&mut *self.store)?;
            let kept: Vec<FoundTask> = self.dispatcher.running_for(KEEP_AFTER).map(found).collect();
            if !kept.is_empty() {
                share.tasks.renew(&kept, HOLD.after(now))?;
            }
        }
        let late = share.tasks.late(now, LATE_HOLD.after(now), LATE_TASKS)?;
        share.task_may_be_free |= late.freed > 0;
        let portion = share.portion;
        self.alarm.load_late(&mut *self.store, LATE.before(now), portion)?;
        if self.alarm.next().is_none_or(|next| next > now) {
            self.alarm.load_late(&mut *self.store, VERY_LATE.before(now), Portion::ALL)?;
        }
        self.find_moved()?;
        self.look_up_webhooks()?;
        Ok(late
            .taken
            .into_iter()
            .map(|task| ReadyTask { run: task.run, at: task.at, delivery: task.delivery })
            .collect())
    }

    /// Compares the versions of all runs that somebody waits for or follows.
    fn find_moved(&mut self) -> Result<(), Error> {
        let Some(share) = &mut self.share else { return Ok(()) };
        let waited_for = self.watchers.keys().chain(self.listeners.keys()).copied();
        let mut runs: Vec<RunId> = waited_for.chain(self.followers.followed()).collect();
        runs.sort();
        runs.dedup();
        if runs.is_empty() {
            share.seen.clear();
            return Ok(());
        }
        let mut seen = std::mem::take(&mut share.seen);
        for (run, version) in self.store.versions(&runs)? {
            self.followers.tell_version(run, version);
            if seen.remove(&run) != Some(version)
                && (self.watchers.contains_key(&run) || self.listeners.contains_key(&run))
            {
                share.moved.insert(run);
            }
            share.seen.insert(run, version);
        }
        Ok(())
    }

    /// Answers those who wait for runs that have ended, or said something, elsewhere.
    fn tell_of_moved(&mut self, now: Timestamp) {
        let Some(share) = &mut self.share else { return };
        if share.moved.is_empty() {
            return;
        }
        let moved = std::mem::take(&mut share.moved);
        self.refresh(moved.iter().copied().collect());
        for id in moved {
            let (mut round, _, _) = self.round(now);
            // What is not committed yet is heard of when it is.
            let Some(Ok(run)) = round.committed(id, Run::clone) else { continue };
            self.tell_what_was_said(&run);
            if let Some(ended) = Ended::of(&run) {
                for watcher in self.watchers.remove(&id).into_iter().flatten() {
                    drop(watcher.send(Ok(ended.clone())));
                }
                self.say(id, &Said::Ended(ended));
            }
        }
    }

    fn tell_what_was_said(&mut self, run: &Run) {
        let Some(first) =
            self.listeners.get(&run.id).and_then(|ears| ears.iter().map(|(from, _)| *from).min())
        else {
            return;
        };
        if first >= run.seq {
            return;
        }
        let Ok(Some(stored)) = self.store.load(run.id) else { return };
        let ears = self.listeners.remove(&run.id).unwrap_or_default();
        let ears = ears.into_iter().filter(|(from, ear)| {
            let records = usize::try_from(*from).ok().and_then(|from| stored.history.get(from..));
            match records.and_then(|records| run.said_in(records)).cloned() {
                Some(said) => {
                    ear.tell(Said::Response(said));
                    false
                }
                None => true,
            }
        });
        let ears: Vec<_> = ears.collect();
        if !ears.is_empty() {
            self.listeners.insert(run.id, ears);
        }
    }
}

fn found(task: ReadyTask) -> FoundTask {
    let ReadyTask { run, at, delivery } = task;
    FoundTask { run, at, delivery, workspace: Default::default(), queue: "".into() }
}

/// The event that a request sends.
fn event_of(request: &Request) -> Option<(WorkspaceId, &Arc<str>)> {
    if let Request::Notify { notify, .. } = request {
        Some((notify.workspace, &notify.event_id))
    } else {
        None
    }
}

/// The runs that a request is about.
fn runs_of(request: &Request, runs: &mut Vec<RunId>) {
    match request {
        Request::Command { run, .. } | Request::Get { run, .. } | Request::Watch { run, .. } => {
            runs.push(*run)
        }
        Request::Commands { commands, .. } => runs.extend(commands.iter().map(|(run, _)| *run)),
        Request::Lend { task, .. } => runs.push(task.run),
        Request::GiveBack { tasks } => runs.extend(tasks.iter().map(|task| task.run)),
        Request::Start { .. }
        | Request::Notify { .. }
        | Request::Schedule { .. }
        | Request::WebhooksChanged { .. }
        | Request::Told { .. }
        | Request::Deploy { .. }
        | Request::Register { .. }
        | Request::Poll { .. }
        | Request::Stats { .. }
        | Request::Workers { .. }
        | Request::Write(_)
        | Request::Hold { .. }
        | Request::Release { .. }
        | Request::Nodes(_)
        | Request::News(_)
        | Request::Tick
        | Request::NextTimer { .. }
        | Request::Stop { .. } => {}
    }
}
