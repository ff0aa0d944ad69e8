//! Schedules: each starts runs of a workflow by the clock.
//!
//! A schedule waits like everything else: its next occurrence is a waitpoint of kind SCHEDULE, listed and steered as
//! any other. When that wait ends, [`Schedule::fire`] says what follows, as a function of the schedule, of the status
//! of the run it started last, and of the time. The caller stores the schedule and the runs together.
//!
//! ```text
//!   occurrence due ──▶ catch-up: which of those that are due ──▶ overlap: start · skip · queue · cancel the last run
//!        └──▶ the wait is resolved, the next one opens
//! ```

mod plan;
mod when;

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::command::Steering;
use crate::id::{RunId, ScheduleId, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::limits;
use crate::random::Random;
use crate::refusal::Refusal;
use crate::status::{RunStatus, WaitStatus};
use crate::waitpoint::{Actor, Kind, ListensFor, Waitpoint};

pub use plan::{CatchUp, Overlap, Plan};
pub use when::When;

/// The name of every wait of a schedule.
const OCCURRENCE: &str = "$occurrence";

/// A schedule: its plan, the occurrence it waits for, and its last waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The id of the schedule.
    pub id: ScheduleId,
    /// The workspace that the schedule and its runs belong to.
    pub workspace: WorkspaceId,
    /// What the schedule starts, and when.
    pub plan: Plan,
    /// The number of changes so far: the version that a commit compares and sets.
    pub seq: u64,
    /// Who made the schedule; its runs are on their behalf.
    pub created_by: Actor,
    /// When the schedule was made.
    pub created_at: Timestamp,
    /// When the schedule changed last; a run that it started is such a change.
    pub updated_at: Timestamp,
    /// Whether an operator has paused the schedule: no occurrence comes.
    pub paused: bool,
    /// The instant that an `every` counts from.
    anchor: Timestamp,
    /// The instant that the pending occurrence is due at; its wait may have been moved to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    occurrence: Option<Timestamp>,
    /// The last waits, oldest first; a pending one is the last of all.
    waits: VecDeque<Waitpoint>,
    /// The run that was started last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<RunId>,
    /// Occurrences that wait for the last run to end.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub queued: VecDeque<Timestamp>,
}

/// What a schedule asks the engine to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Cancel this run: `overlap` says so.
    Cancel(RunId),
    /// Start the run of an occurrence.
    Start {
        /// The id that the run is to have.
        run: RunId,
        /// The instant that the occurrence was due at.
        occurrence: Timestamp,
    },
}

/// Why a run that a schedule asked for was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Whether the schedule's input is what this version of the workflow does not take.
    pub input: bool,
    /// Why the run was not started, for people.
    pub message: String,
}

/// How an occurrence was dealt with, as its waitpoint's payload says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Started(RunId),
    /// The previous run has not ended, and `overlap` skips.
    Skipped,
    Queued,
    QueueFull,
}

impl Schedule {
    /// A schedule that begins now, and waits for its first occurrence.
    pub fn new(id: ScheduleId, workspace: WorkspaceId, plan: Plan, by: Actor, now: Timestamp) -> Schedule {
        let mut schedule = Schedule {
            id,
            workspace,
            plan,
            seq: 1,
            created_by: by,
            created_at: now,
            updated_at: now,
            paused: false,
            anchor: now,
            occurrence: None,
            waits: VecDeque::new(),
            last_run: None,
            queued: VecDeque::new(),
        };
        schedule.open(now, now);
        schedule
    }

    /// The last waits of the schedule, oldest first. Earlier ones are forgotten.
    pub fn waits(&self) -> impl DoubleEndedIterator<Item = &Waitpoint> {
        self.waits.iter()
    }

    /// The wait of this number, if it is one of the last.
    pub fn wait(&self, number: u32) -> Option<&Waitpoint> {
        self.waits.iter().find(|wait| wait.number == number)
    }

    /// The wait for the next occurrence; `None` while the schedule is paused, or if no occurrence comes any more.
    pub fn pending(&self) -> Option<&Waitpoint> {
        self.waits.back().filter(|wait| wait.is_pending())
    }

