//! Tells the log of waits that are longer than people usually mean. A definition is warned about when it is checked; what only
//! a run knows (a template, an instant, a handler's sleep, a deadline that was moved) is seen here, when it begins.

use std::collections::HashSet;
use std::sync::Arc;

use abide_core::history::{Change, Record};
use abide_core::limits;
use abide_core::run::Run;
use abide_core::waitpoint::Waitpoint;
use jiff::Timestamp;

/// How many steps are remembered as told: each is named once, or a million sleepers would fill the log.
const TOLD: usize = 1_000;

#[derive(Default)]
pub(crate) struct LongWaits {
    told: HashSet<(Arc<str>, Arc<str>, String)>,
}

impl LongWaits {
    /// Looks at what was committed, and warns of each step once.
    pub(crate) fn look_at(&mut self, run: &Run, records: &[Record]) {
        for (step, until) in records.iter().flat_map(|record| long_ones(run, record)) {
            let (name, version) = (&run.definition_ref.name, &run.definition_ref.version);
            let is_new = self.told.len() < TOLD
                && self.told.insert((Arc::clone(name), Arc::clone(version), step.clone()));
            if is_new {
                let usual = limits::WAIT_WITHOUT_WARNING;
                tracing::warn!(workflow = %name, %version, %step, run = %run.id, %until, "a wait of more than {usual} begins; it is told once for each step");
            }
        }
    }
}

/// The waits of a record that are long, by the step they belong to.
fn long_ones(run: &Run, record: &Record) -> Vec<(String, Timestamp)> {
    let latest = limits::WAIT_WITHOUT_WARNING.after(record.at);
    let is_long = |until: &Timestamp| *until > latest;
    let step = |wait: &Waitpoint| wait.at.map_or_else(|| "(start)".to_owned(), |at| step_name(run, at.step));
    if let Change::WaitRescheduled { number, resume_at } = &record.change {
        let moved = run.waitpoint(*number).filter(|_| is_long(resume_at));
        return moved.map(|wait| (step(wait), *resume_at)).into_iter().collect();
    }
    let opened = record.change.opens().iter();
    opened.filter_map(|wait| Some((step(wait), wait.resume_at.filter(is_long)?))).collect()
}

/// The name of a step; the items of a map are one step.
fn step_name(run: &Run, step: u16) -> String {
    run.definition.step(step).name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::command::{Context, NewRun, start};
    use abide_core::definition::Definition;
    use abide_core::id::RunId;
    use abide_core::waitpoint::Actor;
    use serde_json::json;

    fn started(step: serde_json::Value) -> (Run, Vec<Record>) {
        let document = json!({ "name": "w", "steps": [step] });
        let definition = Arc::new(Definition::from_value(document).unwrap().definition);
        let new = NewRun::new(RunId(1), definition, json!({ "length": "200d" }).into());
        let now = "2026-03-01T00:00:00Z".parse().unwrap();
        let context = Context {
            now,
            random: 1,
            by: Actor::new("tester"),
            traceparent: None,
            bounds: Default::default(),
        };
        let (run, outcome) = start(new, &context).unwrap();
        (run, outcome.records)
    }

    /// E17: a long wait that only the run knows warned nowhere.
    #[test]
    fn a_long_wait_that_only_the_run_knows_is_told_once_for_its_step() {
        let mut long = LongWaits::default();
        for step in [
            json!({ "name": "nap", "type": "wait", "duration": "{{ input.length }}" }),
            json!({ "name": "until", "type": "wait", "untilTimestamp": "2026-10-01T00:00:00Z" }),
        ] {
            let (run, records) = started(step);
            long.look_at(&run, &records);
            long.look_at(&run, &records);
        }
        let mut steps: Vec<&str> = long.told.iter().map(|(_, _, step)| step.as_str()).collect();
        steps.sort_unstable();
        assert_eq!(steps, ["nap", "until"]);
    }

    #[test]
    fn a_wait_of_thirty_days_is_not_long() {
        let (run, records) = started(json!({ "name": "nap", "type": "wait", "duration": "30d" }));
        let mut long = LongWaits::default();
        long.look_at(&run, &records);
        assert!(long.told.is_empty());
    }
}
