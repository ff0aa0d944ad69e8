//! The world of one seed: time, chance, the store, and the nodes on it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::{DefinitionId, EventUid, RunId, ScheduleId, WorkspaceId};
use abide_core::random::Random;
use abide_core::time::Millis;
use abide_engine::Stats;
use abide_store::{Batch, EventStartWrite, NewDefinition, Store};
use jiff::Timestamp;

use super::agenda::{Agenda, Event, Life};
use super::calls::{Call, Retry};
use super::debounce;
use super::defect::Defect;
use super::event_starts;
use super::node::Node;
use super::rules::Rules;
use super::store::{Kind, SimStore};
use super::workers::InHand;
use crate::choices::Choices;
use crate::definitions;
use crate::groups;
use crate::world::{Check, Report, Violation};

/// How many things chance does before the world calms down.
const ACTIONS: u32 = 250;
/// How much of a failing seed's story is told, unless all of it is asked for.
const STORY_LINES: usize = 400;
/// Draws for what only worlds of engines have, so that the workflows are those of other worlds.
const SALT: u64 = 0x0E16_11E5;

/// What a world is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How many engines there are. One has its store to itself, several are a cluster.
    pub nodes: usize,
    /// Whether workflows have limits.
    pub limits: bool,
    /// Whether all workflows share a limit beside one by key, and durable calls have limits; with `limits`.
    pub crowded: bool,
    /// Whether there are workflows whose starts are debounced.
    pub debounce: bool,
    /// What is broken on purpose.
    pub defect: Option<Defect>,
    /// How much of a failing seed's story is told.
    pub story_lines: usize,
}

impl Setting {
    pub fn of(nodes: usize) -> Setting {
        Setting {
            nodes: nodes.max(1),
            limits: false,
            crowded: false,
            debounce: false,
            defect: None,
            story_lines: STORY_LINES,
        }
    }

    fn kind(self) -> Kind {
        if self.nodes == 1 { Kind::OneWriter } else { Kind::Cluster }
    }
}

/// Lives through one seed.
pub fn simulate(seed: u64, setting: Setting) -> Result<Report, Box<Violation>> {
    World::new(seed, setting, false).live().map_err(|_| {
        // Seldom needed and costly, so the story is told by living through it again.
        let mut world = World::new(seed, setting, true);
        let rule =
            world.live().err().unwrap_or_else(|| "the seed gave another outcome the second time".to_owned());
        let limits = if setting.limits { " --limits" } else { "" };
        let crowded = if setting.crowded { " --crowded" } else { "" };
        let debounce = if setting.debounce { " --debounce" } else { "" };
        let command = format!("--engine --nodes {}{limits}{crowded}{debounce} --seed {seed}", setting.nodes);
        Box::new(Violation { seed, rule, command, transcript: world.transcript.into() })
    })
}

pub(super) struct World {
    seed: u64,
    pub(super) random: Random,
    /// By the store's clock, which is the true one.
    pub(super) now: Timestamp,
    pub(super) setting: Setting,
    pub(super) store: SimStore,
    pub(super) nodes: Vec<Node>,
    pub(super) agenda: Agenda,
    /// What was deployed, by name.
    pub(super) definitions: BTreeMap<String, Arc<Definition>>,
    pub(super) calls: Vec<Call>,
    /// What was not answered, and is asked for again.
    pub(super) retries: VecDeque<Retry>,
    /// Tasks that workers believe to have.
    pub(super) in_hand: Vec<InHand>,
    pub(super) schedules: Vec<ScheduleId>,
    /// The events that clients were told are sent to everyone.
    pub(super) sent: BTreeSet<EventUid>,
    /// What the first answer under the key of a start was.
    pub(super) started: BTreeMap<String, RunId>,
    pub(super) rules: Rules,
    /// What nodes said of themselves when they were asked.
    pub(super) stats: Vec<Stats>,
    /// No more faults.
    pub(super) calm: bool,
    pub(super) numbers: u64,
    pub(super) report: Report,
    transcript: VecDeque<String>,
    tells: bool,
}

impl World {
    fn new(seed: u64, setting: Setting, tells: bool) -> World {
        let now: Timestamp = "2026-03-01T00:00:00Z".parse().expect("an instant");
        let store = SimStore::new(setting.kind());
        {
            let mut state = store.state();
            state.now = now;
            state.defect = setting.defect;
        }
        World {
            seed,
            random: Random::new(seed),
            now,
            setting,
            store,
            nodes: (0..setting.nodes).map(Node::dead).collect(),
            agenda: Agenda::default(),
            definitions: BTreeMap::new(),
            calls: Vec::new(),
            retries: VecDeque::new(),
            in_hand: Vec::new(),
            schedules: Vec::new(),
            sent: BTreeSet::new(),
            started: BTreeMap::new(),
            rules: Rules::default(),
            stats: Vec::new(),
            calm: false,
            numbers: 0,
            report: Report::default(),
            transcript: VecDeque::new(),
            tells,
        }
    }

