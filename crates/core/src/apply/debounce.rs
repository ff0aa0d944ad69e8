//! What happens to a run that collects starts before it begins.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::apply::BadHistory;
use crate::json::Json;
use crate::run::Run;
use crate::shared_map::SharedMap;
use crate::waitpoint::{ListensFor, Waitpoint};

impl Run {
    /// The run is opened by the first of its starts.
    pub(super) fn begin_collecting(&mut self, wait: &Waitpoint) {
        if let Some(collecting) = wait.listens_for.starts().filter(|collecting| collecting.collect) {
            let first = self.input.clone();
            self.snapshot.collected.insert(collecting.starts, first);
        }
    }

    pub(super) fn start_collected(
        &mut self,
        number: u32,
        input: &Json,
        resume_at: Timestamp,
    ) -> Result<(), BadHistory> {
        let wait = self.waitpoint_mut(number)?;
        let ListensFor::Starts(collecting) = &mut wait.listens_for else {
            return Err(BadHistory::Unknown("a wait for starts"));
        };
        collecting.add(input);
        let place = collecting.collect.then_some(collecting.starts);
        wait.resume_at = Some(resume_at);
        if let Some(place) = place {
            self.snapshot.collected.insert(place, input.clone());
        }
        // Until it begins, a run shows what came last.
        self.snapshot.input = input.clone();
        Ok(())
    }

    /// A run that begins gets all inputs that it has collected, in the order in which they came.
    pub(super) fn gather_inputs(&mut self) {
        if self.collected.is_empty() {
            return;
        }
        let inputs: Vec<Value> = self.collected.values().map(|input| Value::clone(input)).collect();
        self.snapshot.input = Json::new(json!({ "inputs": inputs }));
        self.snapshot.collected = SharedMap::new();
    }
}
