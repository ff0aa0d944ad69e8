//! One execution of a task: the handler, its journal, and what becomes of them.
//!
//! ```text
//!   replay: what the journal holds is answered at once
//!   ──▶ new work: done, recorded, answered
//!   ──▶ a wait that is not over, and nothing else to do: the handler is dropped, the waits are reported
//! ```
//!
//! The journal does not change during an execution, so a wait that is open stays open until the next one. To the handler,
//! that is an await that does not return: there is nothing that it could catch.

mod driver;
mod group;
mod guard;
mod lane;
mod log;
mod race;
mod run_once;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, watch};

use crate::asked;
use crate::failure::{Result, TaskError};
use crate::reports::Reports;
use crate::wait::{Opened, Spec};
use crate::wire::{
    JournalEntry, Json, LogLine, NewJournalEntry, Object, ReportDone, Task, TaskReportHeartbeat, TaskWait,
    WaitpointKind, Wake, code,
};

pub(crate) use driver::{Rehearsed, Running};
pub(crate) use group::Group;
use guard::{Busy, Held};
use lane::Lane;
#[cfg(feature = "tracing-layer")]
pub(crate) use log::log_of_handler;

/// Names of entries that are ours: `!charge` is how `charge` failed.
const OWN: char = '!';
/// The server takes 200 characters.
const NAME_CHARS: usize = 190;
/// The server takes 255 characters.
const KEY_CHARS: usize = 255;
/// Refusals that mean that the task is somebody else's, or nobody's, by now.
const TAKEN_BACK: [&str; 6] = [
    code::STALE_LEASE,
    code::RUN_ENDED,
    code::UNKNOWN_RUN,
    code::WRONG_STEP_STATUS,
    code::BAD_LEASE,
    code::UNKNOWN_TASK,
];

tokio::task_local! {
    /// The name of the `run` that the code is in.
    static INSIDE: String;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Run,
    Wait,
    Waitpoint,
    /// The back-off of a run, which is recorded under a name of its own.
    BackOff,
}

/// What the journal holds under the name of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Run,
    Wait,
}

#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) task: Task,
    /// Absent where the code is only checked against the journal: nothing is done then, and nothing is told.
    reports: Option<Reports>,
    grace: Duration,
    driver: AtomicWaker,
    /// Nothing of the journal is left to come to, or nothing counts any more.
    released: Notify,
    over: watch::Sender<bool>,
    /// Where in the task's journal an entry is, by its name.
    places: HashMap<String, usize>,
    /// Held by whoever sends lines of the log.
    logging: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the journal holds and the code has not come to, in the order it was.
    unasked: Vec<String>,
    asked: HashSet<(String, bool)>,
    /// How often the code has paused under a name.
    pauses: HashMap<String, u32>,
    opened: Vec<Arc<Opened>>,
    groups: Vec<Waiting>,
    held: Vec<String>,
    /// Lines of the log that are still to be sent.
    lines: Vec<LogLine>,
    /// Entries that must be stored before anything new is done.
    unsaved: Vec<NewJournalEntry>,
    /// Waits that lost a race, and are cancelled with the entry that says who won.
    cancels: Vec<String>,
    state_updates: Object,
    busy: usize,
    /// Grows with everything that the handler does.
    activity: u64,
    /// Durable calls that failed.
    failures: u64,
    /// Waits that were given up for something else.
    abandoned: Option<String>,
    fatal: Option<TaskError>,
    lost: Option<String>,
    /// The code is through its journal, and was only to be checked against it.
    passed: bool,
    /// The handler is left, or has returned.
    ended: bool,
}

/// What is waited for together, and who is to be told when nothing comes of it in this execution.
#[derive(Debug)]
struct Waiting {
    id: u64,
    waits: Vec<Arc<Opened>>,
    wake: Wake,
    waker: Waker,
}

impl Execution {
    pub(crate) fn new(task: Task, reports: Option<Reports>, grace: Duration) -> Execution {
        let entries = &task.journal;
        // The back-off of a call, and its wait for room, are no calls of their own.
        let is_part = |kind: WaitpointKind| matches!(kind, WaitpointKind::Retry | WaitpointKind::Capacity);
        let is_back_off = |entry: &JournalEntry| entry.wait.as_ref().is_some_and(|wait| is_part(wait.kind));
        let calls = entries.iter().filter(|entry| !entry.name.starts_with(OWN) && !is_back_off(entry));
        let unasked = calls.map(|entry| entry.name.clone()).collect();
        let places = entries.iter().enumerate().map(|(place, entry)| (entry.name.clone(), place)).collect();
        let state = State { unasked, ..State::default() };
        Execution {
            task,
            places,
            reports,
            grace,
            driver: AtomicWaker::new(),
            released: Notify::new(),
            over: watch::Sender::new(false),
            logging: tokio::sync::Mutex::new(()),
            state: Mutex::new(state),
        }
    }

