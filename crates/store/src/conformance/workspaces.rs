//! Workspaces: what is in one is not seen from another.

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::RunStatus;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::lists::{listed, listed_waits};
use super::story::{self, Story, World, save};
use super::timers;
use crate::{Batch, Error, Page, RunFilter, Store, WaitpointFilter, Workspace};

pub fn the_default_workspace_is_there_and_others_are_added(subject: &mut dyn Subject) {
    let (mut store, world) = (subject.fresh(), World::new());
    let found = store.workspaces().expect("readable");
    let [default] = found.as_slice() else { panic!("one workspace, not {found:?}") };
    assert_eq!((default.id, default.name.as_str()), (WorkspaceId::DEFAULT, "default"));
    let mut expected = found.clone();
    for (number, name) in [(1, "blue"), (2, "Blue"), (3, "ümlaut 🦀'")] {
        let created_at = world.now + SignedDuration::from_nanos(number.into());
        let id = store.add_workspace(name, created_at).expect("added");
        assert_eq!(id, WorkspaceId(number));
        expected.push(Workspace { id, name: name.to_owned(), created_at });
    }
    for name in ["default", "blue"] {
        let refused = store.add_workspace(name, world.now);
        assert!(matches!(&refused, Err(Error::WorkspaceExists(taken)) if taken == name), "{refused:?}");
    }
    assert_eq!(subject.after_a_crash(store).workspaces().expect("readable"), expected);
}

/// Three workspaces with the same stories in each.
struct Worlds {
    store: Box<dyn Store>,
    world: World,
    places: Vec<WorkspaceId>,
    stories: Vec<Story>,
}

impl Worlds {
    fn new(subject: &mut dyn Subject) -> Worlds {
        let (mut store, mut world) = (subject.fresh(), World::new());
        let mut places = vec![WorkspaceId::DEFAULT];
        places.extend(["a", "b"].map(|name| store.add_workspace(name, world.now).expect("added")));
        let mut stories = Vec::new();
        for _ in 0..2 {
            for place in &places {
                world.workspace = *place;
                let input = json!({ "sleep": "1h", "event": "paid", "customer": 1 });
                for definition in [story::nap(), story::listener(), story::signalled()] {
                    stories.push(world.start_tagged(&definition, input.clone(), &["red"]));
                    world.pass(SignedDuration::from_secs(1));
                }
            }
        }
        save(&mut *store, &mut stories);
        Worlds { store, world, places, stories }
    }

    /// Newest first.
    fn ids(&self, place: Option<WorkspaceId>, wanted: impl Fn(&Story) -> bool) -> Vec<RunId> {
        let here = |story: &&Story| place.is_none_or(|place| story.run.workspace == place);
        let found = self.stories.iter().filter(here).filter(|story| wanted(story));
        let mut ids: Vec<RunId> = found.map(Story::id).collect();
        ids.sort();
        ids.reverse();
        ids
    }
}

pub fn runs_and_waits_are_listed_in_their_workspace(subject: &mut dyn Subject) {
    let mut worlds = Worlds::new(subject);
    worlds.store = subject.after_a_crash(worlds.store);
    let elsewhere = [Some(WorkspaceId(77)), None];
    for workspace in worlds.places.clone().into_iter().map(Some).chain(elsewhere) {
        let any = || RunFilter { workspace, ..RunFilter::default() };
        let named = |name: &'static str| move |story: &Story| &*story.run.definition_ref.name == name;
        let all = worlds.ids(workspace, |_| true);
        let naps = worlds.ids(workspace, named("nap"));
        let listeners = worlds.ids(workspace, named("listener"));
        for (filter, expected) in [
            (any(), &all),
            (RunFilter { statuses: vec![RunStatus::Waiting], ..any() }, &all),
            (RunFilter { tag: Some("red".to_owned()), ..any() }, &all),
            (RunFilter { definition: Some("nap".to_owned()), ..any() }, &naps),
            (RunFilter { waits_for: Some(abide_core::waitpoint::Kind::Delay), ..any() }, &naps),
            (RunFilter { listens_for: Some("paid".to_owned()), ..any() }, &listeners),
        ] {
            for limit in [1, 4, 100] {
                let found = listed(&mut *worlds.store, &filter, limit);
                let found: Vec<RunId> = found.iter().map(|run| run.id).collect();
                assert_eq!(&found, expected, "{filter:?}, pages of {limit}");
            }
        }
        let filter = WaitpointFilter { workspace, ..WaitpointFilter::default() };
        let waits = listed_waits(&mut *worlds.store, &filter, 4);
        assert_eq!(waits.len(), all.len());
        assert!(waits.iter().all(|wait| workspace.is_none_or(|workspace| wait.workspace == workspace)));
        let paid = WaitpointFilter { listens_for: Some("paid".to_owned()), ..filter };
        assert_eq!(listed_waits(&mut *worlds.store, &paid, 1).len(), listeners.len());
        let counts = worlds.store.counts(workspace).expect("readable");
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), all.len() as u64);
        assert!(counts.contains(&(RunStatus::Waiting, all.len() as u64)));
    }
    // A run's waits are not shown to another workspace.
    let run = worlds.stories[0].id();
    for (workspace, count) in [(None, 1), (Some(WorkspaceId::DEFAULT), 1), (Some(WorkspaceId(1)), 0)] {
        let filter = WaitpointFilter { workspace, run: Some(run), ..WaitpointFilter::default() };
        assert_eq!(listed_waits(&mut *worlds.store, &filter, 10).len(), count);
    }
}

