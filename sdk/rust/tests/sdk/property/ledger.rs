//! The model: what was seen of every run, by whoever did its work, and what must be true of it.
//!
//! A call is made *at least once* until its result is recorded, and never after. What a worker may do follows from the
//! journal that its delivery was handed out with, not from the time: a worker that has lost its lease and does not know
//! yet may still begin a call whose result another execution has recorded meanwhile. That is allowed; what it comes to is
//! refused, and nobody sees it. What is never allowed, in any delivery, late or not:
//!
//! - a call is made although the journal of the execution holds its result, or its failure, or twice in one execution;
//! - a wait returns that the journal of the execution does not hold as over, and as a wait of that kind, or one
//!   that it holds as over does not return;
//! - a call or a wait returns anything but what it returned before, or what a journal holds;
//! - two deliveries share a lease, or their journals contradict each other: what is recorded stays, and more is added;
//! - an execution is handed out without a result that was recorded before it, or a result is recorded twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use abide_sdk::Json;
use abide_sdk::wire::{HistoryRecord, JournalEntry, Task, WaitpointKind, WaitpointStatus};

use super::program::RACED;

/// What a journal holds under a name, and never changes any more.
#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Result(Json),
    Wait { kind: WaitpointKind, status: WaitpointStatus, payload: Json },
}

type Journal = BTreeMap<String, Entry>;

#[derive(Debug)]
struct Delivery {
    run: String,
    worker: String,
    journal: Journal,
    made: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// By their lease.
    deliveries: HashMap<String, Delivery>,
    /// The different journals that deliveries of a run were handed out with.
    journals: HashMap<String, Vec<Journal>>,
    /// What a call or a wait gave the first time it returned.
    returned: HashMap<(String, String), Json>,
    /// How often a call was tried, and the handler failed at a place.
    tried: HashMap<(String, String), u32>,
    next_value: u64,
    workers: u64,
    wrong: Vec<String>,
}

impl Ledger {
    /// The number of another worker.
    pub(super) fn next_worker(&mut self) -> u64 {
        self.workers += 1;
        self.workers
    }

    /// A handler is entered.
    pub(super) fn begins(&mut self, worker: &str, task: &Task) {
        let journal: Journal = task.journal.iter().filter_map(lasting).collect();
        let known = self.journals.entry(task.run_id.clone()).or_default();
        let contradicted = known.iter().find(|other| !is_part(other, &journal) && !is_part(&journal, other));
        if let Some(other) = contradicted {
            let told = format!("{}: one journal is {other:?}, another is {journal:?}", task.run_id);
            self.wrong.push(told);
        } else if !known.contains(&journal) {
            known.push(journal.clone());
        }
        let (run, worker) = (task.run_id.clone(), worker.to_owned());
        let delivery = Delivery { run, worker, journal, made: BTreeSet::new() };
        if self.deliveries.insert(task.lease_token.clone(), delivery).is_some() {
            self.wrong.push(format!("{}: two deliveries have the same lease", task.run_id));
        }
    }

    /// A call is made: how often it has been by now.
    pub(super) fn makes(&mut self, lease: &str, name: &str) -> u32 {
        let delivery = self.deliveries.get_mut(lease).expect("a handler is entered before it makes a call");
        let run = delivery.run.clone();
        for held in [name.to_owned(), format!("!{name}")] {
            if let Some(entry) = delivery.journal.get(&held) {
                self.wrong.push(format!("{run}: `{name}` is made, and its journal holds {entry:?}"));
            }
        }
        if !delivery.made.insert(name.to_owned()) {
            self.wrong.push(format!("{run}: `{name}` is made twice in one delivery"));
        }
        self.passes(&run, name)
    }

    /// A place of the handler is passed: how often it has been by now.
    pub(super) fn passes(&mut self, run: &str, name: &str) -> u32 {
        let tried = self.tried.entry((run.to_owned(), name.to_owned())).or_default();
        *tried += 1;
        *tried
    }

    /// No two calls give the same, so that whatever is repeated shows.
    pub(super) fn gives(&mut self) -> u64 {
        self.next_value += 1;
        self.next_value
    }

    /// A call returned: with what the journal holds, if it does, and always with the same.
    pub(super) fn returns(&mut self, lease: &str, name: &str, value: &Json) {
        let delivery = &self.deliveries[lease];
        let run = delivery.run.clone();
        match delivery.journal.get(name) {
            None if delivery.made.contains(name) => {}
            Some(Entry::Result(result)) if result == value => {}
            held => self.wrong.push(format!("{run}: `{name}` is {value}, and its journal holds {held:?}")),
        }
        self.gave(run, name, value);
    }

