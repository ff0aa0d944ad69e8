//! Limits in a round: room is taken and given back in the commit of the transition that needs or frees it (R22). What is
//! decided about a limit is in the core; here it is looked up and carried out.

use abide_core::capacity::{Ask, CapacityRequest, Holder, Limit, LimitSettings, NextLine, Vacancy};
use abide_core::command::{Capacity, Command};
use abide_core::definition::WhenFull;
use abide_core::effect::CapacityEffect;
use abide_core::follow_up::FollowUp;
use abide_core::id::{LimitId, RunId, StepAddress, WaitpointId, WorkspaceId};
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Waitpoint;
use abide_store::{InLine, LIMIT_TIMER, LimitWrite, StoredTimer};
use jiff::Timestamp;

use super::Decider;
use super::lines::Looked;
use crate::alarm::Alarm;
use crate::error::Error;

/// How many that wait are cancelled by one that replaces them: each came in the same way, so there are few.
const REPLACED_IN_LINE: usize = 16;

/// A key of a limit that was looked at in a round.
pub(crate) struct LimitDelta {
    limit: Limit,
    /// The version that the change is based on; 0: there was none.
    based_on: u64,
    due_before: Option<Timestamp>,
    changed: bool,
    /// How far the line was looked through in this round.
    pub(super) looked: Looked,
}

impl LimitDelta {
    fn new(limit: Limit, based_on: u64, looked: Looked) -> LimitDelta {
        LimitDelta { due_before: limit.due_at, limit, based_on, changed: false, looked }
    }

    /// The group of the line that had its turn last; `None`: there are no groups.
    pub(super) fn turn(&self) -> Option<LimitId> {
        self.limit.turn
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.changed
    }

    /// Changes the limit; its timer and its version follow.
    pub(super) fn change<T>(&mut self, now: Timestamp, change: impl FnOnce(&mut Limit) -> T) -> T {
        if !self.changed {
            self.changed = true;
            self.limit.version += 1;
        }
        let changed = change(&mut self.limit);
        self.limit.settle(now);
        changed
    }

    /// The write that the round makes of it; `None` if it is unchanged, or was made and is idle again.
    pub(crate) fn write(&self) -> Option<LimitWrite<'_>> {
        let removed = self.limit.is_idle();
        let is_needed = self.changed && !(removed && self.based_on == 0);
        is_needed.then_some(LimitWrite { based_on: self.based_on, limit: &self.limit, removed })
    }

    /// Sets the timer of the limit after the commit.
    pub(crate) fn set_timer(&self, alarm: &mut Alarm) {
        let timer = |at| StoredTimer { at, run: self.limit.id.owner().id(), timer: LIMIT_TIMER };
        if self.due_before == self.limit.due_at {
            return;
        }
        if let Some(at) = self.due_before {
            alarm.clear(&timer(at));
        }
        if let Some(at) = self.limit.due_at {
            alarm.set(timer(at));
        }
    }
}

/// A wait for room, whose it is, and what it asks.
struct Asking {
    run: RunId,
    number: u32,
    workspace: WorkspaceId,
    at: Option<StepAddress>,
    said_at: Timestamp,
    /// Whether the run has not begun: only then it may be skipped, or replace others.
    is_new: bool,
    request: CapacityRequest,
}