    /// The id of the wait of this number.
    pub fn waitpoint_id(&self, number: u32) -> WaitpointId {
        self.id.waitpoint(number)
    }

    /// Counts a change of the schedule.
    fn touch(&mut self, now: Timestamp) {
        self.seq += 1;
        self.updated_at = now;
    }

    /// Opens the wait for the first occurrence after the instant.
    fn open(&mut self, after: Timestamp, now: Timestamp) {
        self.occurrence = self.plan.when.next_after(after, self.anchor).filter(|_| !self.paused);
        let Some(at) = self.occurrence else { return };
        let number = self.waits.back().map_or(0, |wait| wait.number) + 1;
        self.waits.push_back(Waitpoint {
            number,
            at: None,
            name: OCCURRENCE.into(),
            kind: Kind::Schedule,
            asked: None,
            status: WaitStatus::Pending,
            created_at: now,
            resume_at: Some(at),
            listens_for: ListensFor::Time,
            response_to_send: None,
            resume_payload: None,
            event: None,
            resolved_by: None,
            resolved_at: None,
        });
        let over = self.waits.len().saturating_sub(limits::SCHEDULE_WAITS);
        self.waits.drain(..over);
    }

    fn resolve(&mut self, status: WaitStatus, payload: Option<Value>, by: &Actor, now: Timestamp) {
        if let Some(wait) = self.waits.back_mut().filter(|wait| wait.is_pending()) {
            wait.status = status;
            wait.resume_payload = payload.map(Json::new);
            wait.resolved_by = Some(by.clone());
            wait.resolved_at = Some(now);
        }
        self.occurrence = None;
    }

    /// The wait of this number, if it is still to be resolved (R2).
    fn check_pending(&self, number: u32) -> Result<&Waitpoint, Refusal> {
        let id = self.waitpoint_id(number);
        let wait = self.wait(number).ok_or(Refusal::UnknownWaitpoint(id))?;
        if wait.is_pending() { Ok(wait) } else { Err(Refusal::already_resolved(id, wait)) }
    }

    /// Decides what an occurrence that is due starts. `previous` is the status of the run that was started last.
    pub fn fire(
        &mut self,
        number: u32,
        previous: Option<RunStatus>,
        now: Timestamp,
    ) -> Result<Vec<Act>, Refusal> {
        let wait = self.check_pending(number)?;
        let at = wait.resume_at.ok_or(Refusal::NoSuchTimer)?;
        if !wait.is_due(now) {
            return Err(Refusal::NotDue { waitpoint: self.waitpoint_id(number), at });
        }
        let occurrence = self.occurrence.unwrap_or(at);
        // One that was moved stands for itself.
        let (starts, missed) =
            if at == occurrence { self.due(occurrence, now) } else { (vec![occurrence], 0) };
        Ok(self.come(starts, missed, previous, &Actor::new("timer"), now))
    }

    /// Which of the occurrences that are due are started, and how many are missed.
    fn due(&self, first: Timestamp, now: Timestamp) -> (Vec<Timestamp>, u64) {
        let last_of = |most| self.plan.when.last_of(first, now, self.anchor, most);
        // With one more than there may be it is known whether some are left out.
        let mut due = last_of(limits::SCHEDULE_CATCH_UP + 1);
        let all = due.len();
        let one_at_most = match self.plan.overlap {
            Overlap::Skip | Overlap::CancelPrevious => true,
            Overlap::Queue | Overlap::Allow => false,
        };
        match self.plan.catch_up {
            CatchUp::None => {
                due.retain(|at| limits::SCHEDULE_LATE.after(*at) >= now);
                due.drain(..due.len().saturating_sub(1));
            }
            CatchUp::All if !one_at_most => {
                due.drain(..due.len().saturating_sub(limits::SCHEDULE_CATCH_UP));
            }
            // Only one of them could run: the last.
            CatchUp::Last | CatchUp::All => drop(due.drain(..due.len().saturating_sub(1))),
        }
        let missed = u64::try_from(all - due.len()).unwrap_or(u64::MAX);
        (due, missed)
    }

