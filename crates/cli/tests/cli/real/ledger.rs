//! What was acknowledged.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sleeper,
    Signalled,
    Listener,
    Chain,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Sleeper, Kind::Signalled, Kind::Listener, Kind::Chain];

    pub(crate) fn workflow(self) -> &'static str {
        match self {
            Kind::Sleeper => "sleeper",
            Kind::Signalled => "signalled",
            Kind::Listener => "listener",
            Kind::Chain => "chain",
        }
    }

    /// How many tasks it has.
    fn tasks(self) -> usize {
        match self {
            Kind::Sleeper | Kind::Listener => 1,
            Kind::Signalled => 2,
            Kind::Chain => 3,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Started {
    pub(crate) kind: Kind,
    /// The signal or event that was sent to it.
    pub(crate) said: Option<Value>,
    /// The outputs that were acknowledged, by step.
    pub(crate) outputs: HashMap<String, Value>,
}

#[derive(Default)]
pub(crate) struct Ledger {
    runs: Mutex<HashMap<String, Started>>,
    /// Tasks of the runs that were acknowledged.
    tasks: AtomicUsize,
    /// Tasks that are known to be done, by run and step.
    done: Mutex<HashSet<(String, String)>>,
    acknowledged: AtomicUsize,
}

impl Ledger {
    pub(crate) fn runs(&self) -> MutexGuard<'_, HashMap<String, Started>> {
        self.runs.lock().unwrap()
    }

    pub(crate) fn started(&self, run: &str, kind: Kind) {
        let mut runs = self.runs();
        // A worker may have been quicker than the answer.
        let known =
            runs.entry(run.to_owned()).or_insert(Started { kind, said: None, outputs: HashMap::new() });
        known.kind = kind;
        self.tasks.fetch_add(kind.tasks(), Ordering::SeqCst);
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn said(&self, run: &str, what: Value) {
        self.runs().get_mut(run).unwrap().said = Some(what);
    }

    pub(crate) fn completed(&self, run: &str, step: &str, output: Value) {
        self.done(run, step);
        let mut runs = self.runs();
        let unknown = Started { kind: Kind::Chain, said: None, outputs: HashMap::new() };
        let known = runs.entry(run.to_owned()).or_insert(unknown);
        known.outputs.insert(step.to_owned(), output);
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    /// A task is done, though nobody was told: the answer to its report was lost, or the report was somebody else's.
    pub(crate) fn done(&self, run: &str, step: &str) {
        self.done.lock().unwrap().insert((run.to_owned(), step.to_owned()));
    }

    /// How many starts and completions were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// How many tasks are left.
    pub(crate) fn under_way(&self) -> usize {
        self.tasks.load(Ordering::SeqCst).saturating_sub(self.done.lock().unwrap().len())
    }
}
