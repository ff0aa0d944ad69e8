//! Runs to be stored: workflows in which something can happen, and what has happened but is not committed yet.

use std::sync::Arc;

use abide_core::command::{Command, Context, DeliverEvent, Event, NewRun, TaskCompleted, TaskStarted};
use abide_core::command::{decide, start};
use abide_core::definition::Definition;
use abide_core::history::Record;
use abide_core::id::{DefinitionId, EventUid, RunId, StepAddress, WorkspaceId};
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::run::{Run, Timer};
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{Batch, Culprit, Error, NewDefinition, RunUpdate, RunWrite, Store};

/// Chance and a clock that is moved by hand.
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) random: Random,
    /// Where what is begun or sent belongs.
    pub(crate) workspace: WorkspaceId,
}

impl World {
    pub(crate) fn new() -> World {
        World::of(7)
    }

    pub(crate) fn of(seed: u64) -> World {
        let now = "2026-03-01T09:00:00.123456789Z".parse().expect("an instant");
        World { now, random: Random::new(seed), workspace: WorkspaceId::DEFAULT }
    }

    pub(crate) fn pass(&mut self, length: SignedDuration) {
        self.now += length;
    }

    pub(crate) fn start(&mut self, definition: &Arc<Definition>, input: Value) -> Story {
        self.start_tagged(definition, input, &[])
    }

    pub(crate) fn start_tagged(
        &mut self,
        definition: &Arc<Definition>,
        input: Value,
        tags: &[&str],
    ) -> Story {
        let id = RunId::new(self.now, self.random.draw_u128());
        let mut new = NewRun::new(id, Arc::clone(definition), Json::new(input));
        new.workspace = self.workspace;
        new.tags = tags.iter().map(|tag| Arc::from(*tag)).collect();
        let (run, outcome) = start(new, &self.context()).expect("the run can be started");
        Story { run, committed: 0, history: outcome.records }
    }

    pub(crate) fn tell(&mut self, story: &mut Story, command: Command) {
        let outcome =
            decide(&mut story.run, command, &self.context()).expect("the command can be carried out");
        story.history.extend(outcome.records);
    }

    /// What is refused changes nothing.
    pub(crate) fn try_tell(&mut self, story: &mut Story, command: Command) {
        if let Ok(outcome) = decide(&mut story.run, command, &self.context()) {
            story.history.extend(outcome.records);
        }
    }

    /// The first wait ends when its time has come.
    pub(crate) fn wake(&mut self, story: &mut Story) {
        let wait = story.run.open_waitpoints().next().expect("the run waits");
        let (number, at) = (wait.number, wait.resume_at.expect("the wait ends"));
        self.now = self.now.max(at);
        self.tell(story, Command::TimerFired(Timer::Waitpoint(number)));
    }

    /// A worker takes the first task of a step and completes it.
    pub(crate) fn work(&mut self, story: &mut Story, step: u16) {
        let (at, worker) = (StepAddress::step(step), Arc::from("worker-1"));
        let task = story.run.step(at).and_then(|step| step.task.as_ref()).expect("the step has a task");
        let lease_epoch = task.lease_epoch;
        self.tell(
            story,
            Command::TaskStarted(TaskStarted { at, lease_epoch, worker, from: None, build: None }),
        );
        let output = Json::new(json!({ "pages": 1.5 }));
        let state_updates = Some([("doc".to_owned(), Json::new(json!("text")))].into());
        self.tell(story, Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates }));
    }

    pub(crate) fn deliver(&mut self, story: &mut Story, number: u32, event: &Event) {
        let event = event.clone();
        self.tell(story, Command::DeliverEvent(DeliverEvent { number, event }));
    }

    pub(crate) fn event(&mut self, event_id: &str, data: Value) -> Event {
        let id = EventUid::new(self.now, self.random.draw_u128());
        let (workspace, data, received_at) = (self.workspace, Json::new(data), self.now);
        Event { id, workspace, event_id: event_id.into(), data, received_at, run: None }
    }

    pub(crate) fn definition<'a>(
        &mut self,
        name: &'a str,
        version: &'a str,
        document: &'a str,
    ) -> NewDefinition<'a> {
        let id = DefinitionId::new(self.now, self.random.draw_u128());
        NewDefinition {
            id,
            workspace: self.workspace,
            name,
            version,
            document,
            awaits: &[],
            created_at: self.now,
        }
    }

    fn context(&mut self) -> Context {
        let traceparent =
            Some(Traceparent { trace_id: 7, span_id: self.random.draw() | 1, is_sampled: true });
        Context {
            now: self.now,
            random: self.random.draw(),
            by: Actor::new("tester"),
            traceparent,
            bounds: Default::default(),
        }
    }
}

