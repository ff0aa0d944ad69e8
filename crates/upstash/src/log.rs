//! The log of a guest's run, read from the journal of its task: entries in the order in which they were accepted, what
//! they wait for, and what is to be done next. A function of the run: no clock, no I/O.
//!
//! A delivery of an entry carries the log up to that entry and no further: by its end the SDK knows which branch it is
//! asked for.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::id::StepAddress;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::task::{JournalItem, JournalWhat};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::message::Headers;
use crate::started::Started;

/// The step of a guest's run: it has one.
pub(crate) const STEP: StepAddress = StepAddress::step(0);
/// How much of a step's name is in the name of its journal entry.
const NAME_CHARS: usize = 100;

/// The name of the entry that says how a visit of the step failed.
pub(crate) fn failed_name(visit: u32) -> String {
    format!("!failed {visit}")
}

const TURN: &str = "turn ";

/// The name of the entry with which the SDK confirmed a start by somebody else.
pub(crate) const CONFIRMED: &str = "!confirmed";

/// An entry as the journal holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The step exactly as it was submitted.
    pub(crate) body: String,
    /// The headers of its message that differ from the run's.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) headers: Headers,
    /// The first step of the parallel group that a plan belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<u32>,
}

fn is_empty(headers: &Headers) -> bool {
    headers.0.is_empty()
}

/// What of a step the gateway has to know.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Step {
    pub(crate) step_id: u32,
    pub(crate) step_name: String,
    pub(crate) step_type: String,
    pub(crate) concurrent: Option<u32>,
    pub(crate) target_step: Option<u32>,
}

impl Step {
    pub(crate) fn parse(body: &str) -> Option<Step> {
        serde_json::from_str(body).ok()
    }

    /// The number of the planned step, if this is a plan.
    pub(crate) fn plans(&self) -> Option<u32> {
        self.target_step.filter(|target| self.step_id == 0 && *target > 0)
    }

    /// The name of the journal entry: the step's number and its name.
    pub(crate) fn entry_name(&self) -> String {
        match self.plans() {
            Some(target) => format!("{target} {} (plan)", self.shown()),
            None => format!("{} {}", self.step_id, self.shown()),
        }
    }

    /// The name of the journal entry of the step's result, for a plan, too.
    pub(crate) fn result_name(&self) -> String {
        format!("{} {}", self.plans().unwrap_or(self.step_id), self.shown())
    }

    fn shown(&self) -> String {
        self.step_name.chars().take(NAME_CHARS).collect()
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The name of the journal entry; `init` for the initial payload.
    pub(crate) name: String,
    pub(crate) message_id: String,
    pub(crate) step: Step,
    pub(crate) stored: Stored,
}

/// Something that a step waits for outside of the log, under the step's number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The step as the SDK wrote it; its result is made of it.
    pub(crate) step: Value,
    /// The name of the waitpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<String>,
    /// What is asked for, by kind.
    pub(crate) asked: Value,
    /// Headers of the message that carries the result.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) headers: Headers,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RequestKind {
    Wait,
    Invoke,
    Call,
}

impl RequestKind {
    pub(crate) fn entry_name(self, step: u32) -> String {
        match self {
            RequestKind::Wait => format!("!wait {step}"),
            RequestKind::Invoke => format!("!invoke {step}"),
            RequestKind::Call => format!("!call {step}"),
        }
    }
}

/// The log of a run.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) started: Started,
    pub(crate) entries: Vec<Entry>,
    pub(crate) requests: BTreeMap<u32, (RequestKind, Request)>,
    /// The answers of those who were called, by step.
    pub(crate) answers: BTreeMap<u32, Json>,
    /// Every waitpoint of the run, by name.
    pub(crate) waits: BTreeMap<Arc<str>, (WaitStatus, Option<Json>)>,
    /// What was delivered, answered with success, and led to nothing.
    delivered: BTreeSet<String>,
    /// The SDK has confirmed a start by somebody who did not know it.
    pub(crate) confirmed: bool,
    pub(crate) failures: BTreeMap<String, Json>,
    pub(crate) visit: u32,
}