    fn locked<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the journal holds under a name. It does not change during an execution.
    fn recorded(&self, name: &str) -> Option<&JournalEntry> {
        self.places.get(name).map(|place| &self.task.journal[*place])
    }

    /// How a call failed, if the journal holds that.
    fn failed(&self, name: &str) -> Option<&JournalEntry> {
        self.recorded(&format!("{OWN}{name}"))
    }

    /// The name of the next pause under this one: `poll`, `poll#2`, `poll#3`, …
    pub(crate) fn pause_name(&self, name: String) -> String {
        let count = self.locked(|state| {
            let count = state.pauses.entry(name.clone()).or_default();
            *count += 1;
            *count
        });
        if count == 1 { name } else { format!("{name}#{count}") }
    }

    /// What the journal holds for a call. A call that does not fit it, or cannot be, ends the task.
    pub(crate) fn ask(&self, name: &str, call: Call) -> Result<Option<JournalEntry>> {
        let within = INSIDE.try_with(String::clone).ok();
        let entry = self.recorded(name);
        let recorded = match entry {
            Some(entry) if entry.wait.is_some() => Some(Recorded::Wait),
            Some(_) => Some(Recorded::Run),
            None => self.failed(name).map(|_| Recorded::Run),
        };
        let answer = self.locked(|state| {
            state.goes_on()?;
            let checked = state.check(name, call, recorded, within.as_deref());
            checked.map_err(|error| state.fatal.get_or_insert(error).clone())
        });
        self.released_if_clear();
        self.driver.wake();
        answer.map(|()| {
            Lane::reach(name);
            entry.cloned()
        })
    }

    pub(crate) fn open(&self, name: String, spec: Spec) -> Result<Arc<Opened>> {
        let is_part = matches!(spec, Spec::Wait(TaskWait::Retry(_) | TaskWait::Capacity(_)));
        let call = if is_part { Call::BackOff } else { Call::Wait };
        let known = self.ask(&name, call)?.and_then(|entry| entry.wait);
        let given_up = Lane::gave_up(&name);
        let opened = Arc::new(Opened::new(name, known, given_up, spec));
        if !Lane::is_lost() {
            self.locked(|state| state.opened.push(opened.clone()));
        }
        Ok(opened)
    }

    /// A recorded wait that is no answer to what the code asks for ends the task.
    pub(crate) fn check_same(&self, name: &str, entry: Option<&JournalEntry>, spec: &Spec) -> Result<()> {
        let recorded = entry.and_then(|entry| entry.wait.as_ref());
        match recorded.and_then(|recorded| asked::mismatch(name, recorded, spec)) {
            Some(changed) => Err(self.locked(|state| state.fatal.get_or_insert(changed).clone())),
            None => Ok(()),
        }
    }

    fn released_if_clear(&self) {
        if self.locked(|state| state.unasked.is_empty() || state.goes_on().is_err()) {
            self.released.notify_waiters();
        }
    }

    /// Does something new, once it is clear that the code fits the journal.
    pub(crate) async fn act<T>(&self, name: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        if Lane::is_lost() {
            return std::future::pending().await;
        }
        let _busy = Busy::new(self);
        self.clear(name).await?;
        if self.locked(|state| !state.unsaved.is_empty()) {
            self.save().await?;
        }
        let done = work.await;
        self.locked(|state| state.goes_on())?;
        done.inspect_err(|_| self.note_branch_failure())
    }

    /// Returns when the code has come to everything that the journal holds. Where it has not, another branch may yet: the
    /// driver gives it some time.
    async fn clear(&self, name: &str) -> Result<()> {
        if self.locked(|state| !state.unasked.is_empty()) {
            self.hold(name).await?;
        }
        if self.is_rehearsal() {
            self.locked(|state| state.passed = true);
            self.driver.wake();
            return std::future::pending().await;
        }
        Ok(())
    }

    async fn hold(&self, name: &str) -> Result<()> {
        let _held = Held::new(self, name);
        loop {
            let released = self.released.notified();
            if self.locked(|state| state.goes_on().map(|()| state.unasked.is_empty()))? {
                return Ok(());
            }
            released.await;
        }
    }

