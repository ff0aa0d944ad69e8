//! Other versions of the random workflows, and operators who move runs between them.

use std::sync::Arc;

use abide_core::command::{Command, Move};
use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::random::Random;
use abide_core::run::Run;
use serde_json::{Value, json};

use crate::world::{Check, Request, World};

/// Worlds with moves draw from this, and other worlds stay what they were: the seeds that are kept are among those.
const SALT: u64 = 555;
/// One move in so many actions.
const RARE: u64 = 8;
/// Versions of all workflows of a world.
const VERSIONS: usize = 60;

/// In half of the worlds runs are moved.
pub(crate) fn chance(seed: u64) -> Option<Random> {
    let mut random = Random::new(seed ^ SALT);
    (random.below(2) == 0).then_some(random)
}

impl World {
    /// Somebody moves a run to another version, or tries to.
    pub(crate) fn move_some_run(&mut self) -> Check {
        let Some(mut random) = self.moving.take() else { return Ok(()) };
        let request = self.some_move(&mut random);
        self.moving = Some(random);
        match request {
            Some(request) => self.send(request),
            None => Ok(()),
        }
    }

    fn some_move(&mut self, random: &mut Random) -> Option<Request> {
        if random.below(RARE) > 0 {
            return None;
        }
        // What the engine derives has no versions of its own.
        let is_stored = |run: &Run| self.store.definitions.contains_key(run.definition.name());
        let open = self
            .store
            .runs
            .values()
            .filter(|stored| !stored.run.status.has_ended() && is_stored(&stored.run));
        let open: Vec<(RunId, Arc<Definition>)> =
            open.map(|stored| (stored.run.id, Arc::clone(&stored.run.definition))).collect();
        let (run, definition) = pick(random, &open)?.clone();
        let known: Vec<Arc<Definition>> = self
            .store
            .versions
            .iter()
            .filter(|version| version.name() == definition.name())
            .cloned()
            .collect();
        let to = if self.store.versions.len() >= VERSIONS || random.below(4) == 0 {
            Arc::clone(pick(random, &known)?)
        } else {
            let version = Arc::new(another(random, &definition, self.store.versions.len())?);
            self.tell(|| format!("version {}", serde_json::to_string(&version.document).unwrap_or_default()));
            self.store.versions.push(Arc::clone(&version));
            version
        };
        Some(Request { run, command: Command::Move(Move { to }), by: "operator", key: None })
    }
}

fn pick<'a, T>(random: &mut Random, among: &'a [T]) -> Option<&'a T> {
    let count = u64::try_from(among.len()).ok().filter(|count| *count > 0)?;
    among.get(usize::try_from(random.below(count)).ok()?)
}

/// The workflow with something changed; `None` if that makes no workflow.
fn another(random: &mut Random, definition: &Definition, number: usize) -> Option<Definition> {
    let mut document = serde_json::to_value(&definition.document).ok()?;
    document["version"] = json!(format!("v{number}"));
    for _ in 0..=random.below(2) {
        change(random, document["steps"].as_array_mut()?, number);
    }
    Definition::from_value(document).ok().map(|checked| checked.definition)
}

fn change(random: &mut Random, steps: &mut Vec<Value>, number: usize) {
    if steps.is_empty() {
        return;
    }
    let place = usize::try_from(random.below(steps.len() as u64)).unwrap_or(0);
    let is_graph = steps.iter().any(|step| step.get("after").is_some());
    match random.below(7) {
        0 | 1 => {
            let mut new = match random.below(3) {
                0 => json!({ "type": "wait", "duration": "1h" }),
                1 => {
                    json!({ "type": "external_event", "signalType": "a", "timeout": "2h", "onTimeout": "continue" })
                }
                _ => json!({ "type": "task", "handler": "work" }),
            };
            new["name"] = json!(format!("n{number}-{}", random.below(1_000_000)));
            if is_graph && random.below(2) == 0 {
                new["after"] = json!([steps[place]["name"]]);
            }
            let place = if is_graph || random.below(2) == 0 { steps.len() } else { place };
            steps.insert(place, new);
        }
        2 => {
            let name = steps.remove(place)["name"].clone();
            for after in steps.iter_mut().filter_map(|step| step.get_mut("after")?.as_array_mut()) {
                after.retain(|before| *before != name);
            }
        }
        3 => steps[place]["timeout"] = json!("3h"),
        4 => steps[place]["signalType"] = json!("b"),
        5 => steps[place]["when"] = json!("input.n > 1"),
        _ => {
            let last = steps.len() - 1;
            steps.swap(place, last);
        }
    }
}