/// What is delivered, and under which name it is tried again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Parcel {
    /// An entry of the log, by its place.
    Step(usize),
    /// A request to somebody else, for the step of this number.
    Call(u32),
    /// The answer to a call, for the step of this number.
    Callback(u32),
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Deliver something; `retried` says how often it was tried before.
    Deliver { parcel: Parcel, retried: u32 },
    /// Add the result of a wait or of an invoked run to the log.
    Append { name: String, stored: Stored },
    /// Somebody cancelled the back-off: there is no further attempt.
    GiveUp { parcel: Parcel, retried: u32 },
}

impl Log {
    /// The log of a run; `None` if the run is not a guest's.
    pub(crate) fn of(run: &Run) -> Option<Log> {
        let visit = run.step(STEP).map_or(1, |step| step.visit);
        Some(Log::read_from(Started::of(run)?, visit, run.journal(STEP), &message_ids(run)))
    }

    fn read_from(
        started: Started,
        visit: u32,
        journal: Vec<JournalItem>,
        id: &dyn Fn(&str) -> String,
    ) -> Log {
        let first = Entry {
            name: "init".to_owned(),
            message_id: id("0"),
            step: Step { concurrent: Some(1), ..Step::default() },
            stored: Stored { body: String::new(), headers: Headers::default(), group: None },
        };
        let mut log = Log {
            started,
            entries: vec![first],
            requests: BTreeMap::new(),
            answers: BTreeMap::new(),
            waits: BTreeMap::new(),
            delivered: BTreeSet::new(),
            confirmed: false,
            failures: BTreeMap::new(),
            visit,
        };
        for item in journal {
            log.read(item, id);
        }
        log
    }

    fn read(&mut self, JournalItem { name, what }: JournalItem, id: &dyn Fn(&str) -> String) {
        let result = match what {
            JournalWhat::Wait { status, payload, .. } => {
                self.waits.insert(name, (status, payload));
                return;
            }
            JournalWhat::Result(result) => result,
        };
        let value = || Value::clone(&result);
        if let Some(own) = name.strip_prefix('!') {
            let (word, rest) = own.split_once(' ').unwrap_or((own, ""));
            let kind = match word {
                "wait" => RequestKind::Wait,
                "invoke" => RequestKind::Invoke,
                "call" => RequestKind::Call,
                "called" => {
                    self.answers.extend(rest.parse().ok().map(|step: u32| (step, result)));
                    return;
                }
                "delivered" => {
                    self.delivered.insert(rest.to_owned());
                    return;
                }
                "failed" => {
                    self.failures.insert(name.to_string(), result);
                    return;
                }
                "confirmed" => {
                    self.confirmed = true;
                    return;
                }
                _ => return,
            };
            if let (Ok(step), Ok(request)) = (rest.parse(), serde_json::from_value(value())) {
                self.requests.insert(step, (kind, request));
            }
        } else if let Ok(stored) = serde_json::from_value::<Stored>(value())
            && let Some(step) = Step::parse(&stored.body)
        {
            let message_id = id(&entry_key(&step));
            self.entries.push(Entry { name: name.to_string(), message_id, step, stored });
        }
    }

