//! Limits in a world: which workflows have some, and the rules about them, written a second time. What has room is told here from
//! the statuses of runs and steps alone; what the engine keeps of limits is then compared with that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::capacity::{Ask, CapacityRequest, Limit, LimitSettings, Rank, Setting, SettingChange};
use abide_core::definition::Rate;
use abide_core::definition::{Definition, Holds, Limit as Defined, LimitScope};
use abide_core::history::{Change, Record};
use abide_core::id::{LimitId, RunId, StepAddress, WorkspaceId};
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::status::{RunStatus, StepStatus};
use abide_core::time::Millis;
use abide_core::waitpoint::{Kind, Waitpoint};
use abide_engine::LimitOrder;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::store::State;
use super::world::World;
use crate::choices::CALLS_AT_ONCE;
use crate::world::Check;

/// How often a wait may go from one line to another, by the rule that it takes one after the other in the end.
const MOST_MOVES: u16 = 13;
/// How many are most by any rate that is set here, and how many at once.
const SET_RATE: (u32, u32) = (6, 2);
/// The only key that limits have here.
const KEY: &str = "{{ input.n }}";

/// The workflow with limits on its runs, on its tasks, or on both. In a crowded world all workflows share one limit beside one of
/// their own by key.
pub(super) fn with_limits(random: &mut Random, definition: &Definition, is_crowded: bool) -> Arc<Definition> {
    let mut document = serde_json::to_value(&definition.document).expect("a workflow is JSON");
    let mut limits = Vec::new();
    if is_crowded {
        limits.push(json!({ "name": "tenant", "key": KEY, "concurrency": 2 }));
        limits.push(json!({ "name": "crowd", "scope": "workspace", "concurrency": 2 }));
    }
    if random.below(2) == 0 {
        let when_full = ["queue", "queue", "skip", "replace", "refuse"][random.below(5) as usize];
        limits.push(
            json!({ "name": "single", "key": KEY, "concurrency": 1, "holds": "run", "whenFull": when_full }),
        );
    }
    if random.below(2) == 0 {
        limits.push(json!({ "name": "shared", "scope": "workspace", "concurrency": 2 }));
    }
    if random.below(3) == 0 {
        limits.push(json!({ "name": "paced", "rate": 3, "per": "10m", "burst": 2 }));
    }
    if !limits.is_empty() {
        if random.below(3) == 0 {
            limits[0]["timeout"] = json!("2h");
        }
        document["limits"] = Value::Array(limits);
        document["priority"] = json!("{{ input.n }}");
    }
    for step in document["steps"].as_array_mut().into_iter().flatten() {
        let is_map = step["type"] == "map";
        let step = if is_map { &mut step["step"] } else { step };
        if step["type"] == "task" && random.below(2) == 0 {
            step["limits"] = json!([{ "name": "calls", "scope": "workspace", "concurrency": 2 }]);
        }
    }
    let checked = Definition::from_value(document).expect("limits make no workflow unsound");
    Arc::new(checked.definition)
}

/// When runs began under a rate, by the limit and its key.
#[derive(Debug, Default)]
pub(super) struct Begun(BTreeMap<(Arc<str>, Arc<str>), Vec<Timestamp>>);

impl Begun {
    /// Within any time of a rate, no more begin than it says, and none while it is paused.
    pub(super) fn look_at(&mut self, state: &State, before: &Holding, run: &Run, record: &Record) -> Check {
        if !matches!(record.change, Change::WorkflowStarted { .. }) || was_let_in(run) || run.error.is_some()
        {
            return Ok(());
        }
        for limit in &run.definition.limits {
            let Some(rate) = limit.rate else { continue };
            if before.set(state, &key(run, limit)).is_some_and(|set| set.paused) {
                return Err(format!(
                    "R22: {} began under the rate `{}`, which is paused",
                    run.id, limit.name
                ));
            }
            let begun =
                self.0.entry((Arc::clone(&run.definition_ref.name), Arc::clone(&limit.name))).or_default();
            begun.push(record.at);
            let within =
                begun.iter().filter(|at| **at <= record.at && rate.per.after(**at) > record.at).count();
            // Somebody may have set another rate within that time.
            let most = if state.ever_set { SET_RATE.0 + SET_RATE.1 } else { rate.count + rate.burst - 1 };
            if within > most as usize {
                return Err(format!(
                    "R22: {within} runs began under the rate `{}` within {}",
                    limit.name, rate.per
                ));
            }
        }
        Ok(())
    }
}

