//! What a record says, in a sentence for people. A sentence names steps, durable calls and who did what; it never
//! holds a payload, its length is bounded, and instants stand in it as RFC 3339, so that whoever shows it can show them
//! in another zone.

mod ended;
mod known;
mod opened;
#[cfg(test)]
mod tests;

use std::fmt;

use jiff::Timestamp;

pub use self::known::KnownWaits;
use super::{redacted, shortened};
use crate::definition::{Definition, Wanted};
use crate::durable_calls::outcome_in;
use crate::history::{Change, Creation, Failure, JournalResult, LogLine, ModelCall, Record, WakeOn};
use crate::id::{RunId, StepAddress};
use crate::limits;
use crate::waitpoint::{Actor, CLOCK, Decision, Kind, ListensFor, Waitpoint};

/// How many names of a list a sentence tells before it counts the rest.
const NAMED: usize = 3;

/// The waitpoints of a run by number, as far as they began before the record that is told.
pub type Waits<'a> = dyn Fn(u32) -> Option<&'a Waitpoint> + 'a;

/// What a record says, in a sentence for people.
pub fn sentence(definition: &Definition, waits: &Waits<'_>, record: &Record) -> String {
    let text = Teller { definition, waits, by: &record.by }.tell(&record.change);
    shortened(&text, limits::SENTENCE_CHARS)
}

struct Teller<'a, 'w> {
    definition: &'a Definition,
    waits: &'a Waits<'w>,
    by: &'a Actor,
}