    /// The result of a step, if it is in the log.
    pub(crate) fn result(&self, step: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.step.step_id == step && step > 0)
    }

    /// The plan of a step, if it is in the log.
    pub(crate) fn plan(&self, step: u32) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.step.plans() == Some(step))
    }

    /// Whether anything was submitted for a step besides a plan.
    fn is_submitted(&self, step: u32) -> bool {
        self.requests.contains_key(&step) || self.result(step).is_some()
    }

    /// Whether anything was submitted for a step after this one.
    fn went_on_after(&self, step: u32) -> bool {
        self.requests.keys().next_back().is_some_and(|last| *last > step)
            || self.entries.iter().any(|entry| {
                entry.step.step_id > step || entry.step.plans().is_some_and(|target| target > step)
            })
    }

    /// The last step of the parallel group that an entry completes: `Some` where the SDK goes on from this entry.
    fn completes(&self, place: usize) -> Option<u32> {
        let entry = &self.entries[place];
        let count = entry.step.concurrent.unwrap_or(1);
        if count <= 1 || entry.step.plans().is_some() {
            return Some(entry.step.step_id);
        }
        let first = self.plan(entry.step.step_id).and_then(|plan| plan.stored.group)?;
        let last = first + count - 1;
        let before = &self.entries[..=place];
        let has = |step: u32| before.iter().any(|entry| entry.step.step_id == step);
        let planned = |step: u32| before.iter().any(|entry| entry.step.plans() == Some(step));
        (first..=last).all(|step| has(step) && planned(step)).then_some(last)
    }

    /// Whether the SDK does nothing with this entry: the result of a branch that does not complete its group.
    pub(crate) fn leads_nowhere(&self, place: usize) -> bool {
        self.completes(place).is_none()
    }

    /// Whether what a delivery is for has been done, as the log says: the SDK submits before it answers.
    pub(crate) fn is_done(&self, parcel: &Parcel) -> bool {
        match parcel {
            Parcel::Step(place) => {
                let entry = &self.entries[*place];
                let went_on = match (entry.step.plans(), self.completes(*place)) {
                    (Some(target), _) => self.is_submitted(target),
                    (None, Some(step)) => self.went_on_after(step),
                    (None, None) => true,
                };
                went_on || self.delivered.contains(&self.parcel_name(parcel))
            }
            Parcel::Call(step) => self.answers.contains_key(step) || self.result(*step).is_some(),
            Parcel::Callback(step) => {
                self.result(*step).is_some() || self.delivered.contains(&self.parcel_name(parcel))
            }
        }
    }

    /// The name under which the attempts of a delivery are recorded.
    pub(crate) fn parcel_name(&self, parcel: &Parcel) -> String {
        let called = |step: u32, what: &str| {
            let step_name = self.requests.get(&step).map(|(_, request)| &request.step["stepName"]);
            let named: String =
                step_name.and_then(Value::as_str).unwrap_or_default().chars().take(NAME_CHARS).collect();
            format!("{step} {named}: {what}")
        };
        match parcel {
            Parcel::Step(place) => self.entries[*place].name.clone(),
            Parcel::Call(step) => called(*step, "call"),
            Parcel::Callback(step) => called(*step, "callback"),
        }
    }

    /// The name of the wait before a retry of a delivery. A run that was retried counts anew.
    pub(crate) fn retry_name(&self, parcel: &Parcel, number: u32) -> String {
        let name = self.parcel_name(parcel);
        match self.visit {
            1 => format!("{name}: retry {number}"),
            visit => format!("{name}: retry {visit}.{number}"),
        }
    }

    /// How often a delivery was tried before, and how its last back-off stands.
    fn attempts(&self, parcel: &Parcel) -> (u32, Option<WaitStatus>) {
        let mut last = None;
        for number in 1.. {
            match self.waits.get(self.retry_name(parcel, number).as_str()) {
                Some((status, _)) => last = Some(*status),
                None => return (number - 1, last),
            }
        }
        (0, last)
    }

    /// The name of the wait that puts an entry off.
    pub(crate) fn delay_name(entry: &str) -> String {
        format!("{entry}: delay")
    }

    fn is_delayed(&self, parcel: &Parcel) -> bool {
        let Parcel::Step(place) = parcel else { return false };
        let delay = self.waits.get(Log::delay_name(&self.entries[*place].name).as_str());
        delay.is_some_and(|(status, _)| *status == WaitStatus::Pending)
    }

    /// What is to be done now. `new_from` is the first entry that a delivery without consequences is still made for.
    pub(crate) fn next(&self, new_from: usize) -> Vec<Act> {
        let mut acts = Vec::new();
        for (step, (kind, request)) in &self.requests {
            if self.result(*step).is_some() {
                continue;
            }
            match kind {
                RequestKind::Wait | RequestKind::Invoke => acts.extend(self.outcome(*kind, request)),
                RequestKind::Call if self.answers.contains_key(step) => {
                    acts.extend(self.delivery(Parcel::Callback(*step)));
                }
                RequestKind::Call => acts.extend(self.delivery(Parcel::Call(*step))),
            }
        }
        for place in 0..self.entries.len() {
            let parcel = Parcel::Step(place);
            if !self.is_done(&parcel) || (place >= new_from && self.leads_nowhere(place)) {
                acts.extend(self.delivery(parcel));
            }
        }
        acts
    }

    /// The name of the wait with which a run under flow control makes room for others before its next delivery.
    pub(crate) fn turn_name(&self) -> String {
        let turns = self.waits.keys().filter(|name| name.starts_with(TURN)).count();
        format!("{TURN}{}", turns + 1)
    }

    fn delivery(&self, parcel: Parcel) -> Option<Act> {
        if self.is_delayed(&parcel) || (!matches!(parcel, Parcel::Step(_)) && self.is_done(&parcel)) {
            return None;
        }
        match self.attempts(&parcel) {
            (_, Some(WaitStatus::Pending)) => None,
            (retried, Some(WaitStatus::Cancelled)) => Some(Act::GiveUp { parcel, retried: retried - 1 }),
            (retried, Some(WaitStatus::Completed | WaitStatus::TimedOut) | None) => {
                Some(Act::Deliver { parcel, retried })
            }
        }
    }

    /// The entry that the end of a wait, or of an invoked run, adds to the log.
    fn outcome(&self, kind: RequestKind, request: &Request) -> Option<Act> {
        let (status, payload) = self.waits.get(request.wait.as_deref()?)?;
        if *status == WaitStatus::Pending {
            return None;
        }
        let payload = payload.as_ref().filter(|_| *status == WaitStatus::Completed);
        let mut step = request.step.clone();
        let fields = step.as_object_mut()?;
        // The SDK tells a result from a plan by the absence of a target.
        fields.remove("targetStep");
        match kind {
            RequestKind::Wait => {
                for name in ["waitEventId", "timeout"] {
                    fields.insert(name.to_owned(), request.asked[name].clone());
                }
                fields.insert("waitTimeout".to_owned(), json!(payload.is_none()));
                if let Some(out) = payload.map(crate::event::out) {
                    fields.insert("out".to_owned(), json!(out));
                }
            }
            RequestKind::Invoke => {
                fields.insert("out".to_owned(), json!(crate::event::invoked(payload).to_string()));
            }
            RequestKind::Call => return None,
        }
        let body = step.to_string();
        let name = Step::parse(&body)?.result_name();
        Some(Act::Append { name, stored: Stored { body, headers: request.headers.clone(), group: None } })
    }

    /// The names of the waits that are open.
    pub(crate) fn open_waits(&self) -> Vec<Arc<str>> {
        let open = self.waits.iter().filter(|(_, (status, _))| *status == WaitStatus::Pending);
        open.map(|(name, _)| Arc::clone(name)).collect()
    }

    /// The headers that hold for an entry: the run's, and its own over them.
    pub(crate) fn headers(&self, entry: &Entry) -> Headers {
        self.started.headers.overlaid(&entry.stored.headers)
    }

    /// How large the log up to this place is, about.
    pub(crate) fn prefix_bytes(&self, place: usize) -> usize {
        let entries = self.entries[..=place].iter().map(|entry| entry.stored.body.len());
        self.started.body.size() + entries.sum::<usize>()
    }

    /// The body of a delivery of the entry at this place: the log up to it.
    pub(crate) fn prefix(&self, place: usize) -> Value {
        let listed = self.entries[..=place].iter().enumerate().map(|(index, entry)| {
            let body = match index {
                0 => self.started.body.base64(),
                _ => crate::message::Body::Text(entry.stored.body.clone()).base64(),
            };
            json!({ "messageId": entry.message_id, "body": body, "callType": "step" })
        });
        listed.collect()
    }
}

/// The part of a message's id that says which message of its run it is.
pub(crate) fn entry_key(step: &Step) -> String {
    match step.plans() {
        Some(target) => format!("p{target}"),
        None => format!("s{}", step.step_id),
    }
}

/// Ids of the messages of a run: the same message always has the same one.
pub(crate) fn message_ids(run: &Run) -> impl Fn(&str) -> String + use<> {
    let id = run.id.to_string();
    let id = id.strip_prefix("run_").unwrap_or(&id).to_owned();
    move |key: &str| format!("msg_{id}_{key}")
}
