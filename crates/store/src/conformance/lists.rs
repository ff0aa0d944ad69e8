//! Lists: each field narrows, pages fit together, and what is shown is up to date.

use std::collections::BTreeMap;

use abide_core::command::{Command, TaskStarted};
use abide_core::id::{RunId, StepAddress, WaitpointId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::{Kind, ListensFor};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, pages, save};
use crate::{Due, Page, Read, RunFilter, RunSummary, Store, WaitpointFilter, WaitpointSummary};

/// Runs of every kind that there is, each begun a second after the other.
pub(crate) struct Crowd {
    pub(crate) stories: Vec<Story>,
    pub(crate) world: World,
}

impl Crowd {
    pub(crate) fn new() -> Crowd {
        let mut world = World::new();
        let mut stories = Vec::new();
        for round in 0..3 {
            let tags: &[&str] = [&["red"][..], &["red", "blue"], &[]][round];
            for definition in [
                story::nap(),
                story::listener(),
                story::signalled(),
                story::review(),
                story::brink(),
                story::full_tour(),
            ] {
                let input = json!({ "sleep": "1h", "event": "paid", "customer": 1, "n": 1 });
                stories.push(world.start_tagged(&definition, input, tags));
                world.pass(SignedDuration::from_secs(1));
            }
        }
        let mut crowd = Crowd { stories, world };
        crowd.live();
        crowd
    }

    /// Something happens to all but the first of each kind.
    fn live(&mut self) {
        let world = &mut self.world;
        world.work(&mut self.stories[9], 0);
        world.work(&mut self.stories[11], 0);
        for index in [6, 7] {
            world.wake(&mut self.stories[index]);
        }
        world.wake(&mut self.stories[11]);
        for index in 12..15 {
            world.tell(&mut self.stories[index], Command::Cancel { reason: None });
        }
        world.tell(&mut self.stories[15], Command::Pause);
    }

    pub(crate) fn save(&mut self, store: &mut dyn Store) {
        save(store, &mut self.stories);
    }

    pub(super) fn ids(&self, wanted: impl Fn(&Story) -> bool) -> Vec<RunId> {
        let mut ids: Vec<RunId> = self.stories.iter().filter(|story| wanted(story)).map(Story::id).collect();
        ids.sort();
        ids.reverse();
        ids
    }

    pub(super) fn waitpoints(&self, wanted: impl Fn(&WaitpointSummary) -> bool) -> Vec<WaitpointSummary> {
        let mut found: Vec<WaitpointSummary> =
            self.stories.iter().flat_map(summaries).filter(wanted).collect();
        found.sort_by_key(due_order);
        found
    }
}

pub(super) fn due_order(wait: &WaitpointSummary) -> (bool, Option<Timestamp>, WaitpointId) {
    (wait.resume_at.is_none(), wait.resume_at, wait.id)
}

pub(super) fn summaries(story: &Story) -> Vec<WaitpointSummary> {
    let summary = |wait: &abide_core::waitpoint::Waitpoint| WaitpointSummary {
        id: story.run.waitpoint_id(wait.number),
        workspace: story.run.workspace,
        kind: wait.kind,
        status: wait.status,
        created_at: wait.created_at,
        resume_at: wait.resume_at,
        listens_for: match &wait.listens_for {
            ListensFor::Signal { signal_type } => Some(signal_type.to_string()),
            ListensFor::Event(filter) => Some(filter.event_id.to_string()),
            ListensFor::Time
            | ListensFor::Call { .. }
            | ListensFor::Approval(_)
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => None,
        },
    };
    story.run.waitpoints().map(summary).collect()
}

pub(super) fn listed(store: &mut dyn Read, filter: &RunFilter, limit: usize) -> Vec<RunSummary> {
    pages(limit, |after: Option<&RunSummary>| {
        store.runs(filter, &Page { after: after.map(|run| run.id), limit })
    })
}