impl Decider<'_> {
    /// Does what a decision means for limits. If they cannot be read, nothing of this round is committed.
    pub(super) fn capacity(&mut self, run: RunId, effect: &CapacityEffect) {
        let done = match effect {
            CapacityEffect::Ask { number } => self.ask(run, *number),
            CapacityEffect::Leave { number } => self.leave_line(run, *number),
            CapacityEffect::Seize { number } => self.seize(run, *number),
            CapacityEffect::Release { at, rooms } => {
                rooms.iter().try_for_each(|room| self.release_room(run, *at, room.limit))
            }
        };
        if let Err(error) = done {
            tracing::error!(%run, %error, "a limit could not be read; nothing of this round is done");
            self.batch.poisoned.get_or_insert(error);
        }
    }

    /// Takes room for a run that is started, if there is room under all of its limits. A limit that refuses what finds none
    /// has the run not started.
    pub(super) fn room_at_start(&mut self, run: &Run, request: &CapacityRequest) -> Result<bool, Refusal> {
        // What cannot be read is met again when the run asks.
        let Ok(blocked) = self.blocked(run.workspace, run.created_at, request, None) else {
            return Ok(false);
        };
        match blocked {
            None => Ok(self.take_all(run.workspace, run.created_at, (run.id, None), request).is_ok()),
            Some(line) => {
                let refusing = |ask: &&Ask| ask.when_full == WhenFull::Refuse;
                let Some(ask) = request.asks.get(line).filter(refusing) else { return Ok(false) };
                let now = self.now;
                let vacancy = self.batch.limits.get(&ask.limit).map(|delta| delta.limit.vacancy(ask, now));
                let room_in = match vacancy {
                    Some(Vacancy::From(from)) => Some(Millis::between(now, from)),
                    Some(Vacancy::Now | Vacancy::Full) | None => None,
                };
                Err(Refusal::LimitFull { limit: ask.described(), room_in })
            }
        }
    }

    /// The timer of a limit is due: the next in line may begin, or nothing is left to be remembered.
    pub(crate) fn fire_limit(&mut self, id: LimitId) -> Result<(), Error> {
        let now = self.now;
        let Some(delta) = self.touch_limit(id)? else { return Ok(()) };
        if delta.limit.due_at.is_some_and(|due| due <= now) {
            delta.change(now, |_| ());
        }
        self.grant_if_any(id);
        self.follow_up();
        Ok(())
    }

    /// Lets the next in line have room, and looks again while there is any.
    pub(super) fn grant(&mut self, id: LimitId) -> Result<(), Error> {
        let now = self.now;
        if !self.touch_limit(id)?.is_some_and(|delta| delta.limit.is_to_grant(now)) {
            return Ok(());
        }
        let Some(next) = self.next_in_line(id)? else { return Ok(()) };
        let WaitpointId { run, number } = next.waitpoint;
        let Some(asking) = self.asking(run, number)? else { return Ok(()) };
        let blocked = self.blocked(asking.workspace, asking.said_at, &asking.request, Some(id))?;
        // Who could not be read is not passed over.
        self.has_left(id, next);
        if let Some(delta) = self.touch_limit(id)? {
            delta.change(now, |limit| limit.had_turn(next.group));
        }
        self.leave_line_of(id)?;
        match blocked {
            None => self.let_in(&asking)?,
            Some(line) => self.move_on(&asking, id, line)?,
        }
        self.grant_if_any(id);
        Ok(())
    }

    /// Has a wait whose turn has come go to the line of another limit. It may keep the room that it could have had.
    fn move_on(&mut self, asking: &Asking, id: LimitId, blocked: usize) -> Result<(), Error> {
        let NextLine { line, keeps } = asking.request.next_line(blocked);
        let now = self.now;
        if keeps && let Some(ask) = asking.request.awaited() {
            let holder = Holder { run: asking.run, at: asking.at, since: now };
            if let Some(delta) = self.touch_limit(id)? {
                delta.change(now, |limit| limit.take(ask, holder, now));
            }
        }
        self.join(asking, usize::from(line), keeps)
    }

    /// Has a key of a limit do as an operator has set it, and gives room if there is more.
    pub(super) fn apply_to(&mut self, id: LimitId) -> Result<(), Error> {
        let now = self.now;
        if let Some(delta) = self.touch_limit(id)? {
            delta.change(now, |_| ());
            self.grant_if_any(id);
        }
        Ok(())
    }

    /// Has the keys that this round decided on do as was set in it.
    pub(super) fn obey_again(&mut self, settings: &LimitSettings) {
        let (now, set) = (self.now, Some(settings).filter(|settings| !settings.is_empty()));
        let mut changed = Vec::new();
        for delta in self.batch.limits.values_mut().filter(|delta| delta.limit.settings_id() == settings.id) {
            delta.change(now, |limit| limit.obey(set));
            changed.push(delta.limit.id);
        }
        changed.into_iter().for_each(|id| self.grant_if_any(id));
    }

    fn ask(&mut self, run: RunId, number: u32) -> Result<(), Error> {
        self.batch.unasked.remove(&(run, number));
        if !self.run(run)?.waitpoint(number).is_some_and(Waitpoint::is_pending) {
            return Ok(());
        }
        let Some(asking) = self.asking(run, number)? else { return Ok(()) };
        let Some(line) = self.blocked(asking.workspace, asking.said_at, &asking.request, None)? else {
            return self.let_in(&asking);
        };
        let Some(ask) = asking.request.asks.get(line).cloned() else { return Ok(()) };
        match ask.when_full {
            WhenFull::Replace if asking.is_new => {
                self.replace(&asking, &ask)?;
                self.join(&asking, line, false)
            }
            WhenFull::Skip if asking.is_new => {
                self.join(&asking, line, false)?;
                self.decide_quietly(run, Command::Capacity(Capacity::Skip { number }))
            }
            WhenFull::Queue | WhenFull::Skip | WhenFull::Replace | WhenFull::Refuse => {
                self.join(&asking, line, false)
            }
        }
    }

    /// Cancels those in whose place one more comes: who has room, the longest first, and who waits before it.
    fn replace(&mut self, asking: &Asking, ask: &Ask) -> Result<(), Error> {
        let Some(delta) = self.touch_limit(ask.limit)? else { return Ok(()) };
        let mut replaced: Vec<RunId> = delta.limit.replaced().collect();
        if delta.limit.waiting > 0 {
            let waiting = self.in_line(ask.limit, None, REPLACED_IN_LINE)?.0;
            replaced.extend(waiting.into_iter().map(|wait| wait.waitpoint.run));
        }
        for run in replaced {
            let reason = Some(format!("replaced by {} under the limit `{}`", asking.run, ask.described()));
            self.todo.push_back((asking.workspace, FollowUp::Cancel { run, reason }));
        }
        Ok(())
    }

    /// Gives room to a wait, under all of its limits.
    fn let_in(&mut self, asking: &Asking) -> Result<(), Error> {
        let whose = (asking.run, asking.at);
        self.take_all(asking.workspace, asking.said_at, whose, &asking.request)?;
        self.decide_quietly(asking.run, Command::Capacity(Capacity::Grant { number: asking.number }))
    }

    /// Has a wait stand in the line of one of its limits; if it keeps the room under the limit in whose line it stood, that is
    /// taken already.
    fn join(&mut self, asking: &Asking, line: usize, keeps: bool) -> Result<(), Error> {
        let Some(ask) = asking.request.asks.get(line) else { return Ok(()) };
        let (rank, group) = (asking.request.rank, asking.request.group_in(line));
        let place = InLine { group, rank, waitpoint: asking.run.waitpoint(asking.number) };
        let now = self.now;
        let delta = self.limit_of(asking.workspace, asking.said_at, ask)?;
        delta.change(now, |limit| limit.join(group));
        delta.looked.joined(place);
        self.batch.lines.entry(ask.limit).or_default().insert(place);
        // There may be room: those before it may not have it now.
        self.grant_if_any(ask.limit);
        let number = asking.number;
        match u16::try_from(line) {
            Ok(line) if line != asking.request.line => {
                self.decide_quietly(asking.run, Command::Capacity(Capacity::Queue { number, line, keeps }))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn leave_line(&mut self, run: RunId, number: u32) -> Result<(), Error> {
        if self.batch.unasked.contains(&(run, number)) {
            return Ok(());
        }
        let Some(asking) = self.asking(run, number)? else { return Ok(()) };
        for kept in asking.request.kept() {
            self.release_room(run, asking.at, kept)?;
        }
        asking.request.awaited().map_or(Ok(()), |ask| self.leave_line_of(ask.limit))
    }

    fn leave_line_of(&mut self, id: LimitId) -> Result<(), Error> {
        let now = self.now;
        if let Some(delta) = self.touch_limit(id)? {
            delta.change(now, |limit| limit.waiting = limit.waiting.saturating_sub(1));
            self.grant_if_any(id);
        }
        Ok(())
    }

    /// An operator has let a wait in past the line.
    fn seize(&mut self, run: RunId, number: u32) -> Result<(), Error> {
        let Some(asking) = self.asking(run, number)? else { return Ok(()) };
        if let Some(ask) = asking.request.awaited() {
            self.leave_line_of(ask.limit)?;
        }
        self.take_all(asking.workspace, asking.said_at, (run, asking.at), &asking.request)
    }

    pub(super) fn release_room(
        &mut self,
        run: RunId,
        at: Option<StepAddress>,
        id: LimitId,
    ) -> Result<(), Error> {
        let now = self.now;
        let Some(delta) = self.touch_limit(id)? else { return Ok(()) };
        // A key that was made in this round is compared with nothing if it is idle again: another node may have given room
        // under it since it was looked for.
        let is_made_here = delta.based_on == 0 && !delta.limit.may_hold(run, at);
        if is_made_here && self.memory.is_shared() && self.store.limit(id)?.is_some() {
            return Err(abide_store::Error::Conflict(run).into());
        }
        if let Some(delta) = self.touch_limit(id)? {
            delta.change(now, |limit| limit.release(run, at));
            self.grant_if_any(id);
        }
        Ok(())
    }

    /// Who has had room under a limit longest.
    pub(super) fn first_holder(&mut self, id: LimitId) -> Result<Option<RunId>, Error> {
        Ok(self.touch_limit(id)?.and_then(|delta| delta.limit.holders.first().map(|holder| holder.run)))
    }

    fn grant_if_any(&mut self, id: LimitId) {
        let now = self.now;
        let delta = self.batch.limits.get(&id).filter(|delta| delta.limit.is_to_grant(now));
        let is_known = |(_, todo): &(WorkspaceId, FollowUp)| *todo == FollowUp::Grant { limit: id };
        if let Some(workspace) = delta.map(|delta| delta.limit.workspace)
            && !self.todo.iter().any(is_known)
        {
            self.todo.push_back((workspace, FollowUp::Grant { limit: id }));
        }
    }

    /// The first limit under which there is no room. One whose line is being served gives it to who is next; under every other
    /// nobody goes past those who wait for it.
    fn blocked(
        &mut self,
        workspace: WorkspaceId,
        said_at: Timestamp,
        request: &CapacityRequest,
        serving: Option<LimitId>,
    ) -> Result<Option<usize>, Error> {
        let now = self.now;
        for (line, ask) in request.wanted() {
            let delta = self.limit_of(workspace, said_at, ask)?;
            let is_behind = serving != Some(ask.limit) && delta.limit.waiting > 0;
            if is_behind || delta.limit.vacancy(ask, now) != Vacancy::Now {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn take_all(
        &mut self,
        workspace: WorkspaceId,
        said_at: Timestamp,
        (run, at): (RunId, Option<StepAddress>),
        request: &CapacityRequest,
    ) -> Result<(), Error> {
        let now = self.now;
        for (_, ask) in request.wanted() {
            let holder = Holder { run, at, since: now };
            self.limit_of(workspace, said_at, ask)?.change(now, |limit| limit.take(ask, holder, now));
        }
        Ok(())
    }

    /// What a wait for room asks, whether it is over or not.
    fn asking(&mut self, run: RunId, number: u32) -> Result<Option<Asking>, Error> {
        let run = self.run(run)?;
        let Some(wait) = run.waitpoint(number) else { return Ok(None) };
        let Some(request) = wait.listens_for.capacity() else { return Ok(None) };
        Ok(Some(Asking {
            run: run.id,
            number,
            workspace: run.workspace,
            at: wait.at,
            said_at: run.created_at,
            is_new: wait.at.is_none() && run.status == RunStatus::Pending,
            request: request.clone(),
        }))
    }

    /// The limit that is asked, which is made if nobody has room under it yet.
    pub(super) fn limit_of(
        &mut self,
        workspace: WorkspaceId,
        said_at: Timestamp,
        ask: &Ask,
    ) -> Result<&mut LimitDelta, Error> {
        let now = self.now;
        if self.touch_limit(ask.limit)?.is_none() {
            let version = (self.random.draw() >> 2) | 1;
            let mut limit = Limit::new(workspace, ask, said_at, version);
            limit.obey(self.settings_of(limit.settings_id())?.as_ref());
            let delta = LimitDelta::new(limit, 0, Looked::default());
            self.batch.limits.insert(ask.limit, delta);
        }
        let delta = self.batch.limits.get_mut(&ask.limit).expect("it was just put there");
        if delta.limit.is_news(ask.policy, said_at) {
            delta.change(now, |limit| limit.hear(ask.policy, said_at));
            self.grant_if_any(ask.limit);
        }
        Ok(self.batch.limits.get_mut(&ask.limit).expect("it is there"))
    }

    /// A key of a limit as it is in this round; `None` if nobody has room under it or waits for it.
    fn touch_limit(&mut self, id: LimitId) -> Result<Option<&mut LimitDelta>, Error> {
        if !self.batch.limits.contains_key(&id) {
            let in_flight =
                self.in_flight.find(|before| before.limits.get(&id).filter(|it| it.has_changes()));
            let mut looked = Looked::default();
            let known = match in_flight {
                Some((round, before)) => {
                    self.batch.depend_on(round);
                    match before.limit.is_idle() {
                        false => {
                            looked = before.looked.carried_over();
                            Some(before.limit.clone())
                        }
                        // Another node may have made it anew since that round was written.
                        true => self.store.limit(id)?.filter(|limit| limit.version != before.based_on),
                    }
                }
                None => self.store.limit(id)?,
            };
            if let Some(mut limit) = known {
                let based_on = limit.version;
                limit.obey(self.settings_of(limit.settings_id())?.as_ref());
                self.batch.limits.insert(id, LimitDelta::new(limit, based_on, looked));
            }
        }
        Ok(self.batch.limits.get_mut(&id))
    }
}
