//! What a decision asks of other runs, in a round: done at once while there is room, left for later rounds otherwise, and
//! taken up again there. Who comes too late is refused, and nobody waits for the answer.

use std::sync::Arc;

use abide_core::command::{self, ChildFinished, ChildOutcome, Command};
use abide_core::definition::Definition;
use abide_core::effect::{ChildInput, ChildStart};
use abide_core::follow_up::FollowUp;
use abide_core::history::{Failure, Scheduled};
use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::schedule::Refused;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use abide_store::StoredFollowUp;

use super::budget::FOLLOW_UPS_AT_ONCE;
use super::{Decider, RoundBatch};
use crate::backlog::{EventKey, Queued, Verdict};
use crate::error::Error;

/// What a follow-up of an earlier round came to.
pub(crate) enum Taken {
    Done,
    /// The follow-up goes on in a later round.
    Left,
    /// Nothing was done: the run that the follow-up concerns cannot be read now.
    Unread,
    /// An input is to be checked first, by somebody who has the time.
    Check(Arc<Definition>, Json),
}

/// Why a run is not started now.
pub(super) enum NotStarted {
    Failed(Error),
    Check(Arc<Definition>, Json),
}

impl From<Error> for NotStarted {
    fn from(error: Error) -> NotStarted {
        NotStarted::Failed(error)
    }
}

impl RoundBatch {
    fn leaves(&self, is_it: impl Fn(WorkspaceId, &FollowUp) -> bool) -> bool {
        self.left.iter().chain(&self.changed).any(|left| is_it(left.workspace, &left.what))
    }

    pub(super) fn is_delivering(&self, (workspace, event_id): &EventKey) -> bool {
        self.leaves(|place, what| {
            place == *workspace
                && matches!(what, FollowUp::Deliver { event_id: event, .. } if event == event_id)
        })
    }

    fn is_looking_back(&self, wanted: WaitpointId) -> bool {
        self.leaves(|_, what| matches!(what, FollowUp::LookBack { waitpoint, .. } if *waitpoint == wanted))
    }

    fn is_starting(&self, wanted: RunId) -> bool {
        self.leaves(|_, what| matches!(what, FollowUp::StartScheduled { run, .. } if *run == wanted))
    }
}

