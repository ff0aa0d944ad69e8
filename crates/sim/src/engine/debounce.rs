//! Workflows whose starts are debounced, and the rules of that, written a second time: a start that was acknowledged is in one
//! run and once; a run begins with all of its starts, not before the quiet time is over and not later than it may.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::history::{Change, Record};
use abide_core::id::RunId;
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::CLOCK;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::store::State;
use crate::world::Check;

/// Gets the inputs of all starts.
const ALL: &str = "debounced-all";
/// Gets the input of the last start.
const LAST: &str = "debounced-last";
const QUIET: Millis = Millis(2_000);
const AT_MOST: Millis = Millis(7_000);
const SIZE: usize = 6;

pub(super) fn workflows() -> Vec<(String, Arc<Definition>)> {
    let debounce = |collect: bool| {
        let mut debounce =
            json!({ "key": "{{ input.of }}", "quietMs": QUIET.0, "atMostMs": AT_MOST.0, "collect": collect });
        if collect {
            debounce["size"] = json!(SIZE);
        }
        debounce
    };
    let workflow = |name: &str, collect: bool| {
        let document = json!({
            "name": name, "debounce": debounce(collect),
            "steps": [{ "name": "nap", "type": "wait", "duration": "10m" }],
        });
        let checked = Definition::from_value(document).expect("the workflow is sound");
        (name.to_owned(), Arc::new(checked.definition))
    };
    vec![workflow(ALL, true), workflow(LAST, false)]
}

/// A start, told apart from all others by a number.
pub(super) fn start(random: &mut Random, number: u64) -> (String, Value) {
    let name = if random.below(3) == 0 { LAST } else { ALL };
    (name.to_owned(), json!({ "of": random.below(2), "start": number }))
}

fn is_debounced(run: &Run) -> bool {
    [ALL, LAST].contains(&&*run.definition_ref.name)
}

fn number(input: &Value) -> Option<u64> {
    input.get("start").and_then(Value::as_u64)
}

/// The number of the start that a record is of.
fn started(change: &Change) -> Option<u64> {
    if let Change::WorkflowCreated(creation) = change {
        number(&creation.input)
    } else if let Change::StartCollected { input, .. } = change {
        number(input)
    } else {
        None
    }
}

/// What was recorded of one run that collects.
#[derive(Debug, Default)]
struct OfRun {
    numbers: Vec<u64>,
    first: Timestamp,
    last: Timestamp,
    /// Somebody has moved its beginning since the last start.
    moved: bool,
    ended_by: Option<String>,
}

/// The starts that runs have collected, by their records.
#[derive(Debug, Default)]
pub(super) struct Starts {
    runs: BTreeMap<RunId, OfRun>,
    seen: BTreeSet<u64>,
}

impl Starts {
    pub(super) fn look_at(&mut self, run: &Run, record: &Record) -> Check {
        if !is_debounced(run) {
            return Ok(());
        }
        let of = self.runs.entry(run.id).or_default();
        let change = &record.change;
        if let Change::WorkflowCreated(_) = change {
            (of.first, of.last) = (record.at, record.at);
        } else if let Change::StartCollected { resume_at, .. } = change {
            of.last = record.at;
            of.moved = false;
            let by_rule = QUIET.after(record.at).min(AT_MOST.after(of.first));
            if *resume_at != by_rule {
                return Err(format!("{} is to begin at {resume_at}, and not at {by_rule}", run.id));
            }
        } else if let Change::WaitRescheduled { .. } = change {
            of.moved = true;
        } else if let Change::WaitResolved { .. } = change {
            of.ended_by.get_or_insert_with(|| record.by.0.to_string());
        } else if let Change::WorkflowStarted { .. } = change {
            return of.begins(run, record);
        }
        let Some(number) = started(change) else { return Ok(()) };
        of.numbers.push(number);
        if self.seen.insert(number) {
            Ok(())
        } else {
            Err(format!("start {number} is there twice, in {} the second time", run.id))
        }
    }
}

impl OfRun {
    fn begins(&self, run: &Run, record: &Record) -> Check {
        let got: Vec<u64> = if &*run.definition_ref.name == ALL {
            let inputs = run.input.get("inputs").and_then(Value::as_array);
            inputs.into_iter().flatten().filter_map(number).collect()
        } else {
            number(&run.input).into_iter().collect()
        };
        let wanted = if &*run.definition_ref.name == ALL {
            &self.numbers[..]
        } else {
            &self.numbers[self.numbers.len() - 1..]
        };
        if got != wanted {
            return Err(format!("{} was started by {wanted:?}, and begins with {got:?}", run.id));
        }
        let is_full = &*run.definition_ref.name == ALL && self.numbers.len() >= SIZE;
        if self.moved || is_full || self.ended_by.as_deref() != Some(CLOCK) {
            return Ok(());
        }
        let due = QUIET.after(self.last).min(AT_MOST.after(self.first));
        if record.at < due {
            return Err(format!("{} begins at {}, before {due}", run.id, record.at));
        }
        Ok(())
    }
}

/// No two runs collect the starts of one key.
pub(super) fn check_alone(state: &State) -> Check {
    let mut collecting: BTreeMap<(String, String), RunId> = BTreeMap::new();
    for run in state.runs.values().map(|row| &row.run).filter(|run| is_debounced(run)) {
        let Some(starts) = run.open_waitpoints().find_map(|wait| wait.listens_for.starts()) else { continue };
        let key = (run.definition_ref.name.to_string(), starts.key.to_string());
        if let Some(other) = collecting.insert(key, run.id) {
            return Err(format!("{other} and {} collect the starts of one key", run.id));
        }
    }
    Ok(())
}

/// What a client was told is so: its start is in the history of the run.
pub(super) fn check_acknowledged(state: &State, input: &Value, run: RunId) -> Check {
    let Some(wanted) = number(input) else { return Ok(()) };
    let is_it = |record: &Record| started(&record.change) == Some(wanted);
    match state.runs.get(&run) {
        Some(row) if row.history.iter().any(is_it) => Ok(()),
        Some(_) | None => Err(format!("start {wanted} was acknowledged as {run}, which does not have it")),
    }
}
