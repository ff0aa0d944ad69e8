//! Every combination of fields narrows a list as each of them does, whatever way the store takes to find out.

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::{Kind, ListensFor, Waitpoint};
use jiff::SignedDuration;
use serde_json::json;

use super::Subject;
use super::lists::{Crowd, listed, listed_waits};
use super::story::{self, Story, World, save};
use crate::{RunFilter, WaitpointFilter, WaitpointSummary};

/// Runs the body for every combination of values.
macro_rules! each_of {
    ($($name:ident in $values:expr),+ => $body:expr) => { each_of!(@ [$($name in $values),+] $body) };
    (@ [$name:ident in $values:expr $(, $more:ident in $others:expr)*] $body:expr) => {
        for $name in $values {
            each_of!(@ [$($more in $others),*] $body)
        }
    };
    (@ [] $body:expr) => { $body };
}
#[cfg(test)]
pub(crate) use each_of;

fn is_wanted<T: PartialEq>(wanted: &Option<T>, value: T) -> bool {
    wanted.as_ref().is_none_or(|wanted| *wanted == value)
}

fn name(wait: &Waitpoint) -> Option<&str> {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => Some(signal_type),
        ListensFor::Event(filter) => Some(&filter.event_id),
        ListensFor::Time
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. }
        | ListensFor::Attempt(_)
        | ListensFor::Code(_)
        | ListensFor::Capacity(_)
        | ListensFor::Starts(_) => None,
    }
}

fn is_listed(story: &Story, filter: &RunFilter) -> bool {
    let run = &story.run;
    let waits = run.open_waitpoints().any(|wait| {
        is_wanted(&filter.waits_for, wait.kind)
            && filter.listens_for.as_deref().is_none_or(|wanted| name(wait) == Some(wanted))
    });
    is_wanted(&filter.workspace, run.workspace)
        && (filter.statuses.is_empty() || filter.statuses.contains(&run.status))
        && filter.definition.as_deref().is_none_or(|wanted| *run.definition_ref.name == *wanted)
        && filter.version.as_deref().is_none_or(|wanted| *run.definition_ref.version == *wanted)
        && filter.tag.as_deref().is_none_or(|wanted| run.tags.iter().any(|tag| **tag == *wanted))
        && filter.created_from.is_none_or(|from| run.created_at >= from)
        && filter.created_before.is_none_or(|before| run.created_at < before)
        && (filter.waits_for.is_none() && filter.listens_for.is_none() || waits)
}

pub fn runs_are_narrowed_by_all_fields_together(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let text = |text: &str| Some(text.to_owned());
    let (from, before) = (crowd.stories[4].run.created_at, crowd.stories[15].run.created_at);
    let mut found_some = 0;
    each_of! {
        workspace in [None, Some(WorkspaceId::DEFAULT)],
        statuses in [vec![], vec![RunStatus::Waiting], vec![RunStatus::Completed, RunStatus::Waiting]],
        definition in [None, text("listener"), text("nap")],
        version in [None, text("2")],
        tag in [None, text("red")],
        created_from in [None, Some(from)],
        created_before in [None, Some(before)],
        waits_for in [None, Some(Kind::Event), Some(Kind::Delay)],
        listens_for in [None, text("paid")]
        => {
            let filter = RunFilter {
                workspace,
                statuses: statuses.clone(),
                definition: definition.clone(),
                version: version.clone(),
                tag: tag.clone(),
                created_from,
                created_before,
                waits_for,
                listens_for: listens_for.clone(),
            };
            let found: Vec<RunId> = listed(&mut *store, &filter, 4).iter().map(|run| run.id).collect();
            assert_eq!(found, crowd.ids(|story| is_listed(story, &filter)), "{filter:?}");
            found_some += usize::from(!found.is_empty());
        }
    }
    assert!(found_some > 100, "{found_some} filters let something through");
}