impl Teller<'_, '_> {
    fn tell(&self, change: &Change) -> String {
        let by = self.by;
        match change {
            Change::WorkflowCreated(creation) => self.created(creation),
            Change::WorkflowStarted { deadline } => match deadline {
                Some(deadline) => format!("the run begins, and has time until {}", instant(*deadline)),
                None => "the run begins".to_owned(),
            },
            Change::WorkflowPaused { reason, resume_at } => paused(*reason, *resume_at),
            Change::WorkflowResumed => "the run goes on".to_owned(),
            Change::WorkflowPauseRequested => {
                format!("{by} asked for a pause: what runs runs to its end, and nothing new begins")
            }
            Change::WorkflowPausedByOperator => "the run is paused, and holds work back".to_owned(),
            Change::WorkflowUnpaused => format!("{by} lifted the pause"),
            Change::WorkflowDeadlinePassed => "the time of the run is over".to_owned(),
            Change::WorkflowCompleted { output: _ } => "the run completed".to_owned(),
            Change::WorkflowFailed { error, handled_by } => {
                let place = error.step.as_ref().map(|step| format!(" in {}", Name::of(step, call_of(error))));
                let (place, hook) = (place.unwrap_or_default(), hook("onFailure", *handled_by));
                format!("the run failed{place}: {}{hook}", reason(error))
            }
            Change::WorkflowCancelled { reason, handled_by } => {
                let hook = hook("onCancel", *handled_by);
                format!("{by} cancelled the run{}{hook}", said(reason.as_deref()))
            }
            Change::WorkflowRetried { deadline: _ } => {
                format!("{by} retried the run: the steps that failed begin again")
            }
            Change::WorkflowMoved { from, to, steps: _, not_taken: _, awaits_more: _ } => {
                format!("{by} moved the run from version {} to version {}", from.version, to.version)
            }
            Change::StepStarted { at, request: _ } => format!("{} begins", self.step(*at)),
            Change::StepWaiting { at, opens, awaits, wake } => self.waiting(*at, opens, awaits, *wake),
            Change::StepResumed { at } => format!("{} goes on", self.step(*at)),
            Change::StepRetrying { at, attempt, error, opens } => {
                let place = self.call(*at, call_of(error));
                let again = opens.resume_at.map(|at| format!("; tried again at {}", instant(at)));
                let (why, again) = (reason(error), again.unwrap_or_default());
                format!("{place} failed (attempt {attempt}): {why}{again}")
            }
            Change::StepHeldBack { at } => format!("{} is held back by a pause", self.step(*at)),
            Change::StepCompleted { at, waitpoint, output: _, state: _, not_taken: _ } => {
                let after = if waitpoint.is_some() { " after its wait" } else { "" };
                format!("{} completed{after}", self.step(*at))
            }
            Change::StepFailed { at, error, stopped: true } => {
                format!("{} was stopped: {}", self.step(*at), reason(error))
            }
            Change::StepFailed { at, error, stopped: false } => {
                format!("{} failed for good: {}", self.call(*at, call_of(error)), reason(error))
            }
            Change::StepSkipped { at } => format!("{} was skipped", self.step(*at)),
            Change::StepCancelled { at } => format!("{} was cancelled", self.step(*at)),
            Change::MapStarted { at, items } => {
                let count = items.as_array().map_or(0, Vec::len);
                format!("{} has {}", self.step(*at), counted(count, "item"))
            }
            Change::TaskStarted { at, lease_epoch, worker, build, deadline: _ } => {
                let again = if *lease_epoch > 1 { " again" } else { "" };
                let build = build.as_ref().map(|build| format!(", with build {build}")).unwrap_or_default();
                format!("{worker} took {}{again}{build}", self.step(*at))
            }
            Change::TaskPinned { at, build } => {
                format!("{} is for workers of build {build} alone", self.step(*at))
            }
            Change::TaskUnpinned { at } => format!("{by} lets workers of any build have {}", self.step(*at)),
            Change::TaskPaused { at: _, opens } | Change::WaitCreated { opens } => self.opened(opens),
            Change::TaskRedelivered { at, counted: _ } => {
                format!("the worker of {} was lost; the task is handed out again", self.step(*at))
            }
            Change::JournalRecorded { at, entries } => self.recorded(*at, entries),
            Change::CheckpointSaved { at, checkpoint: _ } => format!("{} saved a checkpoint", self.step(*at)),
            Change::TaskLogged { at, lines, full } => self.logged(*at, lines, *full),
            Change::EventSent { at, lease_epoch: _, event, event_id } => {
                format!("{} sent event `{event_id}` ({event})", self.step(*at))
            }
            Change::LlmCallCompleted { at, call } => self.model_called(*at, call),
            Change::WaitResolved { number, status, payload, signal } => {
                self.ended(*number, *status, payload.as_ref(), signal.is_some())
            }
            Change::CapacityTaken { at, rooms, number } => {
                let of_call = number.and_then(|number| (self.waits)(number)?.call());
                let of_step = |at: StepAddress| self.call(at, of_call.map(|call| &**call)).to_string();
                let whose = at.map_or_else(|| "the run".to_owned(), of_step);
                match rooms.len() {
                    0 => format!("{whose} may begin by its rate"),
                    1 => format!("{whose} has room under its limit"),
                    count => format!("{whose} has room under {count} limits"),
                }
            }
            Change::CapacityQueued { number, line: _, keeps: _ } => {
                format!("{} queues for room under another of its limits", self.wait(*number))
            }
            Change::StartCollected { number: _, input: _, resume_at } => {
                format!("{by} started the run once more; it begins at {}", instant(*resume_at))
            }
            Change::WaitRescheduled { number, resume_at } => {
                format!("{by} moved {} to {}", self.wait(*number), instant(*resume_at))
            }
            Change::SignalReceived { signal_type, id: _, payload: _ } => {
                format!("signal `{signal_type}` came from {by}")
            }
            Change::EventMatched { number, event, received_at } => {
                let wait = (self.waits)(*number);
                let name = wait.and_then(event_id).map(|name| format!("`{name}` "));
                let (name, received) = (name.unwrap_or_default(), instant(*received_at));
                format!("event {name}({event}, received {received}) is for {}", self.wait(*number))
            }
            Change::ApprovalRequested { number } => self.asked(*number),
            Change::ApprovalReminded { number } => {
                let who = (self.waits)(*number).map_or_else(|| "the approvers".to_owned(), approvers);
                format!("{who} were reminded of {}", self.wait(*number))
            }
            Change::ApprovalEscalated { number, approvers } => {
                format!("{} may decide about {}, too", listed(approvers), self.wait(*number))
            }
            Change::ApprovalDecided { number, decision, comment, edited_content: _, link: _ } => {
                let did = match decision {
                    Decision::Approve => "approved",
                    Decision::Reject => "rejected",
                    Decision::Edit => "edited and approved",
                };
                format!("{by} {did} {}{}", self.wait(*number), said(comment.as_deref()))
            }
        }
    }