    /// Resolves the pending occurrence, and asks for the runs of those that are started.
    fn come(
        &mut self,
        starts: Vec<Timestamp>,
        missed: u64,
        previous: Option<RunStatus>,
        by: &Actor,
        now: Timestamp,
    ) -> Vec<Act> {
        let after = self.occurrence.map_or(now, |occurrence| occurrence.max(now));
        let mut active = previous.is_some_and(|status| !status.has_ended());
        let (mut acts, mut outcomes) = (Vec::new(), Vec::new());
        for occurrence in starts {
            outcomes.push(self.overlap(occurrence, &mut active, &mut acts, now));
        }
        let payload = json!({
            "occurrence": self.occurrence,
            "outcomes": outcomes.iter().map(|outcome| outcome.shown()).collect::<Vec<_>>(),
            "missed": missed,
        });
        self.resolve(WaitStatus::Completed, Some(payload), by, now);
        self.open(after, now);
        self.touch(now);
        acts
    }

    fn overlap(
        &mut self,
        occurrence: Timestamp,
        active: &mut bool,
        acts: &mut Vec<Act>,
        now: Timestamp,
    ) -> Outcome {
        // Those that were queued come first, whoever failed to say that the run before them has ended.
        if !*active && let Some(first) = self.queued.pop_front() {
            self.queued.push_back(occurrence);
            *active = true;
            let run = self.start(first, now);
            acts.push(Act::Start { run, occurrence: first });
            return Outcome::Queued;
        }
        if *active {
            match self.plan.overlap {
                Overlap::Skip => return Outcome::Skipped,
                Overlap::Queue if self.queued.len() >= limits::SCHEDULE_QUEUE => return Outcome::QueueFull,
                Overlap::Queue => {
                    self.queued.push_back(occurrence);
                    return Outcome::Queued;
                }
                Overlap::CancelPrevious => acts.extend(self.last_run.map(Act::Cancel)),
                Overlap::Allow => {}
            }
        }
        *active = true;
        let run = self.start(occurrence, now);
        acts.push(Act::Start { run, occurrence });
        Outcome::Started(run)
    }

    /// The run of an occurrence is given its id: a function of the schedule, its version and the occurrence. Deciding
    /// the same again gives the same id, and a run can be there only once.
    fn start(&mut self, occurrence: Timestamp, now: Timestamp) -> RunId {
        let mut random = Random::new(self.seq ^ occurrence.as_nanosecond() as u64);
        let run = RunId::new(now, self.id.0 ^ random.draw_u128());
        self.last_run = Some(run);
        run
    }

    /// Starts what is queued behind the last run, which has ended.
    pub fn run_ended(&mut self, run: RunId, now: Timestamp) -> Vec<Act> {
        if self.last_run != Some(run) {
            return Vec::new();
        }
        let Some(occurrence) = self.queued.pop_front() else { return Vec::new() };
        let run = self.start(occurrence, now);
        self.touch(now);
        vec![Act::Start { run, occurrence }]
    }

    /// Records that a run that was asked for could not be started.
    pub fn not_started(&mut self, run: RunId, why: &Refused, now: Timestamp) {
        self.touch(now);
        if self.last_run == Some(run) {
            self.last_run = None;
        }
        let named = json!(run);
        for wait in self.waits.iter_mut().rev() {
            let Some(payload) = &wait.resume_payload else { continue };
            let mut payload = Value::clone(payload);
            let outcomes = payload.get_mut("outcomes").and_then(Value::as_array_mut);
            let outcome = outcomes.into_iter().flatten().find(|outcome| outcome["runId"] == named);
            if let Some(outcome) = outcome {
                let word = if why.input { "invalidInput" } else { "failed" };
                *outcome = json!({ "outcome": word, "error": why.message });
                wait.resume_payload = Some(Json::new(payload));
                return;
            }
        }
    }