    /// Whether the code is only checked against the journal.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.reports.is_none()
    }

    /// What other services may know a call by: the same at every attempt and every replay.
    pub(crate) fn idempotency_key(&self, name: &str) -> String {
        format!("{}/{name}", self.task.id).chars().take(KEY_CHARS).collect()
    }

    /// Whether a planned change of the code is in effect for this run: it is, unless the run has gone beyond it already.
    /// What was decided once stays decided.
    pub(crate) fn patched(&self, id: &str) -> bool {
        let name = format!("{OWN}patch {id}");
        let recorded = self.recorded(&name).map(|entry| entry.result == true);
        self.locked(|state| {
            let noted = || state.unsaved.iter().find(|entry| entry.name == name);
            let decided = recorded.or_else(|| noted().map(|entry| entry.result == Some(true.into())));
            decided.unwrap_or_else(|| {
                let result = state.unasked.is_empty();
                state.unsaved.push(NewJournalEntry::new(name).result(result));
                result
            })
        })
    }

    /// A branch of the handler may be given up for this, and every execution will see it.
    pub(crate) fn note_branch_failure(&self) {
        self.locked(|state| state.failures += 1);
    }

    /// A wait that is not held any more will not be awaited.
    pub(crate) fn close(&self, closed: &Arc<Opened>) {
        self.locked(|state| state.opened.retain(|opened| !Arc::ptr_eq(opened, closed)));
    }

    /// Which of several waits was first: what was decided once stays decided.
    pub(crate) fn winner(&self, waits: &[Arc<Opened>]) -> Option<usize> {
        let name = format!("{OWN}first {}", waits.first()?.name);
        if let Some(decided) = self.recorded(&name) {
            return waits.iter().position(|wait| decided.result == wait.name.as_str());
        }
        self.locked(|state| {
            let first = waits.iter().position(|wait| wait.has_happened())?;
            let open = |(index, wait): (usize, &Arc<Opened>)| index != first && !wait.was_cancelled();
            if waits.iter().enumerate().any(open) {
                state.unsaved.push(NewJournalEntry::new(name).result(waits[first].name.as_str()));
                let open = waits.iter().filter(|wait| wait.known.is_some() && !wait.has_ended());
                state.cancels.extend(open.map(|wait| wait.name.clone()));
            }
            Some(first)
        })
    }

    /// Which of several waits were the first so many: what was decided once stays decided. `None` while it is not.
    pub(crate) fn winners(&self, count: usize, waits: &[Arc<Opened>]) -> Option<Vec<usize>> {
        let name = format!("{OWN}some {}", waits.first()?.name);
        if let Some(decided) = self.recorded(&name) {
            let names = decided.result.as_array().into_iter().flatten();
            return Some(
                names.filter_map(|name| waits.iter().position(|wait| *name == wait.name.as_str())).collect(),
            );
        }
        self.locked(|state| {
            let happened = waits.iter().enumerate().filter(|(_, wait)| wait.has_happened());
            let first: Vec<usize> = happened.map(|(index, _)| index).take(count).collect();
            if first.len() < count {
                return None;
            }
            let lost =
                waits.iter().enumerate().filter(|(index, _)| !first.contains(index)).map(|(_, wait)| wait);
            if lost.clone().any(|wait| !wait.was_cancelled()) {
                let names: Vec<&str> = first.iter().map(|index| waits[*index].name.as_str()).collect();
                state.unsaved.push(NewJournalEntry::new(name).result(names));
                let open = lost.filter(|wait| wait.known.is_some() && !wait.has_ended());
                state.cancels.extend(open.map(|wait| wait.name.clone()));
            }
            Some(first)
        })
    }

    async fn save(&self) -> Result<()> {
        // A failure that nobody catches ends the handler first, and is then not remembered.
        tokio::task::yield_now().await;
        match self.take_unsaved() {
            Some(saved) => self.record(saved).await,
            None => Ok(()),
        }
    }

    /// What is to be remembered, as a report.
    fn take_unsaved(&self) -> Option<TaskReportHeartbeat> {
        let (entries, cancels) =
            self.locked(|state| (std::mem::take(&mut state.unsaved), std::mem::take(&mut state.cancels)));
        let report = TaskReportHeartbeat::new(&self.task.lease_token);
        (!entries.is_empty()).then(|| report.entries(entries).cancels(cancels))
    }

    pub(crate) async fn record(&self, report: TaskReportHeartbeat) -> Result<()> {
        let Some(reports) = &self.reports else { return Ok(()) };
        let done = reports.send(report).await.map_err(TaskError::from)?;
        self.heed(&done);
        self.locked(|state| {
            state.goes_on()?;
            if done.ok {
                return Ok(());
            }
            let refused =
                done.problem.map(|problem| TaskError::not_retryable(problem.detail).code(problem.code));
            let error = refused.unwrap_or_else(|| TaskError::not_retryable("the report was refused"));
            Err(state.fatal.get_or_insert(error).clone())
        })
    }

    /// What the answer to a report says about the task itself.
    pub(crate) fn heed(&self, done: &ReportDone) {
        let code = done.problem.as_ref().map_or("", |problem| problem.code.as_str());
        if !done.ok && TAKEN_BACK.contains(&code) {
            self.cancel(code);
        }
    }

    /// The task is not ours any more.
    pub(crate) fn cancel(&self, code: &str) {
        self.locked(|state| state.lost.get_or_insert_with(|| code.to_owned()).clone());
        self.driver.wake();
    }

    pub(crate) fn update_state(&self, updates: Object) {
        self.locked(|state| state.state_updates.extend(updates));
    }

    pub(crate) fn over(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// From here on nothing counts, also where a branch is still under way in a task of its own.
    fn end(&self) {
        let groups = self.locked(|state| {
            state.ended = true;
            std::mem::take(&mut state.groups)
        });
        groups.into_iter().for_each(|group| group.waker.wake());
        self.released.notify_waiters();
        self.over.send_replace(true);
    }
}

