//! The log of a guest's run, read from the journal of its task: entries in the order in which they were accepted, what
//! they wait for, and what is to be done next. A function of the run: no clock, no I/O.
//!
//! A delivery of an entry carries the log up to that entry and no further: by its end the SDK knows which branch it is
//! asked for.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::command::{WaitFor, WaitSpec};
use abide_core::id::StepAddress;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::task::{JournalItem, JournalWhat};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) use self::entry::{Entry, Request, RequestKind, Step, Stored, entry_key, message_ids, shown_name};
use crate::message::Headers;
use crate::sealed::Sealer;
use crate::started::Started;

/// The step of a guest's run: it has one.
pub(crate) const STEP: StepAddress = StepAddress::step(0);

/// The name of the entry that says how a visit of the step failed.
pub(crate) fn failed_name(visit: u32) -> String {
    format!("!failed {visit}")
}

const TURN: &str = "turn ";

/// The name of the entry with which the SDK confirmed a start by somebody else.
pub(crate) const CONFIRMED: &str = "!confirmed";

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
    /// The places of results, by step.
    results: BTreeMap<u32, usize>,
    /// The places of plans, by the step that is planned.
    plans: BTreeMap<u32, usize>,
    /// The highest step that anything was submitted for.
    last: u32,
    /// The entries after the first as they are delivered.
    encoded: String,
    /// How many results of the journal were read.
    read: usize,
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
    /// The log of a run as its clients are shown it; `None` if the run is not a guest's.
    pub(crate) fn of(run: &Run) -> Option<Log> {
        Some(Log::new(Started::of(run)?, &message_ids(run)).with(run, None))
    }

    /// The log of a run as it is delivered: what is sealed is opened.
    pub(crate) fn opened(run: &Run, sealer: &Sealer) -> Option<Log> {
        let mut started = Started::of(run)?;
        started.body = sealer.open_body(&started.body);
        Some(Log::new(started, &message_ids(run)).with(run, Some(sealer)))
    }

    /// This log, and what its run has recorded since.
    pub(crate) fn with(self, run: &Run, sealer: Option<&Sealer>) -> Log {
        let visit = run.step(STEP).map_or(1, |step| step.visit);
        self.read_on(visit, run.journal(STEP), &message_ids(run), sealer)
    }

    fn new(started: Started, id: &dyn Fn(&str) -> String) -> Log {
        let first = Entry {
            name: "init".to_owned(),
            message_id: id("0"),
            step: Step { concurrent: Some(1), ..Step::default() },
            stored: Stored::default(),
            end: 0,
        };
        Log {
            started,
            entries: vec![first],
            requests: BTreeMap::new(),
            answers: BTreeMap::new(),
            waits: BTreeMap::new(),
            delivered: BTreeSet::new(),
            confirmed: false,
            failures: BTreeMap::new(),
            visit: 1,
            results: BTreeMap::new(),
            plans: BTreeMap::new(),
            last: 0,
            encoded: String::new(),
            read: 0,
        }
    }

    /// Reads what is new: results are only ever added to a journal, and waits change.
    fn read_on(
        mut self,
        visit: u32,
        journal: Vec<JournalItem>,
        id: &dyn Fn(&str) -> String,
        sealer: Option<&Sealer>,
    ) -> Log {
        self.visit = visit;
        self.waits.clear();
        let mut results = 0;
        for JournalItem { name, what } in journal {
            match what {
                JournalWhat::Wait { status, payload, .. } => {
                    self.waits.insert(name, (status, payload));
                }
                JournalWhat::Result(result) => {
                    results += 1;
                    if results > self.read {
                        self.read(&name, &result, id, sealer);
                    }
                }
            }
        }
        self.read = results;
        self
    }

    fn read(&mut self, name: &str, result: &Json, id: &dyn Fn(&str) -> String, sealer: Option<&Sealer>) {
        let value = || Value::clone(result);
        let Some(own) = name.strip_prefix('!') else {
            if let Ok(stored) = serde_json::from_value::<Stored>(value())
                && let Some(step) = stored.step()
            {
                let message_id = id(&entry_key(&step));
                let stored = match stored.sealed_result() {
                    Some(_) => stored.with_result(|out| shown_result(out, sealer)),
                    None => stored,
                };
                self.push(name, message_id, step, stored);
            }
            return;
        };
        let (word, rest) = own.split_once(' ').unwrap_or((own, ""));
        let kind = match word {
            "wait" => RequestKind::Wait,
            "invoke" => RequestKind::Invoke,
            "call" => RequestKind::Call,
            "called" => {
                let answer = || crate::sealed::open_answer(result, sealer);
                self.answers.extend(rest.parse().ok().map(|step: u32| (step, answer())));
                return;
            }
            "delivered" => {
                self.delivered.insert(rest.to_owned());
                return;
            }
            "failed" => {
                self.failures.insert(name.to_owned(), result.clone());
                return;
            }
            "confirmed" => {
                self.confirmed = true;
                return;
            }
            _ => return,
        };
        if let (Ok(step), Ok(mut request)) = (rest.parse(), serde_json::from_value::<Request>(value())) {
            if let Some(sealer) = sealer.filter(|_| kind == RequestKind::Call) {
                sealer.open_call(&mut request.asked);
            }
            self.last = self.last.max(step);
            self.requests.insert(step, (kind, request));
        }
    }

    fn push(&mut self, name: &str, message_id: String, step: Step, stored: Stored) {
        let place = self.entries.len();
        match step.plans() {
            Some(target) => drop(self.plans.entry(target).or_insert(place)),
            None => drop(self.results.entry(step.step_id).or_insert(place)),
        }
        self.last = self.last.max(step.plans().unwrap_or(step.step_id));
        self.encoded.push(',');
        encode(&mut self.encoded, &STANDARD.encode(stored.text()), &message_id);
        let end = self.encoded.len();
        self.entries.push(Entry { name: name.to_owned(), message_id, step, stored, end });
    }

    /// The result of a step, if it is in the log.
    pub(crate) fn result(&self, step: u32) -> Option<&Entry> {
        self.results.get(&step).map(|place| &self.entries[*place])
    }

    /// The plan of a step, if it is in the log.
    pub(crate) fn plan(&self, step: u32) -> Option<&Entry> {
        self.plans.get(&step).map(|place| &self.entries[*place])
    }

    /// Whether anything was submitted for a step besides a plan.
    fn is_submitted(&self, step: u32) -> bool {
        self.requests.contains_key(&step) || self.results.contains_key(&step)
    }

    /// Whether anything was submitted for a step after this one.
    fn went_on_after(&self, step: u32) -> bool {
        self.last > step
    }

    /// Whether nothing is left to do but to wait when this step is submitted and waits: all that was before led to it. Under
    /// flow control a delivery keeps its room until it is answered.
    pub(crate) fn may_suspend_with(&self, step: &Step) -> bool {
        let led_here = |place: usize| {
            self.entries[place].step.plans().is_none()
                && self.completes(place).is_some_and(|last| last < step.step_id)
        };
        self.started.flow.is_none()
            && step.plans().is_none()
            && step.concurrent.unwrap_or(1) <= 1
            && self.requests.keys().all(|number| self.results.contains_key(number))
            && (0..self.entries.len()).all(|place| led_here(place) || self.is_done(&Parcel::Step(place)))
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
        let is_there =
            |places: &BTreeMap<u32, usize>, step: u32| places.get(&step).is_some_and(|at| *at <= place);
        (first..=last)
            .all(|step| is_there(&self.results, step) && is_there(&self.plans, step))
            .then_some(last)
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
            format!("{}: {what}", shown_name(step, step_name.and_then(Value::as_str).unwrap_or_default()))
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
                RequestKind::Call if self.lacks_room(request) => {}
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

    /// Whether a call waits for room.
    fn lacks_room(&self, request: &Request) -> bool {
        let wait = request.wait.as_deref().and_then(|name| self.waits.get(name));
        wait.is_some_and(|(status, _)| *status == WaitStatus::Pending)
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
        Some(Act::Append { name, stored: Stored::new(body, request.headers.clone(), None) })
    }

    /// The waits that are open.
    pub(crate) fn open_waits(&self) -> Vec<WaitSpec> {
        let open = self.waits.iter().filter(|(_, (status, _))| *status == WaitStatus::Pending);
        open.map(|(name, _)| WaitSpec::new(Arc::clone(name), WaitFor::Created)).collect()
    }

    /// The headers that hold for an entry: the run's, and its own over them.
    pub(crate) fn headers(&self, entry: &Entry) -> Headers {
        self.started.headers.overlaid(&entry.stored.headers)
    }

    /// How large the log up to this place is, about.
    pub(crate) fn prefix_bytes(&self, place: usize) -> usize {
        self.started.body.size() + self.entries[place].end
    }

    /// The body of a delivery of the entry at this place: the log up to it.
    pub(crate) fn prefix(&self, place: usize) -> String {
        let later = &self.encoded[..self.entries[place].end];
        let mut prefix = String::with_capacity(self.started.body.size() * 4 / 3 + later.len() + 200);
        prefix.push('[');
        encode(&mut prefix, &self.started.body.base64(), &self.entries[0].message_id);
        prefix.push_str(later);
        prefix.push(']');
        prefix
    }

    /// How much memory the log takes, about.
    pub(crate) fn bytes(&self) -> usize {
        // Entries are held as they are submitted and as they are delivered.
        self.started.body.size()
            + self.encoded.len() * 2
            + self.answers.values().map(Json::bytes).sum::<usize>()
    }
}

/// Writes an entry as it is delivered. Neither base64 nor an id has anything to escape.
fn encode(text: &mut String, body: &str, message_id: &str) {
    for part in ["{\"body\":\"", body, "\",\"callType\":\"step\",\"messageId\":\"", message_id, "\"}"] {
        text.push_str(part);
    }
}

/// The result of a step as it is delivered, or as clients are shown it.
fn shown_result(out: &str, sealer: Option<&Sealer>) -> String {
    sealer.map_or_else(|| crate::sealed::shown(out).to_owned(), |sealer| sealer.open(out))
}