    /// Steers the pending occurrence (R9), by the same verbs as any wait.
    pub fn steer(
        &mut self,
        number: u32,
        steering: &Steering,
        previous: Option<RunStatus>,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<Act>, Refusal> {
        self.check_pending(number)?;
        match steering {
            Steering::Reschedule { resume_at } => {
                if *resume_at > limits::WAIT.after(now) {
                    let message = format!("more than {} from now", limits::WAIT);
                    return Err(Refusal::Malformed { pointer: "/resumeAt", message });
                }
                if let Some(wait) = self.waits.back_mut() {
                    wait.resume_at = Some(*resume_at);
                }
                self.touch(now);
                Ok(Vec::new())
            }
            // Time is what it waits for.
            Steering::Complete { payload: None } | Steering::TimeOut => {
                let starts = self.occurrence.into_iter().collect();
                Ok(self.come(starts, 0, previous, by, now))
            }
            Steering::Complete { payload: Some(_) } => {
                let message = "a schedule's run begins with the schedule's input".to_owned();
                Err(Refusal::Malformed { pointer: "/payload", message })
            }
            Steering::Skip { .. } => {
                let waitpoint = self.waitpoint_id(number);
                Err(Refusal::WrongKind {
                    waitpoint,
                    kind: Kind::Schedule,
                    verb: "skipped: it can be cancelled",
                })
            }
            Steering::Cancel => {
                let after = self.occurrence.map_or(now, |occurrence| occurrence.max(now));
                self.resolve(WaitStatus::Cancelled, None, by, now);
                self.open(after, now);
                self.touch(now);
                Ok(Vec::new())
            }
        }
    }

    /// Starts a run now, whatever the clock says, as far as `overlap` allows. The next occurrence stays as it is.
    pub fn trigger(&mut self, previous: Option<RunStatus>, now: Timestamp) -> Triggered {
        let mut active = previous.is_some_and(|status| !status.has_ended());
        let mut acts = Vec::new();
        let outcome = self.overlap(now, &mut active, &mut acts, now);
        self.touch(now);
        Triggered { acts, outcome: outcome.word(), run: outcome.run() }
    }

    /// Pauses the schedule: no occurrence comes, and none of that time is caught up later.
    pub fn pause(&mut self, by: &Actor, now: Timestamp) {
        if !self.paused {
            self.resolve(WaitStatus::Cancelled, Some(json!({ "reason": "paused" })), by, now);
            self.paused = true;
            self.queued.clear();
            self.touch(now);
        }
    }

    /// Lifts a pause: the schedule waits for its next occurrence again.
    pub fn unpause(&mut self, now: Timestamp) {
        if self.paused {
            self.paused = false;
            self.open(now, now);
            self.touch(now);
        }
    }

    /// Gives the schedule another plan. Where the rule of time has changed, it counts from now.
    pub fn change(&mut self, plan: Plan, by: &Actor, now: Timestamp) {
        let retimed = plan.when != self.plan.when;
        self.plan = plan;
        if retimed {
            self.resolve(WaitStatus::Cancelled, Some(json!({ "reason": "changed" })), by, now);
            self.anchor = now;
            self.open(now, now);
        }
        self.touch(now);
    }
}

/// The outcome of a manual trigger.
#[derive(Clone, Debug, PartialEq)]
pub struct Triggered {
    /// What the engine is to do.
    pub acts: Vec<Act>,
    /// How the trigger was dealt with: `started`, `skipped`, `queued` or `queueFull`.
    pub outcome: &'static str,
    /// The run that is started; `None` unless the outcome is `started`.
    pub run: Option<RunId>,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Started(_) => "started",
            Outcome::Skipped => "skipped",
            Outcome::Queued => "queued",
            Outcome::QueueFull => "queueFull",
        }
    }

    fn run(self) -> Option<RunId> {
        match self {
            Outcome::Started(run) => Some(run),
            Outcome::Skipped | Outcome::Queued | Outcome::QueueFull => None,
        }
    }

    fn shown(self) -> Value {
        match self.run() {
            Some(run) => json!({ "outcome": self.word(), "runId": run }),
            None => json!({ "outcome": self.word() }),
        }
    }
}

#[cfg(test)]
mod tests;