    /// The handler stands still at a wait, and may be suspended there: it is not over.
    pub(super) fn stands_at(&mut self, lease: &str, name: &str) {
        let delivery = &self.deliveries[lease];
        // A branch that lost a race stands where it did, also at a wait that ended before it could be cancelled.
        let has_lost = name.contains(RACED) && delivery.journal.keys().any(|name| name.starts_with("any:"));
        if let Some(entry) = delivery.journal.get(name).filter(|_| !has_lost) {
            let run = &delivery.run;
            self.wrong.push(format!("{run}: `{name}` is waited for, and its journal holds {entry:?}"));
        }
    }

    /// A wait returned: it is over, by the journal, and is the one that was asked for.
    pub(super) fn waited(&mut self, lease: &str, name: &str, asked: WaitpointKind, value: &Json) {
        let delivery = &self.deliveries[lease];
        let run = delivery.run.clone();
        match delivery.journal.get(name) {
            Some(Entry::Wait { kind, .. }) if *kind == asked => {}
            held => self.wrong.push(format!("{run}: `{name}` is over, and its journal holds {held:?}")),
        }
        self.gave(run, name, value);
    }

    /// A race was won: always by the same.
    pub(super) fn won(&mut self, lease: &str, name: &str, winner: &Json) {
        self.gave(self.deliveries[lease].run.clone(), name, winner);
    }

    fn gave(&mut self, run: String, name: &str, value: &Json) {
        let first =
            self.returned.entry((run.clone(), name.to_owned())).or_insert_with(|| value.clone()).clone();
        if first != *value {
            self.wrong.push(format!("{run}: `{name}` was {first}, and is {value}"));
        }
    }

    pub(super) fn is_wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.join("\n")) }
    }

    /// Everything that calls and waits of a run gave.
    pub(super) fn returned_in(&self, run: &str) -> impl Iterator<Item = (&str, &Json)> {
        let of_run = self.returned.iter().filter(move |((of, _), _)| of == run);
        of_run.map(|((_, name), value)| (name.as_str(), value))
    }

    /// Whether the history of a run bears out what was seen of it: every result was recorded once, as every handler got
    /// it, and every execution was handed out with all that was recorded before, and nothing else.
    pub(super) fn check_history(&self, run: &str, history: &[HistoryRecord]) -> Result<(), String> {
        let mut recorded: BTreeMap<&str, &Json> = BTreeMap::new();
        let mut handed_out: HashMap<&str, Vec<BTreeMap<&str, &Json>>> = HashMap::new();
        for HistoryRecord { kind, fields, .. } in history {
            match kind.as_str() {
                "TASK_STARTED" => {
                    let worker = fields["worker"].as_str().unwrap();
                    handed_out.entry(worker).or_default().push(recorded.clone());
                }
                "JOURNAL_RECORDED" => {
                    for entry in fields["entries"].as_array().unwrap() {
                        let name = entry["name"].as_str().unwrap();
                        if let Some(before) = recorded.insert(name, &entry["result"]) {
                            return Err(format!("{run}: `{name}` was recorded as {before}, and as {entry}"));
                        }
                    }
                }
                // What is no part of the model.
                _ => {}
            }
        }
        for delivery in self.deliveries.values().filter(|delivery| delivery.run == run) {
            let given: BTreeMap<&str, &Json> = delivery.journal.iter().filter_map(result).collect();
            if !handed_out.get(&*delivery.worker).is_some_and(|journals| journals.contains(&given)) {
                return Err(format!("{run}: {} was given {given:?}, out of {handed_out:?}", delivery.worker));
            }
        }
        for (name, value) in self.returned_in(run).filter(|(name, _)| name.contains("call-")) {
            if recorded.get(name) != Some(&value) {
                let kept = recorded.get(name);
                return Err(format!("{run}: `{name}` gave {value}, and was recorded as {kept:?}"));
            }
        }
        Ok(())
    }
}

fn result<'j>((name, entry): (&'j String, &'j Entry)) -> Option<(&'j str, &'j Json)> {
    match entry {
        Entry::Result(result) => Some((name, result)),
        Entry::Wait { .. } => None,
    }
}

fn is_part(one: &Journal, other: &Journal) -> bool {
    one.iter().all(|(name, entry)| other.get(name) == Some(entry))
}

/// An entry that stays as it is: a result, or a wait that was waited out. One that a failure cut off is begun again, and
/// a back-off belongs to its call.
fn lasting(entry: &JournalEntry) -> Option<(String, Entry)> {
    let what = match &entry.wait {
        None => Entry::Result(entry.result.clone()),
        Some(wait) => {
            let is_over = matches!(wait.status, WaitpointStatus::Completed | WaitpointStatus::TimedOut);
            let (kind, status) = (wait.kind, wait.status);
            (is_over && kind != WaitpointKind::Retry).then(|| Entry::Wait {
                kind,
                status,
                payload: wait.payload.clone(),
            })?
        }
    };
    Some((entry.name.clone(), what))
}