    fn created(&self, creation: &Creation) -> String {
        let Creation { definition, parent, scheduled, started_on, started_by, .. } = creation;
        let whole = format!("`{}` version {} is started", definition.name, definition.version);
        let of = match (started_on, parent, scheduled) {
            (Some(on), _, _) => format!(" on the event `{}` ({})", on.event_id, on.event),
            (None, Some(parent), _) => format!(" as a child of {}", parent.run_id),
            (None, None, Some(scheduled)) => {
                format!(
                    " by {}, for its occurrence of {}",
                    scheduled.schedule_id,
                    instant(scheduled.occurrence)
                )
            }
            (None, None, None) => format!(" by {}", self.by),
        };
        let behalf = started_by.as_ref().map(|actor| format!(", on behalf of {actor}")).unwrap_or_default();
        format!("{whole}{of}{behalf}")
    }

    /// What a step waits for: the waits that it opens, or had opened before.
    fn waiting(&self, at: StepAddress, opens: &[Waitpoint], awaits: &[u32], wake: WakeOn) -> String {
        let told: Vec<&Waitpoint> = opens.iter().filter(|wait| !wait.is_aside()).collect();
        let known: Vec<String> = awaits
            .iter()
            .filter(|number| told.iter().all(|wait| wait.number != **number))
            .map(|n| self.wait(*n))
            .collect();
        let mut parts: Vec<String> = told.iter().take(NAMED).map(|wait| self.opened(wait)).collect();
        if told.len() > NAMED {
            parts.push(format!("and {} more", told.len() - NAMED));
        }
        if !known.is_empty() {
            let what = listed(&known);
            parts.push(if parts.is_empty() {
                format!("{} waits for {what}", self.step(at))
            } else {
                format!("{what} stays open")
            });
        }
        let first = match wake {
            WakeOn::Any | WakeOn::Each if told.len() + known.len() > 1 => {
                ", whichever comes first".to_owned()
            }
            WakeOn::Any | WakeOn::Each | WakeOn::All => String::new(),
            WakeOn::Group => self.wanted(at, opens),
        };
        format!("{}{first}", parts.join("; "))
    }

    /// How many of several waits must come, and by when.
    fn wanted(&self, at: StepAddress, opens: &[Waitpoint]) -> String {
        let wanted = self.definition.step(at.step).action.group().map(|group| group.wanted);
        let wanted = match wanted {
            Some(Wanted::Any) => "; the first that comes ends it".to_owned(),
            Some(Wanted::All) => "; all of them must come".to_owned(),
            Some(Wanted::Some(count)) => format!("; {count} of them must come"),
            None => String::new(),
        };
        let deadline = opens.iter().find(|wait| wait.is_deadline()).and_then(|wait| wait.resume_at);
        let until = deadline.map(|at| format!(", until {} at the latest", instant(at)));
        format!("{wanted}{}", until.unwrap_or_default())
    }

    fn recorded(&self, at: StepAddress, entries: &[JournalResult]) -> String {
        let calls: Vec<(&str, Option<&str>)> = entries.iter().filter_map(outcome_in).collect();
        match &*calls {
            [] => format!("{} recorded how it goes on", self.step(at)),
            [(call, None)] => format!("{} is recorded", self.call(at, Some(call))),
            [(call, Some(error))] => {
                format!("{} failed for good: {}", self.call(at, Some(call)), plain(error))
            }
            calls => {
                let names: Vec<String> = calls.iter().map(|(call, _)| format!("`{call}`")).collect();
                format!("{} recorded {}", self.step(at), listed(&names))
            }
        }
    }

    fn logged(&self, at: StepAddress, lines: &[LogLine], full: bool) -> String {
        let first = lines.first().map_or("", |line| line.message.lines().next().unwrap_or_default());
        let more = match lines.len() {
            0 | 1 => String::new(),
            count => format!(" (and {})", counted(count - 1, "more line")),
        };
        let full = if full { "; the log is full" } else { "" };
        format!("{} logged: {}{more}{full}", self.step(at), plain(first))
    }

    fn model_called(&self, at: StepAddress, call: &ModelCall) -> String {
        let ModelCall { model, input_tokens, output_tokens, error, .. } = call;
        let outcome = match error {
            Some(error) => format!("failed: {}", plain(error)),
            None => format!("{input_tokens} tokens in, {output_tokens} out"),
        };
        format!("{} called {model}: {outcome}", self.step(at))
    }

    fn asked(&self, number: u32) -> String {
        let Some(wait) = (self.waits)(number) else {
            return format!("{} asks for a decision", self.wait(number));
        };
        let until = wait.resume_at.map(|at| format!(", until {}", instant(at))).unwrap_or_default();
        format!("{} asks {}{until}", self.wait(number), approvers(wait))
    }