/// A run and all its history, of which the store has a part.
#[derive(Clone)]
pub(crate) struct Story {
    pub(crate) run: Run,
    pub(crate) history: Vec<Record>,
    pub(crate) committed: u64,
}

impl Story {
    pub(crate) fn id(&self) -> RunId {
        self.run.id
    }

    pub(crate) fn write(&self) -> RunWrite<'_> {
        let committed = usize::try_from(self.committed).expect("a short history");
        RunWrite { based_on: self.committed, run: &self.run, records: &self.history[committed..] }
    }

    pub(crate) fn save(&mut self, store: &mut dyn Store) {
        save(store, [self]);
    }

    pub(crate) fn try_save(&self, store: &mut dyn Store) -> Result<(), Error> {
        store.commit(&Batch { runs: vec![self.write()], ..Batch::default() })
    }

    pub(crate) fn try_culprits(&self, store: &mut dyn Store) -> Result<Vec<Culprit>, Error> {
        store.culprits(&Batch { runs: vec![self.write()], ..Batch::default() })
    }

    /// Whether the store has all of it, and what it has gives the same run.
    pub(crate) fn check(&self, store: &mut dyn Store) {
        let stored = store.load(self.id()).expect("the run can be read").expect("the run is there");
        assert_eq!((stored.workspace, &stored.definition), (self.run.workspace, &self.run.definition_ref));
        assert_eq!(stored.history, self.history);
        self.check_parts(store);
        let run =
            Run::replay(Arc::clone(&self.run.definition), &stored.history).expect("the history is sound");
        assert_eq!(run.snapshot(), self.run.snapshot());
        self.check_updates(store);
    }

    /// Whoever knows nothing of it, or an earlier version, is brought up to date.
    pub(crate) fn check_updates(&self, store: &mut dyn Store) {
        let of = |store: &mut dyn Store, known| -> Option<RunUpdate> {
            let updates = store.updates(&[(self.id(), known)]).expect("readable");
            updates.into_iter().next().map(|(run, update)| {
                assert_eq!(run, self.id());
                update.expect("readable")
            })
        };
        assert_eq!(of(store, self.run.seq), None);
        let definition = || Arc::clone(&self.run.definition);
        let (mut run, records) = match of(store, 0).expect("the run is there") {
            RunUpdate::Whole(stored) => (None, stored.history),
            RunUpdate::Snapshot { snapshot, records } => {
                (Some(Run::restore(definition(), *snapshot)), records)
            }
            RunUpdate::Records(_) => panic!("nothing was known of it"),
        };
        match &mut run {
            Some(run) => records.iter().for_each(|record| run.apply(record).expect("the next record")),
            None => run = Some(Run::replay(definition(), &records).expect("the history is sound")),
        }
        assert_eq!(run.expect("it was made").snapshot(), self.run.snapshot());
    }

    /// What is new to one who knows this version of it.
    pub(crate) fn records_since(&self, store: &mut dyn Store, known: u64) -> Vec<Record> {
        let mut updates = store.updates(&[(self.id(), known)]).expect("readable");
        match updates.pop() {
            Some((_, Ok(RunUpdate::Records(records)))) => records,
            other => panic!("{other:?}"),
        }
    }
}

impl Story {
    fn check_parts(&self, store: &mut dyn Store) {
        let summary = store.run(self.id()).expect("readable").expect("the run is there");
        assert_eq!((summary.workspace, summary.version), (self.run.workspace, self.run.seq));
        let length = self.history.len();
        for after in [0, 1, 2, 3, 5, 8, length / 2, length.saturating_sub(1), length, length + 1] {
            for limit in [1, 3, length + 1] {
                let mut found =
                    |bytes| store.records_after(self.id(), after as u64, limit, bytes).expect("readable");
                let rest = self.history.get(after..).unwrap_or_default();
                let rest = &rest[..limit.min(rest.len())];
                assert_eq!(found(usize::MAX), rest, "{limit} after {after}");
                // Up to the first that has a payload at all.
                let first = rest.iter().position(|record| record.change.payload_bytes() > 0);
                let short = first.map_or(rest.len(), |first| first + 1);
                assert_eq!(found(1), rest[..short], "{limit} after {after}, one byte");
            }
        }
    }
}

