//! Tasks that wait for other code, and the builds that find them.

use abide_core::command::{Command, Mismatch, Steer, Steering, TaskFailed, TaskStarted};
use abide_core::id::{StepAddress, WaitpointId, WorkspaceId};
use serde_json::json;

use super::Subject;
use super::story::{self, Story, World, save};
use crate::Store;

/// The handler of the errand's first step.
const HANDLER: &str = "writer";

/// A task whose code, of this build, does not fit what was recorded.
fn mismatched(world: &mut World, build: &str) -> Story {
    let mut story = world.start(&story::full_tour(), json!({ "n": 1 }));
    let (at, lease_epoch) = (StepAddress::step(0), 1);
    let started = TaskStarted { build: Some(build.into()), ..TaskStarted::new(at, lease_epoch, "worker-1") };
    world.tell(&mut story, Command::TaskStarted(started));
    world.tell(&mut story, does_not_fit());
    story
}

/// Said of the first execution of the first step.
fn does_not_fit() -> Command {
    let mismatch = Some(Mismatch { recorded: "`a`".to_owned(), found: "`b`".to_owned() });
    let (message, code, retryable, retry_after, detail) = (String::new(), None, false, None, None);
    let (at, lease_epoch) = (StepAddress::step(0), 1);
    Command::TaskFailed(TaskFailed {
        at,
        lease_epoch,
        message,
        code,
        retryable,
        retry_after,
        detail,
        mismatch,
    })
}

fn found(store: &mut dyn Store, handler: &str, build: &str, page: usize) -> Vec<WaitpointId> {
    let (mut found, mut last) = (Vec::new(), None);
    loop {
        let waits = store.code_waits(WorkspaceId::DEFAULT, handler, build, last.as_ref(), page);
        let waits = waits.expect("readable");
        found.extend(waits.iter().map(|wait| wait.waitpoint));
        if waits.len() < page {
            return found;
        }
        last = waits.into_iter().next_back();
    }
}

pub fn a_wait_for_other_code_is_found_by_every_build_but_the_one_that_left_it(subject: &mut dyn Subject) {
    const BUILDS: [&str; 5] = ["", "a", "b", "b\u{1}", "ü 🦀"];
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut stories: Vec<Story> =
        BUILDS.iter().chain(&BUILDS).map(|build| mismatched(&mut world, build)).collect();
    save(&mut *store, &mut stories);
    for build in BUILDS.iter().chain(&["other", "~"]) {
        let others = BUILDS.iter().chain(&BUILDS).zip(&stories).filter(|(left, _)| *left != build);
        let mut others: Vec<WaitpointId> = others.map(|(_, story)| story.id().waitpoint(1)).collect();
        others.sort();
        for page in [1, 3, 100] {
            let mut waits = found(&mut *store, HANDLER, build, page);
            waits.sort();
            assert_eq!(waits, others, "{build:?}");
        }
    }
    assert_eq!(found(&mut *store, "write", "a", 10), []);
    let wait = store.code_waits(WorkspaceId::DEFAULT, HANDLER, "a", None, 1).expect("readable").remove(0);
    assert_eq!(wait.builds, ["".into()]);

    world.tell(&mut stories[0], Command::Steer(Steer::new(1, Steering::Complete { payload: None })));
    world.tell(&mut stories[1], Command::Cancel { reason: None });
    save(&mut *store, &mut stories);
    let mut store = subject.after_a_crash(store);
    assert_eq!(found(&mut *store, HANDLER, "other", 100).len(), stories.len() - 2);
}

pub fn a_wait_for_other_code_of_a_pinned_task_is_found_by_no_build(subject: &mut dyn Subject) {
    let (mut store, mut world) = (subject.fresh(), World::new());
    let mut pinned = world.start(&story::pinned_errand(), json!({ "n": 1 }));
    let started =
        TaskStarted { build: Some("a".into()), ..TaskStarted::new(StepAddress::step(0), 1, "worker-1") };
    world.tell(&mut pinned, Command::TaskStarted(started));
    world.tell(&mut pinned, does_not_fit());
    let mut stories = vec![pinned, mismatched(&mut world, "a")];
    save(&mut *store, &mut stories);
    let found = found(&mut *store, HANDLER, "b", 10);
    assert_eq!(found, [stories[1].id().waitpoint(1)]);
}
