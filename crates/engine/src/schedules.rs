//! Schedules in a round: a schedule, its wait, and the runs that it starts are decided and committed together. What is
//! decided about a schedule is in the core; here it is looked up and carried out.

use std::fmt;
use std::sync::Arc;

use abide_core::command::{Command, Reply};
use abide_core::definition::{Definition, is_own};
use abide_core::follow_up::FollowUp;
use abide_core::id::{Owner, RunId, ScheduleId, WorkspaceId};
use abide_core::idempotency::{IdempotencyRecord, digest, replay};
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::run::Timer;
use abide_core::schedule::{Act, Plan, Schedule};
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Actor, Waitpoint};
use abide_store::{ScheduleWrite, StoredTimer};

use crate::alarm::Alarm;
use crate::error::Error;
use crate::round::Decider;

/// A request about schedules.
#[derive(Clone)]
pub enum ScheduleOrder {
    /// Make a schedule with this plan.
    Create(Plan),
    /// Change the plan of a schedule. The function may be called more than once, if another commit came first.
    Change(ScheduleId, Arc<dyn Fn(&mut Plan) + Send + Sync>),
    /// Pause a schedule: no occurrence comes.
    Pause(ScheduleId),
    /// Lift the pause of a schedule.
    Unpause(ScheduleId),
    /// Start a run of a schedule now, as far as its overlap policy allows.
    Trigger(ScheduleId),
    /// Remove a schedule; runs that it started go on.
    Remove(ScheduleId),
}

impl fmt::Debug for ScheduleOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleOrder::Create(plan) => write!(f, "Create({})", plan.name),
            ScheduleOrder::Change(id, _) => write!(f, "Change({id})"),
            ScheduleOrder::Pause(id) => write!(f, "Pause({id})"),
            ScheduleOrder::Unpause(id) => write!(f, "Unpause({id})"),
            ScheduleOrder::Trigger(id) => write!(f, "Trigger({id})"),
            ScheduleOrder::Remove(id) => write!(f, "Remove({id})"),
        }
    }
}

/// The result of a request about schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// The schedule after the request; of one that was removed, as it was before.
    pub schedule: Schedule,
    /// The outcome of a trigger (`started`, `skipped`, `queued` or `queueFull`) and its run; `None` for other
    /// requests.
    pub triggered: Option<(&'static str, Option<RunId>)>,
}

/// A schedule that was looked at in a round.
pub(crate) struct ScheduleDelta {
    schedule: Schedule,
    /// The version that the change is based on; 0: there was no schedule.
    based_on: u64,
    removed: bool,
}

impl ScheduleDelta {
    pub(crate) fn has_changes(&self) -> bool {
        self.removed || self.based_on != self.schedule.seq
    }

    /// The write that the round makes of it; `None` if the schedule is unchanged, or was made and removed in one
    /// round.
    pub(crate) fn write(&self) -> Option<ScheduleWrite<'_>> {
        let ScheduleDelta { schedule, based_on, removed } = self;
        let needed = self.has_changes() && !(*removed && *based_on == 0);
        needed.then_some(ScheduleWrite { based_on: *based_on, schedule, removed: *removed })
    }

    /// Sets the timers of the schedule after the commit.
    pub(crate) fn set_timers(&self, alarm: &mut Alarm) {
        for wait in self.schedule.waits() {
            let Some(at) = wait.resume_at else { continue };
            let timer =
                StoredTimer { at, run: self.schedule.id.owner().id(), timer: Timer::Waitpoint(wait.number) };
            if wait.is_pending() && !self.removed {
                alarm.set(timer);
            } else {
                alarm.clear(&timer);
            }
        }
    }
}