/// An operator let it in past a line: then there may be more than a limit says.
fn was_let_in(run: &Run) -> bool {
    let by_hand = |wait: &Waitpoint| wait.resolved_by.as_ref().is_some_and(|by| &*by.0 != "engine");
    run.waitpoints().any(|wait| wait.kind == Kind::Capacity && by_hand(wait))
}

type Key = (Option<String>, String, String);

fn key(run: &Run, limit: &Defined) -> Key {
    let workflow = match limit.scope {
        LimitScope::Workflow => Some(run.definition_ref.name.to_string()),
        LimitScope::Workspace => None,
    };
    let key = limit.key.as_ref().map(|_| run.input.get("n").map(ToString::to_string).unwrap_or_default());
    (workflow, limit.name.to_string(), key.unwrap_or_default())
}

/// What is set for limits.
type Settings = BTreeMap<LimitId, LimitSettings>;

/// A run, or an attempt of one of its steps.
type Who = (RunId, Option<StepAddress>);

/// Who is at work under each limit, by their statuses, with how many may be according to the definition.
fn at_work(state: &State) -> BTreeMap<Key, (u32, BTreeSet<Who>)> {
    let mut has_room: BTreeMap<Key, (u32, BTreeSet<Who>)> = BTreeMap::new();
    let mut add = |run: &Run, limit: &Defined, at: Option<StepAddress>| {
        if let Some(concurrency) = limit.concurrency {
            let (_, holders) = has_room.entry(key(run, limit)).or_insert((concurrency, BTreeSet::new()));
            holders.insert((run.id, at));
        }
    };
    for row in state.runs.values().filter(|row| !was_let_in(&row.run)) {
        let run = &row.run;
        let waits = run.open_waitpoints().any(|wait| wait.kind == Kind::Capacity && wait.at.is_none());
        for limit in &run.definition.limits {
            let is_at_work = match limit.holds {
                Holds::Work => run.status == RunStatus::Running,
                Holds::Run => matches!(run.status, RunStatus::Running | RunStatus::Waiting) && !waits,
            };
            if is_at_work {
                add(run, limit, None);
            }
        }
        for (at, step) in run.step_runs() {
            let is_out = step.task.as_ref().is_some_and(|task| task.out);
            let work = run.defined(at).action.work().filter(|_| is_out && step.status == StepStatus::Running);
            for limit in work.into_iter().flat_map(|work| &work.limits) {
                add(run, limit, Some(at));
            }
        }
    }
    has_room
}

/// No more durable calls are made at once than their limit says, unless somebody let them in.
pub(super) fn check_calls(state: &State) -> Check {
    let mut calls: BTreeMap<LimitId, Vec<(RunId, u32)>> = BTreeMap::new();
    for row in state.runs.values().filter(|row| !was_let_in(&row.run)) {
        for held in row.run.call_rooms() {
            for room in &held.rooms {
                calls.entry(room.limit).or_default().push((row.run.id, held.number));
            }
        }
    }
    match calls.into_values().find(|calls| calls.len() > CALLS_AT_ONCE as usize) {
        Some(calls) => Err(format!("R22: more than {CALLS_AT_ONCE} calls have room: {calls:?}")),
        None => Ok(()),
    }
}

/// Who is at work or has room, before a commit.
#[derive(Debug, Default)]
pub(super) struct Holding {
    who: BTreeMap<LimitId, BTreeSet<Who>>,
    set: Settings,
}

impl Holding {
    pub(super) fn of(state: &State) -> Holding {
        let mut holding = Holding { who: BTreeMap::new(), set: state.limit_settings.clone() };
        for ((workflow, name, key), (_, who)) in at_work(state) {
            let id = LimitId::of(WorkspaceId::DEFAULT, workflow.as_deref(), &name, &key);
            holding.who.entry(id).or_default().extend(who);
        }
        for row in state.runs.values() {
            for held in row.run.held_rooms() {
                for room in &held.rooms {
                    holding.who.entry(room.limit).or_default().insert((row.run.id, held.at));
                }
            }
        }
        holding
    }

    /// What is set for a key; `None` where this commit may set it: what comes before that in the same commit goes by what was
    /// set before, and what is set may be taken back in it.
    fn set(&self, state: &State, (workflow, name, key): &Key) -> Option<Setting> {
        let id = LimitId::of_settings(WorkspaceId::DEFAULT, workflow.as_deref(), name);
        let (before, after) = (self.set.get(&id), state.limit_settings.get(&id));
        let is_set = before != after || state.ordered.contains(&id);
        (!is_set).then(|| after.map(|set| set.of_key(key)).unwrap_or_default())
    }