impl Decider<'_> {
    /// What is decided next may be followed up as far as any.
    pub(crate) fn renew_allowance(&mut self) {
        self.allowance = FOLLOW_UPS_AT_ONCE;
    }

    /// Does what is to be done for other runs, as far as there is room, and leaves the rest for later.
    pub(crate) fn follow_up(&mut self) {
        while let Some((workspace, todo)) = self.todo.pop_front() {
            if self.allowance == 0 || !self.batch.spent.take_follow_up() {
                self.leave(workspace, todo);
                continue;
            }
            self.allowance -= 1;
            self.do_now(workspace, todo);
        }
    }

    /// Writes down what goes on in a later round.
    pub(super) fn leave(&mut self, workspace: WorkspaceId, what: FollowUp) {
        let what = match what {
            FollowUp::TellParent { waitpoint, child, outcome: Some(outcome) } => {
                FollowUp::tell_parent(waitpoint, child, outcome)
            }
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::StartScheduled { .. }
            | FollowUp::Deliver { .. }
            | FollowUp::StartRuns { .. }
            | FollowUp::LookBack { .. } => what,
            FollowUp::Grant { .. } if self.batch.leaves(|_, left| *left == what) => return,
            FollowUp::Grant { .. } | FollowUp::ApplySettings { .. } => what,
        };
        let id = self.memory.fresh_id(self.now, self.random.draw_u128()).0;
        let owner = self.backlog.owner();
        self.batch.left.push(StoredFollowUp { id, workspace, owner, version: 1, what });
    }

    fn do_now(&mut self, workspace: WorkspaceId, todo: FollowUp) {
        match todo {
            FollowUp::StartChild(child) => match self.start_child(&child, None) {
                Ok(()) => {}
                Err(NotStarted::Check(..)) => self.leave(workspace, FollowUp::StartChild(child)),
                Err(NotStarted::Failed(error)) if error.passes() => {
                    self.leave(workspace, FollowUp::StartChild(child));
                }
                Err(NotStarted::Failed(error)) => self.child_not_started(&child, &error),
            },
            FollowUp::StartScheduled { schedule, run, occurrence } => {
                let scheduled = Scheduled { schedule_id: schedule, occurrence };
                match self.start_scheduled(run, scheduled, None) {
                    Ok(()) => {}
                    Err(NotStarted::Check(..)) => self.leave(workspace, todo),
                    Err(NotStarted::Failed(error)) if error.passes() => self.leave(workspace, todo),
                    Err(NotStarted::Failed(error)) => self.scheduled_not_started(run, scheduled, &error),
                }
            }
            FollowUp::Cancel { run, ref reason } => {
                if self.decide_quietly(run, Command::Cancel { reason: reason.clone() }).is_err() {
                    self.leave(workspace, todo);
                }
            }
            FollowUp::TellParent { waitpoint, child, ref outcome } => {
                if self.tell_parent(waitpoint, child, outcome.clone()).is_err() {
                    self.leave(workspace, todo);
                }
            }
            FollowUp::TellSchedule { schedule, run } => {
                if self.tell_schedule(schedule, run).is_err() {
                    self.leave(workspace, todo);
                }
            }
            FollowUp::Grant { limit } => {
                if self.grant(limit).is_err() {
                    self.leave(workspace, todo);
                }
            }
            FollowUp::Deliver { .. }
            | FollowUp::StartRuns { .. }
            | FollowUp::LookBack { .. }
            | FollowUp::ApplySettings { .. } => {
                self.leave(workspace, todo);
            }
        }
    }

    /// Takes up what an earlier round left. What follows from it is left again, nearly all of it.
    pub(crate) fn adopt(&mut self, queued: &Queued) -> Taken {
        self.allowance = 2;
        let Queued { stored, verdict } = queued;
        let verdict = verdict.as_ref();
        self.batch.spent.take_backlog();
        let taken = match &stored.what {
            FollowUp::StartChild(child) => match self.start_child(child, verdict) {
                Ok(()) => Taken::Done,
                Err(NotStarted::Check(definition, input)) => Taken::Check(definition, input),
                Err(NotStarted::Failed(error)) if error.passes() => Taken::Unread,
                Err(NotStarted::Failed(error)) => {
                    self.child_not_started(child, &error);
                    Taken::Done
                }
            },
            FollowUp::StartScheduled { schedule, run, occurrence } => {
                let scheduled = Scheduled { schedule_id: *schedule, occurrence: *occurrence };
                match self.start_scheduled(*run, scheduled, verdict) {
                    Ok(()) => Taken::Done,
                    Err(NotStarted::Check(definition, input)) => Taken::Check(definition, input),
                    Err(NotStarted::Failed(error)) if error.passes() => Taken::Unread,
                    Err(NotStarted::Failed(error)) => {
                        self.scheduled_not_started(*run, scheduled, &error);
                        Taken::Done
                    }
                }
            }
            FollowUp::Deliver { .. } | FollowUp::LookBack { .. } => match self.go_on_offering(stored) {
                Ok(Some(rest)) => self.go_on_later(stored, rest),
                Ok(None) => Taken::Done,
                Err(error) => {
                    tracing::error!(%error, "an event or a wait for it could not be looked up");
                    Taken::Unread
                }
            },
            FollowUp::StartRuns { event_id, event, received_at, from, after } => {
                match self.stored_event(stored.workspace, event_id, (*received_at, *event)) {
                    Ok(None) => Taken::Done,
                    Ok(Some(found)) => self.go_on_starting(stored, (*from, after.as_ref()), &found, verdict),
                    Err(error) => {
                        tracing::error!(%error, "an event could not be looked up");
                        Taken::Unread
                    }
                }
            }
            FollowUp::Cancel { run, reason } => {
                let cancelled = self.decide_quietly(*run, Command::Cancel { reason: reason.clone() });
                cancelled.map_or(Taken::Unread, |()| Taken::Done)
            }
            FollowUp::TellParent { waitpoint, child, outcome } => {
                let told = self.tell_parent(*waitpoint, *child, outcome.clone());
                told.map_or(Taken::Unread, |()| Taken::Done)
            }
            FollowUp::Grant { limit } => self.grant(*limit).map_or(Taken::Unread, |()| Taken::Done),
            FollowUp::ApplySettings { settings: _, workflow, name, key, after } => self
                .apply_settings(stored, (workflow.as_ref(), name), key.as_ref(), after.as_ref())
                .unwrap_or(Taken::Unread),
            FollowUp::TellSchedule { schedule, run } => {
                self.tell_schedule(*schedule, *run).map_or(Taken::Unread, |()| Taken::Done)
            }
        };
        if matches!(taken, Taken::Done) {
            self.batch.done.push(stored.clone());
        }
        self.follow_up();
        taken
    }

    /// What is left of a follow-up goes on in a later round.
    pub(super) fn go_on_later(&mut self, stored: &StoredFollowUp, rest: FollowUp) -> Taken {
        let (version, owner) = (stored.version + 1, self.backlog.owner());
        self.batch.changed.push(StoredFollowUp { version, owner, what: rest, ..stored.clone() });
        Taken::Left
    }

    /// Tells a parent what became of its child. Fails only while one of them cannot be read.
    fn tell_parent(
        &mut self,
        waitpoint: WaitpointId,
        child: RunId,
        outcome: Option<ChildOutcome>,
    ) -> Result<(), Error> {
        let outcome = match outcome {
            Some(outcome) => Some(outcome),
            None => match self.run(child) {
                Ok(child) => ChildOutcome::of(child),
                Err(error) if error.passes() => return Err(error),
                Err(_) => None,
            },
        };
        let Some(outcome) = outcome else { return Ok(()) };
        let finished = ChildFinished { number: waitpoint.number, outcome };
        self.decide_quietly(waitpoint.run, Command::ChildFinished(finished))
    }

    /// Decides what follows for another run, and leaves what follows from that to the caller. Fails only while the run cannot be
    /// read: what is refused is not wanted any more.
    pub(super) fn decide_quietly(&mut self, run: RunId, command: Command) -> Result<(), Error> {
        let context = self.context(Actor::new("engine"));
        let delta = match self.delta(run) {
            Ok(delta) => delta,
            Err(error) if error.passes() => return Err(error),
            Err(_) => return Ok(()),
        };
        match command::decide(&mut delta.run, command, &context) {
            Ok(outcome) => {
                self.record(run, outcome.records);
                self.take_up_effects(run, outcome.in_round, outcome.after_commit);
            }
            Err(refusal) => drop(self.refused(run, refusal)),
        }
        Ok(())
    }

    fn start_child(&mut self, child: &ChildStart, verdict: Option<&Verdict>) -> Result<(), NotStarted> {
        let ChildStart {
            run_id,
            workspace,
            definition,
            version,
            input,
            tags,
            parent,
            tells,
            is_hook,
            started_on,
            started_by,
        } = child;
        let asking = match self.run(parent.run_id) {
            Err(error) if error.passes() => return Err(error.into()),
            asking => asking,
        };
        // A parent that waits no longer wants it no longer.
        let is_wanted = match (&asking, parent.waitpoint.or(*tells)) {
            (Ok(asking), Some(waitpoint)) => {
                asking.waitpoint(waitpoint.number).is_some_and(|wait| wait.is_pending())
            }
            (Ok(_) | Err(_), None) => true,
            (Err(_), Some(_)) => false,
        };
        if !is_wanted {
            return Ok(());
        }
        // A child is in the trace of its parent, whoever made it start.
        let traceparent = asking.as_ref().ok().and_then(|asking| asking.traceparent);
        let input = match (input, asking) {
            (ChildInput::Given(input), _) => input.clone(),
            (ChildInput::Of(_), Ok(asking)) => {
                let rendered = asking.input_of(child);
                let malformed = |error: abide_core::expression::EvaluationError| Refusal::Malformed {
                    pointer: "/input",
                    message: error.to_string(),
                };
                rendered.map_err(|error| Error::from(malformed(error)))?
            }
            (ChildInput::Of(_), Err(error)) => return Err(error.into()),
        };
        let definition = self.memory.definition(self.store, *workspace, definition, version.as_deref())?;
        // The run of a hook takes the place of the run that has ended: it is counted, and never refused.
        if !is_hook {
            self.check_descendants(parent.root())?;
            self.check_open_runs(*workspace)?;
        }
        check_input(&definition, &input, verdict)?;
        let new = command::NewRun {
            workspace: *workspace,
            tags: tags.clone(),
            parent: Some(*parent),
            started_on: started_on.clone(),
            started_by: Some(started_by.clone()),
            ..command::NewRun::new(*run_id, definition, input)
        };
        let mut context = self.context(Actor::new("parent"));
        context.traceparent = traceparent;
        self.begin_run(new, &context, None)?;
        if let Some(waitpoint) = tells {
            let outcome = ChildOutcome::Started { run_id: *run_id };
            let started = ChildFinished { number: waitpoint.number, outcome };
            self.decide_quietly(waitpoint.run, Command::ChildFinished(started))?;
        }
        Ok(())
    }

    fn child_not_started(&mut self, child: &ChildStart, error: &Error) {
        tracing::debug!(parent = %child.parent.run_id, %error, "a child could not be started");
        if let Some(waitpoint) = child.parent.waitpoint.or(child.tells) {
            let error = Failure::new("CHILD_NOT_STARTED", error.to_string());
            let outcome = ChildOutcome::Failed { error };
            self.do_now(
                child.workspace,
                FollowUp::TellParent { waitpoint, child: child.run_id, outcome: Some(outcome) },
            );
        }
    }

    fn start_scheduled(
        &mut self,
        run: RunId,
        scheduled: Scheduled,
        verdict: Option<&Verdict>,
    ) -> Result<(), NotStarted> {
        let (workspace, plan, created_by) = self.planned(scheduled.schedule_id)?;
        let definition =
            self.memory.definition(self.store, workspace, &plan.workflow, plan.version.as_deref())?;
        self.check_open_runs(workspace)?;
        check_input(&definition, &plan.input, verdict)?;
        let new = command::NewRun {
            workspace,
            tags: plan.tags,
            scheduled: Some(scheduled),
            started_by: Some(created_by),
            ..command::NewRun::new(run, definition, plan.input)
        };
        Ok(self.start_run(new, Actor::new("schedule"), None)?)
    }

    /// An occurrence of which nothing came, and why.
    fn scheduled_not_started(&mut self, run: RunId, scheduled: Scheduled, error: &Error) {
        let (id, now) = (scheduled.schedule_id, self.now);
        tracing::warn!(schedule = %id, %error, "a scheduled run could not be started");
        if let Ok(schedule) = self.touch_schedule(id) {
            let input =
                matches!(error, Error::Refused(Refusal::InvalidInput(_) | Refusal::LimitExceeded { .. }));
            schedule.not_started(run, &Refused { input, message: error.to_string() }, now);
        }
    }

    /// Whether a wait is still to be offered the events that were there before it.
    fn is_looking_back(&self, waitpoint: WaitpointId) -> bool {
        self.backlog.is_looking_back(waitpoint)
            || self.batch.is_looking_back(waitpoint)
            || self.in_flight.rounds().any(|(_, before)| before.is_looking_back(waitpoint))
    }

    /// Whether a wait for an event has not been offered yet what came before its time is over.
    pub(crate) fn is_being_offered(&mut self, run: RunId, number: u32) -> Result<bool, Error> {
        let leaves_some = |batch: &RoundBatch| batch.leaves(|_, _| true);
        if !self.backlog.has_waits()
            && !leaves_some(self.batch)
            && !self.in_flight.rounds().any(|(_, before)| leaves_some(before))
        {
            return Ok(false);
        }
        if self.is_looking_back(run.waitpoint(number)) {
            return Ok(true);
        }
        let run = self.run(run)?;
        let (id, workspace) = (run.id, run.workspace);
        let filters = run.offered_before(number).into_iter().filter_map(|number| {
            let event_id = &run.waitpoint(number)?.listens_for.event()?.event_id;
            Some((number, Arc::clone(event_id)))
        });
        let filters: Vec<(u32, Arc<str>)> = filters.collect();
        Ok(filters.into_iter().any(|(number, event_id)| {
            self.is_looking_back(id.waitpoint(number)) || self.is_delivering(&(workspace, event_id))
        }))
    }

    /// How far a scheduled run is that is not in the store: it may be about to be started.
    pub(crate) fn is_starting(&self, run: RunId) -> Option<RunStatus> {
        let is_starting = self.backlog.is_starting(run)
            || self.batch.is_starting(run)
            || self.in_flight.rounds().any(|(_, before)| before.is_starting(run));
        is_starting.then_some(RunStatus::Pending)
    }

    /// Refuses another descendant of a run that has too many.
    pub(super) fn check_descendants(&mut self, root: RunId) -> Result<(), Error> {
        let before = match self.batch.descendants_before.get(&root) {
            Some(before) => *before,
            None => {
                let stored = self.store.descendants(root)?;
                let in_flight =
                    self.in_flight.rounds().filter_map(|(_, before)| before.descendants.get(&root));
                let before = stored + in_flight.sum::<u64>();
                self.batch.descendants_before.insert(root, before);
                before
            }
        };
        let now = before + self.batch.descendants.get(&root).copied().unwrap_or(0);
        if now < self.limits.descendants {
            Ok(())
        } else {
            Err(Error::TooManyDescendants { root, limit: self.limits.descendants })
        }
    }

    /// Refuses another run in a workspace that has too many open ones.
    pub(super) fn check_open_runs(&mut self, workspace: WorkspaceId) -> Result<(), Error> {
        let Some(limit) = self.open_runs.of(workspace) else { return Ok(()) };
        let before = match self.batch.open_before.get(&workspace) {
            Some(before) => *before,
            None => {
                let counts = self.store.counts(Some(workspace))?;
                let stored: u64 = counts
                    .into_iter()
                    .filter(|(status, _)| !status.has_ended())
                    .map(|(_, count)| count)
                    .sum();
                let in_flight =
                    self.in_flight.rounds().filter_map(|(_, before)| before.started.get(&workspace));
                let before = stored + in_flight.sum::<u64>();
                self.batch.open_before.insert(workspace, before);
                before
            }
        };
        let now = before + self.batch.started.get(&workspace).copied().unwrap_or(0);
        if now < limit { Ok(()) } else { Err(Error::TooManyOpenRuns { limit }) }
    }
}

/// Checks an input here if that takes but a moment, or else takes the verdict of whoever did.
pub(super) fn check_input(
    definition: &Arc<Definition>,
    input: &Json,
    verdict: Option<&Verdict>,
) -> Result<(), NotStarted> {
    let verdict = verdict.filter(|verdict| Arc::ptr_eq(&verdict.definition, definition));
    let result = match verdict {
        Some(verdict) => verdict.result.clone(),
        None if definition.is_quick_to_check(input) => definition.check_input(input).map_err(Refusal::from),
        None => return Err(NotStarted::Check(Arc::clone(definition), input.clone())),
    };
    Ok(result.map_err(Error::from)?)
}