pub fn runs_are_listed_newest_first_page_by_page(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let mut store = subject.after_a_crash(store);
    let expected = crowd.ids(|_| true);
    for limit in [1, 4, 18, 100] {
        let found = listed(&mut *store, &RunFilter::default(), limit);
        assert_eq!(found.iter().map(|run| run.id).collect::<Vec<_>>(), expected, "pages of {limit}");
        for story in &crowd.stories {
            let run = found.iter().find(|run| run.id == story.id()).expect("listed");
            assert_summary(run, story);
        }
    }
}

pub(super) fn assert_summary(run: &RunSummary, story: &Story) {
    assert_eq!((run.workspace, &run.definition), (story.run.workspace, &story.run.definition_ref));
    assert_eq!(run.status, story.run.status);
    assert_eq!(run.tags, story.run.tags);
    assert_eq!(run.created_at, story.run.created_at);
    assert_eq!(run.updated_at, story.history.last().expect("a history").at);
    assert_eq!(run.version, story.run.seq);
}

pub fn runs_are_narrowed_by_each_field(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let any = RunFilter::default;
    let mut check = |filter: RunFilter, wanted: &dyn Fn(&Story) -> bool| {
        let expected = crowd.ids(wanted);
        for limit in [1, 3, 100] {
            let found = listed(&mut *store, &filter, limit);
            let found: Vec<RunId> = found.iter().map(|run| run.id).collect();
            assert_eq!(found, expected, "{filter:?}, pages of {limit}");
        }
        expected.len()
    };
    for status in RunStatus::ALL {
        check(RunFilter { statuses: vec![status], ..any() }, &|story| story.run.status == status);
    }
    let statuses = vec![RunStatus::Waiting, RunStatus::Cancelled, RunStatus::Waiting];
    let either = |story: &Story| statuses.contains(&story.run.status);
    assert!(check(RunFilter { statuses: statuses.clone(), ..any() }, &either) > 9);

    let named = |story: &Story| &*story.run.definition_ref.name == "review";
    let review = RunFilter { definition: Some("review".to_owned()), ..any() };
    assert_eq!(check(review.clone(), &named), 3);
    check(RunFilter { definition: Some("Review".to_owned()), ..any() }, &|_| false);
    check(RunFilter { statuses: statuses.clone(), ..review.clone() }, &|story| named(story) && either(story));
    check(RunFilter { version: Some("2".to_owned()), ..review }, &|_| false);
    let second = |story: &Story| &*story.run.definition_ref.version == "2";
    assert_eq!(check(RunFilter { version: Some("2".to_owned()), ..any() }, &second), 3);

    for (tag, count) in [("red", 12), ("blue", 6), ("green", 0)] {
        let tagged = |story: &Story| story.run.tags.iter().any(|of| &**of == tag);
        let filter = RunFilter { tag: Some(tag.to_owned()), ..any() };
        assert_eq!(check(filter.clone(), &tagged), count);
        let narrower = RunFilter { definition: Some("review".to_owned()), ..filter.clone() };
        check(narrower, &|story| tagged(story) && named(story));
        let narrower = RunFilter { statuses: statuses.clone(), ..filter };
        check(narrower, &|story| tagged(story) && either(story));
    }

    let (from, before) = (crowd.stories[4].run.created_at, crowd.stories[9].run.created_at);
    let filter = RunFilter { created_from: Some(from), created_before: Some(before), ..any() };
    let between = |story: &Story| (from..before).contains(&story.run.created_at);
    assert_eq!(check(filter.clone(), &between), 5);
    check(RunFilter { definition: Some("review".to_owned()), ..filter }, &|story| {
        between(story) && named(story)
    });

    for kind in KINDS {
        let waits = |story: &Story| story.run.open_waitpoints().any(|wait| wait.kind == kind);
        let filter = RunFilter { waits_for: Some(kind), ..any() };
        check(filter.clone(), &waits);
        check(RunFilter { tag: Some("red".to_owned()), ..filter.clone() }, &|story| {
            waits(story) && story.run.tags.iter().any(|tag| &**tag == "red")
        });
        check(RunFilter { statuses: vec![RunStatus::Waiting], ..filter }, &|story| {
            waits(story) && story.run.status == RunStatus::Waiting
        });
    }
}