    fn live(&mut self) -> Check<Report> {
        self.deploy()?;
        self.random = Random::new(self.random.draw() ^ SALT);
        for node in 0..self.nodes.len() {
            self.restart(node)?;
        }
        self.agenda.add(self.now, Event::Act);
        let mut actions = 0;
        while actions < ACTIONS {
            let Some((at, event)) = self.agenda.next(Timestamp::MAX) else { break };
            self.pass_until(at);
            if matches!(event, Event::Act) {
                actions += 1;
                self.act()?;
                let pause = Millis(self.random.below(400));
                self.agenda.add(pause.after(self.now), Event::Act);
            } else {
                self.happen(event)?;
            }
        }
        self.heal()?;
        self.report.hash = self.rules.hash();
        self.report.runs = self.store.state().runs.len() as u64;
        self.report.seen.extend(self.rules.seen().clone());
        Ok(self.report.clone())
    }

    /// The workflows of other worlds; some of their tasks are for handlers in the nodes themselves.
    fn deploy(&mut self) -> Check {
        let children: Vec<String> = (0..2).map(|index| format!("child-{index}")).collect();
        let mut all: Vec<(String, Arc<Definition>)> = Vec::new();
        for name in &children {
            all.push((name.clone(), definitions::leaf(&mut self.random, name)));
        }
        for index in 0..3 {
            let name = format!("workflow-{index}");
            all.push((name.clone(), definitions::generate(&mut self.random, &name, &children)));
        }
        let mut grouping = groups::chance(self.seed);
        for (name, definition) in &mut all {
            if let Some(grouping) = grouping.as_mut().filter(|_| !children.contains(name)) {
                *definition = groups::with_groups(grouping, definition, &children);
            }
            *definition = definitions::with_local_handlers(&mut self.random, definition);
            if self.setting.limits {
                *definition = super::limits::with_limits(&mut self.random, definition, self.setting.crowded);
            }
            debug_assert_eq!(name, definition.name());
        }
        if self.setting.debounce {
            all.extend(debounce::workflows());
        }
        all.push((event_starts::WORKFLOW.to_owned(), event_starts::workflow()));
        for (name, definition) in all {
            let document = serde_json::to_string(&definition.document).map_err(|error| error.to_string())?;
            self.tell(|| format!("{name}: {document}"));
            let id = DefinitionId::new(self.now, self.random.draw_u128());
            let new = NewDefinition {
                id,
                workspace: WorkspaceId::DEFAULT,
                name: definition.name(),
                version: definition.version(),
                document: &document,
                awaits: &[],
                created_at: self.now,
            };
            let ids: BTreeSet<&str> = definition.start_on.iter().map(|on| &*on.event_id).collect();
            let write = |event_id| EventStartWrite {
                workspace: WorkspaceId::DEFAULT,
                event_id,
                workflow: definition.name(),
                refused: None,
            };
            let event_starts = ids.into_iter().map(write).collect();
            let batch = Batch { definitions: vec![new], event_starts, ..Batch::default() };
            let written = self.store.commit(&batch);
            written.map_err(|error| error.to_string())?;
            self.definitions.insert(name, definition);
        }
        Ok(())
    }

    /// Everything that is to happen until then happens, and nothing that chance does.
    pub(super) fn let_pass(&mut self, length: Millis) -> Check {
        let until = length.after(self.now);
        while let Some((at, event)) = self.agenda.next(until) {
            self.pass_until(at);
            if !matches!(event, Event::Act) {
                self.happen(event)?;
            }
        }
        self.pass_until(until);
        Ok(())
    }

    fn happen(&mut self, event: Event) -> Check {
        match event {
            Event::Wake { life, wish } => self.wake(life, wish),
            Event::Arrive { life, input } => self.arrive(life, *input),
            Event::Done { life, done } => self.is_done(life, *done),
            Event::Commit(commit) => self.commit_arrives(*commit),
            Event::Heartbeat(life) => self.heartbeat(life),
            Event::Thaw(life) => self.thaw(life),
            Event::Restart(node) => self.restart(node),
            Event::Act => Ok(()),
        }
    }

    /// Time goes on. After a jump, what was to happen before happens late.
    pub(super) fn pass_until(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
        self.store.state().now = self.now;
    }

    pub(super) fn after(&mut self, length: Millis, event: Event) {
        self.agenda.add(length.after(self.now), event);
    }

    pub(super) fn life(&self, node: usize) -> Life {
        Life { node, number: self.nodes[node].life }
    }

    /// Whether the story is told.
    pub(super) fn tells(&self) -> bool {
        self.tells
    }

    pub(super) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.tells {
            if self.transcript.len() >= self.setting.story_lines {
                self.transcript.pop_front();
            }
            let line = format!("{} {}", self.now, line());
            self.transcript.push_back(line);
        }
    }

    pub(super) fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// A fault, unless the world is calm.
    pub(super) fn fault(&mut self, one_in: u64) -> bool {
        !self.calm && self.chance(one_in)
    }

    pub(super) fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        self.choices().pick(among)
    }

    pub(super) fn choices(&mut self) -> Choices<'_> {
        let runs = self.store.state().runs.len();
        let call_limits = self.setting.crowded;
        Choices { random: &mut self.random, now: self.now, runs, call_limits }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}