pub fn runs_that_wait_are_found_be_they_few_or_many(subject: &mut dyn Subject) {
    const MANY: usize = 2_500;
    let (mut store, mut world) = (subject.fresh(), World::new());
    let (nap, listener) = (story::nap(), story::listener());
    let input = json!({ "sleep": "1h", "event": "paid", "customer": 1 });
    let mut stories = Vec::new();
    for index in 0..2 * MANY {
        world.pass(SignedDuration::from_micros(300));
        let tags: &[&str] = if index % 1_000 == 0 { &["red"] } else { &[] };
        stories.push(world.start_tagged([&nap, &listener][index % 2], input.clone(), tags));
    }
    for _ in 0..3 {
        stories.push(world.start(&story::signalled(), json!({})));
        stories.push(world.start(&story::full_tour(), json!({ "n": 1 })));
    }
    for batch in stories.chunks_mut(1_000) {
        save(&mut *store, batch);
    }
    let workspace = Some(WorkspaceId::DEFAULT);
    let any = || RunFilter { workspace, ..RunFilter::default() };
    let waits_for = |kind| RunFilter { waits_for: Some(kind), ..any() };
    let listens_for = |name: &str| RunFilter { listens_for: Some(name.to_owned()), ..any() };
    for (filter, count) in [
        (waits_for(Kind::Delay), MANY),
        (waits_for(Kind::Event), MANY),
        (waits_for(Kind::Signal), 3),
        (waits_for(Kind::Approval), 0),
        (listens_for("paid"), MANY),
        (listens_for("answer"), 3),
        (RunFilter { waits_for: Some(Kind::Signal), ..listens_for("paid") }, 0),
        (RunFilter { waits_for: Some(Kind::Event), ..listens_for("paid") }, MANY),
        (RunFilter { tag: Some("red".to_owned()), ..waits_for(Kind::Delay) }, 5),
        (RunFilter { definition: Some("nap".to_owned()), ..waits_for(Kind::Event) }, 0),
        (RunFilter { definition: Some("nap".to_owned()), ..waits_for(Kind::Delay) }, MANY),
        (RunFilter { statuses: vec![RunStatus::Completed], ..waits_for(Kind::Delay) }, 0),
    ] {
        let mut expected: Vec<RunId> =
            stories.iter().filter(|story| is_listed(story, &filter)).map(Story::id).collect();
        expected.sort();
        expected.reverse();
        assert_eq!(expected.len(), count, "{filter:?}");
        let found: Vec<RunId> = listed(&mut *store, &filter, 1_000).iter().map(|run| run.id).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

pub fn waitpoints_are_narrowed_by_all_fields_together(subject: &mut dyn Subject) {
    let (mut store, mut crowd) = (subject.fresh(), Crowd::new());
    crowd.save(&mut *store);
    let dated = crowd.waitpoints(|wait| wait.resume_at.is_some());
    let (early, late) = (dated[2].resume_at, dated[dated.len() - 2].resume_at);
    let mut found_some = 0;
    each_of! {
        workspace in [None, Some(WorkspaceId::DEFAULT), Some(WorkspaceId(1))],
        run in [None, Some(crowd.stories[11].id()), Some(crowd.stories[1].id())],
        kind in [None, Some(Kind::Event), Some(Kind::Delay)],
        status in [None, Some(WaitStatus::Pending), Some(WaitStatus::Cancelled)],
        due_after in [None, early],
        due_before in [None, late],
        listens_for in [None, Some("paid".to_owned())]
        => {
            let listens_for = listens_for.clone();
            let filter = WaitpointFilter { workspace, run, kind, status, due_before, due_after, listens_for };
            let is_listed = |wait: &WaitpointSummary| {
                is_wanted(&filter.workspace, wait.workspace)
                    && is_wanted(&filter.run, wait.id.run)
                    && is_wanted(&filter.kind, wait.kind)
                    && is_wanted(&filter.status, wait.status)
                    && filter.due_after.is_none_or(|after| wait.resume_at.is_some_and(|at| at > after))
                    && filter.due_before.is_none_or(|before| wait.resume_at.is_some_and(|at| at < before))
                    && (filter.listens_for.is_none() || wait.listens_for == filter.listens_for)
            };
            let expected = crowd.waitpoints(is_listed);
            for limit in [1, 4] {
                assert_eq!(listed_waits(&mut *store, &filter, limit), expected, "{filter:?}");
            }
            found_some += usize::from(!expected.is_empty());
        }
    }
    assert!(found_some > 100, "{found_some} filters let something through");
}