    fn step(&self, at: StepAddress) -> String {
        self.call(at, None)
    }

    fn call(&self, at: StepAddress, call: Option<&str>) -> String {
        let name = &self.definition.step(at.step).name;
        match at.item {
            None => Name::of(name, call).to_string(),
            Some(item) => Name::of(&format!("{name}[{item}]"), call).to_string(),
        }
    }

    /// A wait, by the names of its step and its durable call.
    fn wait(&self, number: u32) -> String {
        (self.waits)(number).map_or_else(|| format!("wait {number}"), |wait| self.whose(wait))
    }

    fn whose(&self, wait: &Waitpoint) -> String {
        wait.at.map_or_else(|| "the run".to_owned(), |at| self.call(at, wait.call().map(AsRef::as_ref)))
    }
}

/// A step, and maybe a durable call of its handler.
struct Name<'a> {
    step: &'a str,
    call: Option<&'a str>,
}

impl<'a> Name<'a> {
    fn of(step: &'a str, call: Option<&'a str>) -> Name<'a> {
        Name { step, call }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.call {
            Some(call) => write!(f, "`{} › {call}`", self.step),
            None => write!(f, "`{}`", self.step),
        }
    }
}

fn paused(reason: Kind, resume_at: Option<Timestamp>) -> String {
    let what = match reason {
        Kind::Delay => "the clock",
        Kind::Webhook => "a call",
        Kind::Signal => "a signal",
        Kind::Event => "an event",
        Kind::Approval => "an approval",
        Kind::Child => "a child run",
        Kind::Pause => "its worker",
        Kind::Retry => "its next attempt",
        Kind::Schedule => "its schedule",
        Kind::Code => "other code",
        Kind::Capacity => "room under a limit",
    };
    match resume_at {
        Some(at) if reason.ends_by_time() => format!("the run waits for {what}: {}", instant(at)),
        Some(at) => format!("the run waits for {what}, until {} at the latest", instant(at)),
        None => format!("the run waits for {what}"),
    }
}

fn call_of(error: &Failure) -> Option<&str> {
    error.detail.as_ref()?.call.as_deref()
}

fn event_id(wait: &Waitpoint) -> Option<&str> {
    if let ListensFor::Event(filter) = &wait.listens_for { Some(&filter.event_id) } else { None }
}

/// Who is asked for an approval.
fn approvers(wait: &Waitpoint) -> String {
    let ListensFor::Approval(request) = &wait.listens_for else { return "those who may decide".to_owned() };
    let who = if request.approvers.is_empty() {
        "anyone who may decide".to_owned()
    } else {
        listed(&request.approvers)
    };
    match request.quorum {
        0 | 1 => who,
        quorum => format!("{who} ({quorum} must approve)"),
    }
}

/// Why something failed: its message, and its code where that says more.
fn reason(error: &Failure) -> String {
    let message = plain(&error.message);
    if &*error.code == "TASK_FAILED" { message } else { format!("{message} [{}]", error.code) }
}

/// The run that was started for a run's end, if its workflow has an `onFailure` or `onCancel`.
fn hook(name: &str, run: Option<RunId>) -> String {
    run.map(|run| format!("; `{name}` is run {run}")).unwrap_or_default()
}

/// The reason that somebody gave, after a colon.
fn said(text: Option<&str>) -> String {
    text.filter(|text| !text.trim().is_empty()).map(|text| format!(": {}", plain(text))).unwrap_or_default()
}

/// A text of others in one line, without what looks like a secret. What is far beyond the length of a sentence is not
/// looked at.
fn plain(text: &str) -> String {
    let near = shortened(text, 2 * limits::SENTENCE_CHARS);
    let hidden = shortened(&redacted(&near), limits::SENTENCE_CHARS);
    hidden.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `ana`, `ana and ben`, `ana, ben and carl`, `ana, ben, carl and 4 more`.
fn listed(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = format!("{} more", names.len() - shown.len());
    let rest = (names.len() > shown.len()).then_some(&*more);
    let all: Vec<&str> = shown.into_iter().chain(rest).collect();
    match &*all {
        [] => "nobody".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// An instant to the second, as RFC 3339.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Who did something, if it was a person or a program and not the clock.
fn somebody(by: &Actor) -> Option<&Actor> {
    (*by.0 != *CLOCK).then_some(by)
}