pub(crate) fn save<'a>(store: &mut dyn Store, stories: impl IntoIterator<Item = &'a mut Story>) {
    let stories: Vec<&mut Story> = stories.into_iter().collect();
    let runs = stories.iter().map(|story| story.write()).collect();
    store.commit(&Batch { runs, ..Batch::default() }).expect("the batch is written");
    for story in stories {
        story.committed = story.run.seq;
    }
}

fn workflow(document: Value) -> Arc<Definition> {
    Arc::new(Definition::from_value(document).expect("the workflow is sound").definition)
}

/// Sleeps for as long as its input says.
pub(crate) fn nap() -> Arc<Definition> {
    workflow(json!({ "name": "nap", "steps": [
        { "type": "sleep", "name": "rest", "duration": "{{ input.sleep }}" },
    ] }))
}

/// Waits for the event its input names, of the customer it names.
pub(crate) fn listener() -> Arc<Definition> {
    workflow(json!({ "name": "listener", "version": "2", "steps": [
        { "type": "wait_for_event", "name": "hear", "eventId": "{{ input.event }}",
          "match": "event.customer == input.customer", "timeout": "2h" },
    ] }))
}

/// Waits for a signal, without end.
pub(crate) fn signalled() -> Arc<Definition> {
    workflow(json!({ "name": "signalled", "steps": [
        { "type": "external_event", "name": "ask", "signalType": "answer" },
    ] }))
}

/// A task; then an approval without end. The whole may take three hours.
pub(crate) fn review() -> Arc<Definition> {
    workflow(json!({ "name": "review", "timeout": "3h", "steps": [
        { "type": "task", "name": "write", "handler": "writer", "retry": { "maxAttempts": 1 } },
        { "type": "approval", "name": "approve", "contentKey": "doc" },
    ] }))
}

/// Sleeps exactly as long as it may take.
pub(crate) fn brink() -> Arc<Definition> {
    workflow(json!({ "name": "brink", "timeout": "1h", "steps": [
        { "type": "sleep", "name": "rest", "duration": "1h" },
    ] }))
}

/// Asks a model.
pub(crate) fn asked() -> Arc<Definition> {
    workflow(json!({ "name": "asked", "steps": [
        { "type": "llm", "name": "ask", "model": "m", "messages": [{ "role": "user", "content": "Why?" }] },
    ] }))
}

/// A bit of everything.
pub(crate) fn full_tour() -> Arc<Definition> {
    workflow(json!({ "name": "errand", "timeout": "30d", "steps": [
        { "type": "task", "name": "draft", "handler": "writer", "input": { "n": "{{ input.n }}" } },
        { "type": "map", "name": "send", "items": [1, 2, 3], "concurrency": 2,
          "step": { "type": "sleep", "duration": "10m" } },
        { "type": "wait_for_event", "name": "hear", "eventId": "reply", "match": "event.n == input.n" },
        { "type": "external_event", "name": "ask", "signalType": "go", "timeout": "5d" },
        { "type": "webhook", "name": "call", "timeout": "2d", "onTimeout": "continue" },
        { "type": "approval", "name": "approve", "contentKey": "doc" },
    ] }))
}

/// A task that stays with the build that takes it first.
pub(crate) fn pinned_errand() -> Arc<Definition> {
    let draft = json!({ "type": "task", "name": "draft", "handler": "writer", "pinToBuild": true });
    workflow(json!({ "name": "pinned-errand", "steps": [draft] }))
}

/// Reads a list page by page, each after the last of the one before.
pub(crate) fn pages<T>(limit: usize, mut read: impl FnMut(Option<&T>) -> Result<Vec<T>, Error>) -> Vec<T> {
    const ENOUGH: usize = 20_000;
    let mut found: Vec<T> = Vec::new();
    loop {
        let page = read(found.last()).expect("readable");
        assert!(page.len() <= limit, "a page is not longer than it may be");
        if page.is_empty() {
            return found;
        }
        found.extend(page);
        assert!(found.len() < ENOUGH, "a list has an end");
    }
}
