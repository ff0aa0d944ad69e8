//! What a run's history says of a race: it is the judge. It is read from the store, past the server.

use abide_core::history::Record;
use serde_json::Value;

pub(crate) struct History(pub(crate) Vec<Record>);

impl History {
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.0.iter().filter(|record| record.change.name() == kind).count()
    }

    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        let found = self.0.iter().filter(|record| record.change.name() == kind);
        found.map(|record| serde_json::to_value(record).unwrap()).collect()
    }

    /// The one record of this type.
    #[track_caller]
    pub(crate) fn one(&self, kind: &str) -> Value {
        let mut found = self.all(kind);
        assert_eq!(found.len(), 1, "{kind}: {:#?}", self.0);
        found.remove(0)
    }

    /// How the run ended: once, and nothing came after it.
    #[track_caller]
    pub(crate) fn end(&self) -> Value {
        let ends = ["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"];
        let ended: Vec<_> = self.0.iter().filter(|record| ends.contains(&record.change.name())).collect();
        assert_eq!((ended.len(), ended.last().copied()), (1, self.0.last()));
        serde_json::to_value(ended[0]).unwrap()
    }

    /// How the run and its one waitpoint ended.
    #[track_caller]
    pub(crate) fn outcome(&self) -> (String, String) {
        let (end, wait) = (self.end(), self.one("WAIT_RESOLVED"));
        (end["type"].as_str().unwrap().to_owned(), wait["status"].as_str().unwrap().to_owned())
    }
}

/// Once the run and once its one waitpoint ended like this.
#[track_caller]
pub(crate) fn ended_as(history: &History, run: &str, wait: &str) {
    assert_eq!(history.outcome(), (run.to_owned(), wait.to_owned()));
}
