//! What was acknowledged.

use std::collections::HashMap;
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
    completions: AtomicUsize,
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
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn said(&self, run: &str, what: Value) {
        self.runs().get_mut(run).unwrap().said = Some(what);
    }

    pub(crate) fn completed(&self, run: &str, step: &str, output: Value) {
        let mut runs = self.runs();
        let unknown = Started { kind: Kind::Chain, said: None, outputs: HashMap::new() };
        let known = runs.entry(run.to_owned()).or_insert(unknown);
        known.outputs.insert(step.to_owned(), output);
        self.completions.fetch_add(1, Ordering::SeqCst);
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
    }

    /// How many starts and completions were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// About how many runs have tasks left.
    pub(crate) fn under_way(&self) -> usize {
        (self.runs().len() * 7 / 4).saturating_sub(self.completions.load(Ordering::SeqCst))
    }
}