impl State {
    /// Whether anything that the handler does still counts.
    fn goes_on(&self) -> Result<()> {
        if let Some(code) = &self.lost {
            return Err(TaskError::taken_back(code));
        }
        if let Some(fatal) = &self.fatal {
            return Err(fatal.clone());
        }
        if self.ended { Err(TaskError::taken_back("HANDLER_ENDED")) } else { Ok(()) }
    }

    fn check(
        &mut self,
        name: &str,
        call: Call,
        recorded: Option<Recorded>,
        within: Option<&str>,
    ) -> Result<()> {
        if let Some(abandoned) = self.abandoned.take() {
            return Err(swallowed(&abandoned, &format!("went on to `{name}`")));
        }
        if let Some(within) = within.filter(|_| call != Call::BackOff) {
            let message =
                format!("`{name}` is inside of `{within}`; what `run` does cannot itself be durable");
            return Err(TaskError::misused(message));
        }
        let is_named = (1..=NAME_CHARS).contains(&name.chars().count()) && !name.starts_with([OWN, '$']);
        if !is_named && call != Call::BackOff {
            let rule = format!("1 to {NAME_CHARS} characters, the first not `!` or `$`");
            return Err(TaskError::misused(format!("`{name}` is not a name: {rule}")));
        }
        if !self.asked.insert((name.to_owned(), call == Call::Waitpoint)) {
            let advice = format!("each durable call needs a name of its own, such as `{name}-2`");
            return Err(TaskError::misused(format!("`{name}` is used twice; {advice}")));
        }
        self.unasked.retain(|unasked| unasked != name);
        self.activity += 1;
        let (now, was) = match (call, recorded) {
            (Call::Run, Some(Recorded::Wait)) => ("a run", "a wait"),
            (Call::Wait | Call::Waitpoint | Call::BackOff, Some(Recorded::Run)) => ("a wait", "a run"),
            (_, None)
            | (Call::Run, Some(Recorded::Run))
            | (Call::Wait | Call::Waitpoint | Call::BackOff, Some(Recorded::Wait)) => return Ok(()),
        };
        Err(TaskError::code_changed(format!("`{name}` as {was}"), format!("`{name}` as {now}")))
    }
}

fn swallowed(waits: &str, then: &str) -> TaskError {
    let advice = "A `select!` or a timeout around a wait gives it up, and the next execution may choose otherwise: \
                  use `ctx.any`, or the wait's own `timeout`";
    TaskError::swallowed(format!("the handler was to be left at {waits}, and {then}. {advice}"))
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn read<T: DeserializeOwned>(name: &str, result: Json) -> Result<T> {
    let what = || format!("what was recorded for `{name}`");
    serde_json::from_value(result).map_err(|error| TaskError::unexpected(&what(), &error))
}