    /// Whoever is new at work is let in under a limit that is not paused and has room. A limit that was lowered is over until
    /// enough have gone.
    pub(super) fn check(&self, state: &State) -> Check {
        for (key, (defined, who)) in at_work(state) {
            let (workflow, name, of) = &key;
            let id = LimitId::of(WorkspaceId::DEFAULT, workflow.as_deref(), name, of);
            let before = self.who.get(&id);
            let Some(new) = who.iter().find(|who| before.is_none_or(|before| !before.contains(who))) else {
                continue;
            };
            let Some(set) = self.set(state, &key) else { continue };
            if set.paused {
                return Err(format!("R22: {} was let in under `{name}` `{of}`, which is paused", new.0));
            }
            let most = set.concurrency.unwrap_or(defined);
            if who.len() > most as usize {
                return Err(format!("R22: more than {most} have room under `{name}` `{of}`: {who:?}"));
            }
        }
        Ok(())
    }
}

/// Nobody goes from line to line for long: after some moves one limit is taken after the other.
pub(super) fn check_moves(run: &Run) -> Check {
    let moves = run.open_waitpoints().filter_map(|wait| Some(wait.listens_for.capacity()?.moves));
    match moves.max().filter(|moves| *moves > MOST_MOVES) {
        Some(moves) => Err(format!("R23: {} went from line to line {moves} times", run.id)),
        None => Ok(()),
    }
}

/// What is kept of limits is what the runs hold and wait for: nothing leaks.
pub(super) fn check_kept(state: &State) -> Check {
    let mut held: BTreeMap<LimitId, u32> = BTreeMap::new();
    for room in state.runs.values().flat_map(|row| row.run.held_rooms()).flat_map(|held| &held.rooms) {
        *held.entry(room.limit).or_default() += 1;
    }
    for room in state.runs.values().flat_map(|row| row.run.call_rooms()).flat_map(|held| &held.rooms) {
        *held.entry(room.limit).or_default() += 1;
    }
    let collecting = state.runs.values().flat_map(|row| row.run.open_waitpoints());
    for starts in collecting.filter_map(|wait| wait.listens_for.starts()) {
        *held.entry(starts.limit).or_default() += 1;
    }
    let mut waiting: BTreeMap<LimitId, u64> = BTreeMap::new();
    for (_, _, ask) in state.runs.values().flat_map(|row| in_line(&row.run)) {
        *waiting.entry(ask.limit).or_default() += 1;
    }
    let waits = state.runs.values().flat_map(|row| row.run.open_waitpoints());
    for kept in waits.filter_map(|wait| wait.listens_for.capacity()).flat_map(|request| request.kept()) {
        *held.entry(kept).or_default() += 1;
    }
    for limit in state.limits.values() {
        let (has, waits) = (held.remove(&limit.id).unwrap_or(0), waiting.remove(&limit.id).unwrap_or(0));
        if (limit.used, limit.waiting) != (has, waits) {
            return Err(format!(
                "R22: `{}` `{}` has {} that hold room and {} that wait, and runs say {has} and {waits}",
                limit.name, limit.key, limit.used, limit.waiting
            ));
        }
    }
    match held.into_keys().chain(waiting.into_keys()).next() {
        Some(lost) => Err(format!("R22: {lost} is forgotten while somebody has room or waits")),
        None => Ok(()),
    }
}

/// Nobody waits for room that is there.
pub(super) fn check_nobody_forgotten(state: &State, now: Timestamp) -> Check {
    let as_set = |limit: &&Limit| {
        let mut limit = Limit::clone(limit);
        limit.obey(state.limit_settings.get(&limit.settings_id()));
        limit.is_to_grant(now)
    };
    match state.limits.values().find(as_set) {
        Some(limit) => Err(format!("R23: `{}` `{}` has room, and nobody gets it", limit.name, limit.key)),
        None => Ok(()),
    }
}

/// The waits of a run that stand in line, with what they ask there.
fn in_line(run: &Run) -> impl Iterator<Item = (u32, &CapacityRequest, &Ask)> {
    run.open_waitpoints().filter_map(|wait| {
        let request = wait.listens_for.capacity()?;
        Some((wait.number, request, request.awaited()?))
    })
}

/// Waits in one line, with their ranks.
type InLine = BTreeMap<(RunId, u32), Rank>;