const KINDS: [Kind; 8] = [
    Kind::Delay,
    Kind::Webhook,
    Kind::Signal,
    Kind::Event,
    Kind::Approval,
    Kind::Child,
    Kind::Pause,
    Kind::Retry,
];

pub fn a_listed_run_is_up_to_date_while_it_works(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut review = world.start(&story::review(), json!({}));
    review.save(&mut *store);
    world.pass(SignedDuration::from_nanos(1));
    let started = TaskStarted {
        at: StepAddress::step(0),
        lease_epoch: 1,
        worker: "worker-1".into(),
        from: None,
        build: None,
    };
    world.tell(&mut review, Command::TaskStarted(started));
    review.save(&mut *store);
    assert_eq!(review.run.status, RunStatus::Running);
    let found = listed(&mut *store, &RunFilter::default(), 10);
    assert_summary(&found[0], &review);
}

pub(super) fn listed_waits(
    store: &mut dyn Read,
    filter: &WaitpointFilter,
    limit: usize,
) -> Vec<WaitpointSummary> {
    pages(limit, |after: Option<&WaitpointSummary>| {
        let after = after.map(|wait| (wait.resume_at, wait.id));
        store.waitpoints(filter, &Page { after, limit })
    })
}

pub fn waitpoints_are_listed_in_due_order_and_without_an_instant_last(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let mut store = subject.after_a_crash(store);
    let expected = crowd.waitpoints(|_| true);
    assert!(expected.iter().filter(|wait| wait.resume_at.is_none()).count() > 2);
    for limit in [1, 2, 7, 100] {
        assert_eq!(listed_waits(&mut *store, &WaitpointFilter::default(), limit), expected);
    }
}

pub fn waitpoints_are_narrowed_by_each_field(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let any = WaitpointFilter::default;
    let mut check = |filter: WaitpointFilter, wanted: &dyn Fn(&WaitpointSummary) -> bool| {
        let expected = crowd.waitpoints(wanted);
        for limit in [1, 3, 100] {
            assert_eq!(listed_waits(&mut *store, &filter, limit), expected, "{filter:?}, pages of {limit}");
        }
        expected.len()
    };
    let run = crowd.stories[11].id();
    assert_eq!(check(WaitpointFilter { run: Some(run), ..any() }, &|wait| wait.id.run == run), 3);
    for status in [WaitStatus::Pending, WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled] {
        let of_status = WaitpointFilter { status: Some(status), ..any() };
        assert!(check(of_status.clone(), &|wait| wait.status == status) > 0, "{status}");
        for kind in KINDS {
            let filter = WaitpointFilter { kind: Some(kind), ..of_status.clone() };
            check(filter, &|wait| wait.status == status && wait.kind == kind);
        }
        check(WaitpointFilter { run: Some(run), ..of_status }, &|wait| {
            wait.status == status && wait.id.run == run
        });
    }
    for kind in KINDS {
        check(WaitpointFilter { kind: Some(kind), ..any() }, &|wait| wait.kind == kind);
    }
    for (listens_for, count) in [("answer", 3), ("paid", 3), ("reply", 0)] {
        let filter = WaitpointFilter { listens_for: Some(listens_for.to_owned()), ..any() };
        let listens = |wait: &WaitpointSummary| wait.listens_for.as_deref() == Some(listens_for);
        assert_eq!(check(filter.clone(), &listens), count);
        let filter = WaitpointFilter { status: Some(WaitStatus::Pending), ..filter };
        check(filter, &|wait| listens(wait) && wait.status == WaitStatus::Pending);
    }
    // Both ends are left out.
    let due = crowd.waitpoints(|wait| wait.resume_at.is_some());
    let (after, before) = (due[1].resume_at, due[4].resume_at);
    let filter = WaitpointFilter { due_after: after, due_before: before, ..any() };
    let between = |wait: &WaitpointSummary| {
        wait.resume_at.is_some() && wait.resume_at > after && wait.resume_at < before
    };
    assert!(check(filter.clone(), &between) > 0);
    check(WaitpointFilter { status: Some(WaitStatus::Pending), ..filter }, &|wait| {
        between(wait) && wait.status == WaitStatus::Pending
    });
    let earlier = |wait: &WaitpointSummary| wait.resume_at.is_some() && wait.resume_at < before;
    check(WaitpointFilter { due_before: before, ..any() }, &earlier);
    check(WaitpointFilter { due_after: after, ..any() }, &|wait| wait.resume_at > after);
}