pub fn timers_are_those_of_all_workspaces(subject: &mut dyn Subject) {
    let mut worlds = Worlds::new(subject);
    let expected = timers::expected(&worlds.stories);
    assert!(expected.len() > 6);
    assert_eq!(timers::all(&mut *worlds.store, Timestamp::MAX), expected);
}

pub fn an_event_is_heard_in_its_workspace_only(subject: &mut dyn Subject) {
    let mut worlds = Worlds::new(subject);
    let mut sent = Vec::new();
    for place in worlds.places.clone() {
        worlds.world.workspace = place;
        sent.push(worlds.world.event("paid", json!(1)));
    }
    let batch = Batch { events: sent.iter().collect(), ..Batch::default() };
    worlds.store.commit(&batch).expect("the events are written");
    let mut store = subject.after_a_crash(worlds.store);
    for event in sent {
        let place = event.workspace;
        let waiters = store.waiters(place, "paid", None, 100).expect("readable");
        assert_eq!(waiters.len(), 2);
        for waiter in waiters {
            let run = store.load(waiter.waitpoint.run).expect("readable").expect("there");
            assert_eq!((waiter.workspace, run.workspace), (place, place));
        }
        let heard = store.events_since(place, "paid", Timestamp::MIN, None, 100).expect("readable");
        assert_eq!(heard, std::slice::from_ref(&event));
        for event_id in [None, Some("paid")] {
            let page = Page { after: None, limit: 100 };
            let listed = store.events(place, event_id, &page).expect("readable");
            assert_eq!(listed, std::slice::from_ref(&event));
        }
    }
    assert_eq!(store.waiters(WorkspaceId(77), "paid", None, 100).expect("readable"), []);
}

pub fn a_definition_belongs_to_its_workspace(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let other = store.add_workspace("other", world.now).expect("added");
    let mut ids = Vec::new();
    for (place, document) in [(WorkspaceId::DEFAULT, "{\"n\": 0}"), (other, "{\"n\": 1}")] {
        world.workspace = place;
        let definition = world.definition("order", "1", document);
        let batch = Batch { definitions: vec![definition], ..Batch::default() };
        store.commit(&batch).expect("the same name and version in another workspace is another");
        ids.push((place, definition.id, document));
    }
    let mut store = subject.after_a_crash(store);
    for (place, id, document) in ids {
        for version in [None, Some("1")] {
            let found = store.definition(place, "order", version).expect("readable").expect("there");
            assert_eq!((found.id, found.workspace, found.document.as_str()), (id, place, document));
        }
        let listed = store.definitions(place, None, &Page { after: None, limit: 9 }).expect("readable");
        assert_eq!(listed.iter().map(|found| found.id).collect::<Vec<_>>(), [id]);
    }
    assert_eq!(store.definition(WorkspaceId(77), "order", None).expect("readable"), None);
}

pub fn nothing_is_written_to_a_workspace_that_is_not_there(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    world.workspace = WorkspaceId(1);
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let event = world.event("paid", json!(1));
    let definition = world.definition("order", "1", "{}");
    for batch in [
        Batch { runs: vec![nap.write()], ..Batch::default() },
        Batch { events: vec![&event], ..Batch::default() },
        Batch { definitions: vec![definition], ..Batch::default() },
    ] {
        let refused = store.commit(&batch);
        assert!(matches!(refused, Err(Error::UnknownWorkspace(WorkspaceId(1)))), "{refused:?}");
    }
    assert_eq!(store.load(nap.id()).expect("readable"), None);
    store.add_workspace("late", world.now).expect("added");
    nap.try_save(&mut *store).expect("the run is written");
    nap.check(&mut *store);
}