/// Who stands in line, before a commit, by the groups that take turns in it.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<(LimitId, Option<LimitId>), InLine>);

impl Lines {
    pub(super) fn of(state: &State) -> Lines {
        let mut lines = Lines::default();
        for row in state.runs.values() {
            for (number, request, ask) in in_line(&row.run) {
                // Who asks several limits may be passed over for another one's sake.
                if request.asks.len() == 1 {
                    let group = request.group_in(usize::from(request.line));
                    let line = lines.0.entry((ask.limit, group)).or_default();
                    line.insert((row.run.id, number), request.rank);
                }
            }
        }
        lines
    }

    /// Who was let in was not behind one that stood in the same line, still does, and whose time was not over (R4).
    pub(super) fn check_order(&self, state: &State) -> Check {
        let wait_of =
            |(run, number): (RunId, u32)| state.runs.get(&run).and_then(|row| row.run.waitpoint(number));
        for line in self.0.values() {
            for (who, rank) in line {
                let granted = wait_of(*who).filter(|wait| {
                    !wait.is_pending() && wait.resolved_by.as_ref().is_some_and(|by| &*by.0 == "engine")
                });
                let Some(granted) = granted.filter(|wait| has_taken(state, who.0, wait.at)) else { continue };
                let stands = |wait: &Waitpoint| {
                    wait.is_pending() && granted.resolved_at.is_some_and(|at| !wait.is_due(at))
                };
                let is_passed_over = |(other, other_rank): &(&(RunId, u32), &Rank)| {
                    **other_rank < *rank && wait_of(**other).is_some_and(stands)
                };
                if let Some((first, _)) = line.iter().find(is_passed_over) {
                    return Err(format!("R23: {} was let in before {}, who came first", who.0, first.0));
                }
            }
        }
        Ok(())
    }
}

fn has_taken(state: &State, run: RunId, at: Option<StepAddress>) -> bool {
    state.runs.get(&run).is_some_and(|row| row.run.rooms_of(at).is_some_and(|held| held.is_complete))
}

impl World {
    /// An operator sets something for a limit, for all keys or for one.
    pub(super) fn set_limit(&mut self) -> Check {
        let Some(node) = self.some_node() else { return Ok(()) };
        let Some(name) = self.pick(&["single", "shared", "shared", "paced", "calls"]) else { return Ok(()) };
        let is_shared = name == "shared" || name == "calls";
        let workflow = (!is_shared).then(|| Arc::from(format!("workflow-{}", self.random.below(3))));
        let key = (name == "single" && self.chance(2)).then(|| Arc::from(self.random.below(10).to_string()));
        let change = match self.random.below(5) {
            0 => SettingChange { paused: Some(true), ..SettingChange::default() },
            1 => SettingChange { paused: Some(false), ..SettingChange::default() },
            2 => SettingChange { concurrency: Some(None), rate: Some(None), paused: None },
            _ if name == "paced" => {
                let count = 1 + u32::try_from(self.random.below(u64::from(SET_RATE.0))).unwrap_or(0);
                let rate = Rate { count, per: Millis(600_000), burst: 1 };
                SettingChange { rate: Some(Some(rate)), ..SettingChange::default() }
            }
            _ => {
                let most = 1 + u32::try_from(self.random.below(3)).unwrap_or(0);
                SettingChange { concurrency: Some(Some(most)), ..SettingChange::default() }
            }
        };
        self.store.state().ever_set = true;
        self.call_set_limit(node, LimitOrder { workflow, name: name.into(), key, change });
        Ok(())
    }

    /// All limits are as definitions say again.
    pub(super) fn remove_limit_settings(&mut self) -> Check {
        let change = SettingChange { concurrency: Some(None), rate: Some(None), paused: Some(false) };
        for _ in 0..3 {
            let set: Vec<_> = self.store.state().limit_settings.values().cloned().collect();
            for settings in set {
                let keys = settings.keys.keys().cloned().map(Some).chain([None]);
                for key in keys {
                    let Some(node) = self.some_node() else { continue };
                    let (workflow, name) = (settings.workflow.clone(), Arc::clone(&settings.name));
                    self.call_set_limit(node, LimitOrder { workflow, name, key, change });
                }
            }
            self.let_pass(Millis(4_500))?;
        }
        match self.store.state().limit_settings.values().next() {
            Some(settings) => Err(format!("what is set for `{}` cannot be removed", settings.name)),
            None => Ok(()),
        }
    }
}