pub fn runs_are_counted_by_status(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    let none: Vec<(RunStatus, u64)> = RunStatus::ALL.into_iter().map(|status| (status, 0)).collect();
    assert_eq!(store.counts(None).expect("readable"), none);
    crowd.save(&mut *store);
    let mut expected: BTreeMap<RunStatus, u64> = none.into_iter().collect();
    for story in &crowd.stories {
        *expected.entry(story.run.status).or_default() += 1;
    }
    assert_eq!(store.counts(None).expect("readable"), expected.into_iter().collect::<Vec<_>>());
}

pub fn runs_that_wait_are_found_the_oldest_first(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let waiting = crowd.stories.iter().filter(|story| story.run.status == RunStatus::Waiting);
    let mut expected: Vec<RunId> = waiting.map(|story| story.run.id).collect();
    expected.sort();
    assert!(expected.len() > 3);
    for limit in [0, 3, 100] {
        let found = store.oldest_waiting(WorkspaceId::DEFAULT, limit).expect("readable");
        assert_eq!(found, expected[..limit.min(expected.len())]);
    }
    assert_eq!(store.oldest_waiting(WorkspaceId(7), 9).expect("readable"), []);
}

pub fn open_waits_are_counted_by_kind_and_instant_up_to_a_limit(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let waits: Vec<WaitpointSummary> = store
        .waitpoints(
            &WaitpointFilter { status: Some(WaitStatus::Pending), ..WaitpointFilter::default() },
            &Page { after: None, limit: 1000 },
        )
        .expect("readable");
    let mut instants: Vec<Timestamp> = waits.iter().filter_map(|wait| wait.resume_at).collect();
    instants.sort();
    let (from, until) = (instants[1], instants[instants.len() - 2]);
    for kind in [Kind::Delay, Kind::Signal, Kind::Event, Kind::Approval, Kind::Retry] {
        for due in [Due::Ever, Due::Before(until), Due::Between(from, until)] {
            let is_due = |at: Option<Timestamp>| match due {
                Due::Ever => true,
                Due::Before(until) => at.is_some_and(|at| at < until),
                Due::Between(from, until) => at.is_some_and(|at| from <= at && at < until),
            };
            let expected = waits.iter().filter(|wait| wait.kind == kind && is_due(wait.resume_at)).count();
            let count = |store: &mut dyn Store, limit| {
                store.open_waits(WorkspaceId::DEFAULT, kind, due, limit).expect("readable")
            };
            assert_eq!(count(&mut *store, 1000), expected, "{kind:?} {due:?}");
            assert_eq!(count(&mut *store, 1), expected.min(1), "{kind:?} {due:?}");
        }
    }
    assert!(store.open_waits(WorkspaceId::DEFAULT, Kind::Delay, Due::Ever, 9).expect("readable") > 0);
    assert_eq!(store.open_waits(WorkspaceId(7), Kind::Delay, Due::Ever, 9).expect("readable"), 0);
}