impl Decider<'_> {
    pub(crate) fn touch_schedule(&mut self, id: ScheduleId) -> Result<&mut Schedule, Error> {
        self.watch.at(id.owner().id());
        if !self.batch.schedules.contains_key(&id) {
            self.holds.check(id.owner().id())?;
            let known =
                match self.in_flight.find(|before| before.schedules.get(&id).filter(|it| it.has_changes())) {
                    Some((round, before)) => {
                        self.batch.depend_on(round);
                        Some(before.schedule.clone()).filter(|_| !before.removed)
                    }
                    None => match self.store.schedule(id).map_err(Error::from) {
                        Ok(schedule) => schedule,
                        Err(error) => {
                            self.note_damage(id.owner().id(), &error);
                            return Err(error);
                        }
                    },
                };
            let schedule = known.ok_or(Error::UnknownSchedule(id))?;
            let delta = ScheduleDelta { based_on: schedule.seq, schedule, removed: false };
            self.batch.schedules.insert(id, delta);
        }
        match self.batch.schedules.get_mut(&id) {
            Some(delta) if !delta.removed => Ok(&mut delta.schedule),
            Some(_) | None => Err(Error::UnknownSchedule(id)),
        }
    }

    /// A schedule of a workspace; one of another workspace is unknown.
    fn schedule_of(
        &mut self,
        workspace: Option<WorkspaceId>,
        id: ScheduleId,
    ) -> Result<&mut Schedule, Error> {
        let schedule = self.touch_schedule(id)?;
        match workspace {
            Some(workspace) if schedule.workspace != workspace => Err(Error::UnknownSchedule(id)),
            Some(_) | None => Ok(schedule),
        }
    }

    /// The status of the run that was started last.
    fn previous(&mut self, id: ScheduleId) -> Result<Option<RunStatus>, Error> {
        let Some(run) = self.touch_schedule(id)?.last_run else { return Ok(None) };
        match self.run(run) {
            Ok(run) => Ok(Some(run.status)),
            // It is about to be started, or has ended long ago.
            Err(Error::UnknownRun(_)) => Ok(self.is_starting(run)),
            // It is not over, and the schedule does what it does then.
            Err(error) if !error.passes() => Ok(Some(RunStatus::Paused)),
            Err(error) => Err(error),
        }
    }

    /// The timers of a schedule.
    pub(crate) fn schedule_timers(&mut self, id: ScheduleId) -> Result<Vec<StoredTimer>, Error> {
        let waits = self.touch_schedule(id)?.waits().filter(|wait| wait.is_pending());
        let timer = |wait: &Waitpoint| {
            let (run, timer) = (id.owner().id(), Timer::Waitpoint(wait.number));
            Some(StoredTimer { at: wait.resume_at?, run, timer })
        };
        Ok(waits.filter_map(timer).collect())
    }

    pub(crate) fn fire_schedule(&mut self, id: ScheduleId, number: u32) -> Result<(), Error> {
        let (previous, now) = (self.previous(id)?, self.now);
        let acts = self.touch_schedule(id)?.fire(number, previous, now)?;
        self.act(id, acts);
        Ok(())
    }

    /// Steers the wait of a schedule, as a wait of a run is steered.
    pub(crate) fn steer_schedule(
        &mut self,
        workspace: Option<WorkspaceId>,
        owner: RunId,
        command: &Command,
        by: Actor,
        key: Option<&str>,
    ) -> Result<Reply, Error> {
        let Some((id, Command::Steer(steer))) = Owner::of(owner).schedule().zip(Some(command)) else {
            return Err(Error::UnknownRun(owner));
        };
        let unknown = |error| {
            if matches!(error, Error::UnknownSchedule(_)) {
                Refusal::UnknownWaitpoint(id.waitpoint(steer.number)).into()
            } else {
                error
            }
        };
        self.schedule_of(workspace, id).map_err(unknown)?;
        let (key, asked) = (key.map(|key| format!("{owner}/{key}")), digest(command));
        if let Some(key) = &key
            && let Some(reply) = replay(key, asked, self.idempotency_record(key)?.as_ref())?
        {
            return Ok(reply);
        }
        let (previous, now) = (self.previous(id)?, self.now);
        let acts = self.touch_schedule(id)?.steer(steer.number, &steer.steering, previous, &by, now)?;
        self.act(id, acts);
        let reply = Reply::Waitpoint(id.waitpoint(steer.number));
        self.remember(key, asked, &reply);
        Ok(reply)
    }

    fn remember(&mut self, key: Option<String>, digest: u64, reply: &Reply) {
        if let Some(key) = key {
            let idempotency =
                IdempotencyRecord { key: key.clone(), digest, reply: reply.clone(), run: None, at: self.now };
            self.batch.idempotency.insert(key, idempotency);
        }
    }

    /// The input that an order would have a schedule start runs with, and what it is to be checked against, if that is
    /// more than a moment's work.
    pub(crate) fn plan_to_check(
        &mut self,
        workspace: WorkspaceId,
        order: &ScheduleOrder,
        checked: Option<&Arc<Definition>>,
    ) -> Option<(Arc<Definition>, Json)> {
        let plan = match order {
            ScheduleOrder::Create(plan) => plan.clone(),
            ScheduleOrder::Change(id, change) => {
                let mut plan = self.schedule_of(Some(workspace), *id).ok()?.plan.clone();
                change(&mut plan);
                plan
            }
            ScheduleOrder::Pause(_)
            | ScheduleOrder::Unpause(_)
            | ScheduleOrder::Trigger(_)
            | ScheduleOrder::Remove(_) => return None,
        };
        let definition =
            self.memory.definition(self.store, workspace, &plan.workflow, plan.version.as_deref()).ok()?;
        let is_checked = checked.is_some_and(|checked| Arc::ptr_eq(checked, &definition));
        let is_done = is_checked || definition.is_quick_to_check(&plan.input);
        (!is_done).then_some((definition, plan.input))
    }

    pub(crate) fn order(
        &mut self,
        workspace: WorkspaceId,
        order: ScheduleOrder,
        (by, key): (Actor, Option<&str>),
        checked: Option<&Arc<Definition>>,
    ) -> Result<Ordered, Error> {
        let now = self.now;
        let mut triggered = None;
        let id = match order {
            ScheduleOrder::Create(plan) => self.create_schedule(workspace, plan, by, checked)?,
            ScheduleOrder::Change(id, change) => {
                let before = self.schedule_of(Some(workspace), id)?.plan.clone();
                let mut plan = before.clone();
                change(&mut plan);
                self.check_plan(workspace, &plan, (plan.name != before.name).then_some(&plan.name), checked)?;
                self.touch_schedule(id)?.change(plan, &by, now);
                id
            }
            ScheduleOrder::Pause(id) => {
                self.schedule_of(Some(workspace), id)?.pause(&by, now);
                id
            }
            ScheduleOrder::Unpause(id) => {
                self.schedule_of(Some(workspace), id)?.unpause(now);
                id
            }
            ScheduleOrder::Trigger(id) => {
                self.schedule_of(Some(workspace), id)?;
                triggered = Some(self.trigger(id, key)?);
                id
            }
            ScheduleOrder::Remove(id) => {
                let schedule = self.schedule_of(Some(workspace), id)?.clone();
                if let Some(delta) = self.batch.schedules.get_mut(&id) {
                    delta.removed = true;
                }
                return Ok(Ordered { schedule, triggered });
            }
        };
        Ok(Ordered { schedule: self.touch_schedule(id)?.clone(), triggered })
    }

    fn create_schedule(
        &mut self,
        workspace: WorkspaceId,
        plan: Plan,
        by: Actor,
        checked: Option<&Arc<Definition>>,
    ) -> Result<ScheduleId, Error> {
        self.check_plan(workspace, &plan, Some(&plan.name), checked)?;
        let id = ScheduleId::new(self.now, self.random.draw_u128());
        let schedule = Schedule::new(id, workspace, plan, by, self.now);
        self.batch.schedules.insert(id, ScheduleDelta { schedule, based_on: 0, removed: false });
        Ok(id)
    }

    fn check_plan(
        &mut self,
        workspace: WorkspaceId,
        plan: &Plan,
        new_name: Option<&String>,
        checked: Option<&Arc<Definition>>,
    ) -> Result<(), Error> {
        let version = plan.version.as_deref();
        if is_own(&plan.workflow) {
            // It is a part of another run, and nobody's to start.
            let (name, version) = (plan.workflow.to_string(), plan.version.as_ref().map(ToString::to_string));
            return Err(Error::UnknownDefinition { name, version });
        }
        let definition = self.memory.definition(self.store, workspace, &plan.workflow, version)?;
        plan.check()?;
        if !checked.is_some_and(|checked| Arc::ptr_eq(checked, &definition)) {
            definition.check_input(&plan.input)?;
        }
        match new_name {
            Some(name) if self.is_taken(workspace, name)? => Err(Error::ScheduleExists(name.clone())),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether a name is taken. What was decided and is not in the store yet counts before what is.
    fn is_taken(&mut self, workspace: WorkspaceId, name: &str) -> Result<bool, Error> {
        let stored = self.store.schedule_by_name(workspace, name)?.map(|schedule| schedule.id);
        let (mut known, mut taken) = (false, false);
        let mut depends_on = Vec::new();
        let before = self.in_flight.rounds().map(|(round, before)| (Some(round), before));
        for (round, decided) in before.chain([(None, &*self.batch)]) {
            for delta in decided.schedules.values().filter(|delta| delta.schedule.workspace == workspace) {
                known |= Some(delta.schedule.id) == stored;
                taken |= !delta.removed && delta.schedule.plan.name == name;
                depends_on.extend(round);
            }
        }
        depends_on.into_iter().for_each(|round| self.batch.depend_on(round));
        Ok(taken || (stored.is_some() && !known))
    }

    fn trigger(&mut self, id: ScheduleId, key: Option<&str>) -> Result<(&'static str, Option<RunId>), Error> {
        let (key, asked) = (key.map(|key| format!("{id}/trigger/{key}")), digest(&id));
        if let Some(key) = &key
            && let Some(Reply::Started(run)) = replay(key, asked, self.idempotency_record(key)?.as_ref())?
        {
            return Ok(("started", Some(run)));
        }
        let (previous, now) = (self.previous(id)?, self.now);
        let triggered = self.touch_schedule(id)?.trigger(previous, now);
        self.act(id, triggered.acts);
        let run = triggered.run.filter(|run| self.batch.has_run(*run) || self.is_starting(*run).is_some());
        if let Some(run) = run {
            self.remember(key, asked, &Reply::Started(run));
        }
        let outcome = if triggered.run.is_some() && run.is_none() { "failed" } else { triggered.outcome };
        Ok((outcome, run))
    }

    /// Tells a schedule that one of its runs has ended. Fails only while the schedule cannot be read.
    pub(crate) fn tell_schedule(&mut self, id: ScheduleId, run: RunId) -> Result<(), Error> {
        let now = self.now;
        match self.touch_schedule(id).map(|schedule| schedule.run_ended(run, now)) {
            Ok(acts) => self.act(id, acts),
            // It was removed, and its runs go on without it; or it is held, and looks itself when it goes on.
            Err(Error::UnknownSchedule(_) | Error::Held { .. }) => {}
            Err(error) if error.passes() => return Err(error),
            Err(error) => tracing::error!(schedule = %id, %error, "a schedule could not be read"),
        }
        Ok(())
    }

    fn act(&mut self, id: ScheduleId, acts: Vec<Act>) {
        let workspace = self.touch_schedule(id).map_or_else(|_| WorkspaceId::default(), |it| it.workspace);
        for act in acts {
            match act {
                Act::Cancel(run) => {
                    let reason = Some("its schedule starts another run".to_owned());
                    self.todo.push_back((workspace, FollowUp::Cancel { run, reason }));
                }
                Act::Start { run, occurrence } => {
                    self.todo
                        .push_back((workspace, FollowUp::StartScheduled { schedule: id, run, occurrence }));
                }
            }
        }
        self.follow_up();
    }

    /// What a schedule starts, where, and on whose behalf.
    pub(crate) fn planned(&mut self, id: ScheduleId) -> Result<(WorkspaceId, Plan, Actor), Error> {
        let Schedule { workspace, plan, created_by, .. } = self.touch_schedule(id)?;
        Ok((*workspace, plan.clone(), created_by.clone()))
    }
}
