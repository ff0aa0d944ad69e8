//! What every board does, whichever it is: the same steps on the one in memory and on the one in a database.

use std::sync::Arc;

use abide_core::board::{TaskRow, TaskWrite};
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::time::Millis;
use abide_store::postgres::Postgres;
use abide_store::tasks::{FoundTask, Shares, TaskCounts, WantedTasks};
use abide_store::{Batch, Store};
use abide_testkit::postgres::Server;
use jiff::Timestamp;

use super::{MemoryBoard, StoredBoard, TaskBoard};

const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);
const LEASE: Millis = Millis(30_000);

/// A board, and the store whose commits it hears of, where it has one.
struct Bench {
    board: Box<dyn TaskBoard>,
    store: Option<Box<dyn Store>>,
}

impl Bench {
    /// A round with these writes is committed.
    fn commit(&mut self, writes: &[TaskWrite]) {
        if self.board.is_in_commit()
            && let Some(store) = &mut self.store
        {
            store.commit(&Batch { tasks: writes.iter().collect(), ..Batch::default() }).unwrap();
        }
        self.board.put(writes.to_vec(), &|_, _| None);
    }

    fn take(&mut self, queue: &str, limit: usize) -> Vec<FoundTask> {
        let wanted = WantedTasks { workspace: Some(WorkspaceId(1)), queue: queue.into(), limit };
        self.board.take(&[wanted], &Shares::new(), NOW, LEASE.after(NOW)).unwrap()
    }

    /// Tasks of all workspaces, whose shares are these; the workspace of each.
    fn take_anywhere(&mut self, queue: &str, limit: usize, shares: &Shares) -> Vec<u32> {
        let wanted = WantedTasks { workspace: None, queue: queue.into(), limit };
        let found = self.board.take(&[wanted], shares, NOW, LEASE.after(NOW)).unwrap();
        let mut workspaces: Vec<u32> = found.iter().map(|task| task.workspace.0).collect();
        workspaces.sort_unstable();
        workspaces
    }

    fn counts(&mut self) -> (usize, usize) {
        let TaskCounts { taken, free } = self.board.count(100).unwrap();
        let in_store = self.store.as_mut().and_then(|store| store.task_queues(100).unwrap());
        let queues = in_store.unwrap_or_else(|| self.board.queues());
        let leased: usize = queues.iter().map(|queue| queue.leased).sum();
        let ready: usize = queues.iter().map(|queue| queue.ready).sum();
        assert_eq!((leased, ready), (taken, free), "queues add up: {queues:?}");
        assert!(queues.iter().all(|queue| queue.oldest_ready.is_some() == (queue.ready > 0)), "{queues:?}");
        (taken, free)
    }
}

fn at_once(test: impl Fn(&mut Bench)) {
    test(&mut Bench { board: Box::new(MemoryBoard::default()), store: None });
    let store = Postgres::open(&Server::shared().database()).unwrap();
    let board = StoredBoard(store.tasks().unwrap().unwrap());
    test(&mut Bench { board: Box::new(board), store: Some(Box::new(store)) });
}

/// A task that nobody has.
fn free(run: u128, queue: &str, definition: &str) -> TaskRow {
    TaskRow {
        run: RunId(run),
        at: StepAddress::step(0),
        lease_epoch: 1,
        workspace: WorkspaceId(1),
        queue: queue.into(),
        definition: definition.into(),
        is_taken: false,
        has_begun: false,
        free_at: NOW,
        lease: LEASE,
        deadline: None,
    }
}

/// A task that a worker has, from now on for as long as its lease.
fn leased(run: u128) -> TaskRow {
    TaskRow { is_taken: true, has_begun: true, free_at: LEASE.after(NOW), ..free(run, "h", "w") }
}

fn put(row: TaskRow) -> TaskWrite {
    TaskWrite::Put(row)
}

fn runs(found: &[FoundTask]) -> Vec<u128> {
    found.iter().map(|task| task.run.0).collect()
}

#[test]
fn a_task_is_taken_once_and_from_each_workflow_in_turn() {
    at_once(|bench| {
        let many = (1..=4).map(|run| put(free(run, "h", "many")));
        let writes: Vec<TaskWrite> =
            many.chain([put(free(5, "h", "one")), put(free(6, "other", "one"))]).collect();
        bench.commit(&writes);
        assert_eq!(bench.counts(), (0, 6));
        let first = runs(&bench.take("h", 2));
        assert!(first.len() == 2 && first.contains(&5), "{first:?}");
        let rest = runs(&bench.take("h", 9));
        assert_eq!(rest.len(), 3);
        assert!(rest.iter().all(|run| !first.contains(run) && *run != 6));
        assert!(bench.take("h", 9).is_empty());
        assert_eq!(bench.counts(), (5, 1));
    });
}

#[test]
fn a_task_of_another_workspace_is_found_by_those_who_take_from_any() {
    at_once(|bench| {
        let elsewhere = TaskRow { workspace: WorkspaceId(7), ..free(1, "h", "w") };
        bench.commit(&[put(elsewhere), put(free(2, "h", "w"))]);
        assert_eq!(runs(&bench.take("h", 9)), [2]);
        let any = WantedTasks { workspace: None, queue: Arc::from("h"), limit: 9 };
        let found = bench.board.take(&[any], &Shares::new(), NOW, LEASE.after(NOW)).unwrap();
        assert_eq!((runs(&found), found[0].workspace), (vec![1], WorkspaceId(7)));
    });
}

#[test]
fn workspaces_take_turns_by_their_shares_however_many_workflows_and_tasks_they_have() {
    at_once(|bench| {
        let of = |workspace: u32, run: u128, definition: &str| {
            put(TaskRow { workspace: WorkspaceId(workspace), ..free(run, "h", definition) })
        };
        let greedy = (1..=40).map(|run| of(1, run, &format!("w{}", run % 8)));
        let modest = (41..=60).map(|run| of(2, run, "w"));
        bench.commit(&greedy.chain(modest).collect::<Vec<_>>());
        assert_eq!(bench.take_anywhere("h", 4, &Shares::new()), [1, 1, 2, 2]);
        let shares = Shares::from([(WorkspaceId(2), 3)]);
        assert_eq!(bench.take_anywhere("h", 8, &shares), [1, 1, 2, 2, 2, 2, 2, 2]);
        let rest = bench.take_anywhere("h", 99, &shares);
        assert_eq!(rest.len(), 60 - 12, "nothing is left out");
    });
}

/// B1: a recalled task that a worker held was counted as gone from those that are free, for ever.
#[test]
fn a_task_that_is_removed_while_somebody_has_it_leaves_nothing_behind() {
    at_once(|bench| {
        bench.commit(&[put(free(1, "h", "w")), put(free(2, "h", "w"))]);
        assert_eq!(bench.take("h", 1).len(), 1);
        for run in [1, 2] {
            bench.commit(&[TaskWrite::Remove { run: RunId(run), at: StepAddress::step(0), lease_epoch: 1 }]);
        }
        assert_eq!(bench.counts(), (0, 0));
        bench.commit(&[put(free(3, "h", "w"))]);
        assert_eq!(bench.counts(), (0, 1));
        assert_eq!(runs(&bench.take("h", 9)), [3]);
    });
}

#[test]
fn a_later_delivery_stays_when_an_earlier_one_is_removed() {
    at_once(|bench| {
        bench.commit(&[put(TaskRow { lease_epoch: 3, ..free(1, "h", "w") })]);
        bench.commit(&[TaskWrite::Remove { run: RunId(1), at: StepAddress::step(0), lease_epoch: 2 }]);
        assert_eq!(bench.take("h", 9)[0].lease_epoch, 3);
    });
}

#[test]
fn a_lease_that_is_over_is_late_and_a_sign_of_life_keeps_it() {
    at_once(|bench| {
        bench.commit(&[put(leased(1)), put(leased(2))]);
        let half = Millis(LEASE.0 / 2).after(NOW);
        bench.commit(&[TaskWrite::Renew {
            run: RunId(2),
            at: StepAddress::step(0),
            lease_epoch: 1,
            now: half,
        }]);
        let over = LEASE.after(NOW);
        assert!(bench.board.late(half, LEASE.after(half), 9).unwrap().taken.is_empty());
        let late = bench.board.late(over, LEASE.after(over), 9).unwrap();
        assert_eq!((runs(&late.taken), late.freed), (vec![1], 0));
        assert!(
            bench.board.late(over, LEASE.after(over), 9).unwrap().taken.is_empty(),
            "it is somebody's now"
        );
        let later = LEASE.after(LEASE.after(NOW));
        assert_eq!(bench.board.late(later, LEASE.after(later), 9).unwrap().taken.len(), 2);
        assert_eq!(bench.counts(), (2, 0));
    });
}

#[test]
fn no_sign_of_life_keeps_a_task_beyond_its_deadline() {
    at_once(|bench| {
        let deadline = Millis(40_000).after(NOW);
        bench.commit(&[put(TaskRow { deadline: Some(deadline), ..leased(1) })]);
        let now = Millis(20_000).after(NOW);
        bench.commit(&[TaskWrite::Renew { run: RunId(1), at: StepAddress::step(0), lease_epoch: 1, now }]);
        assert_eq!(runs(&bench.board.late(deadline, LEASE.after(deadline), 9).unwrap().taken), [1]);
    });
}

#[test]
fn what_was_taken_and_has_not_begun_is_free_when_it_is_released_or_its_time_is_over() {
    at_once(|bench| {
        bench.commit(&[put(free(1, "h", "w"))]);
        let taken = bench.take("h", 1);
        bench.board.release(&taken, NOW).unwrap();
        assert_eq!(runs(&bench.take("h", 9)), [1]);
        let over = LEASE.after(NOW);
        assert_eq!(bench.board.late(over, LEASE.after(over), 9).unwrap().freed, 1);
        assert_eq!(bench.counts(), (0, 1));
    });
}

#[test]
fn what_is_renewed_is_not_late_and_what_has_begun_and_is_released_is_late_at_once() {
    at_once(|bench| {
        bench.commit(&[put(leased(1)), put(leased(2))]);
        let task = |run| {
            let (at, workspace) = (StepAddress::step(0), WorkspaceId(1));
            FoundTask { run: RunId(run), at, lease_epoch: 1, workspace, queue: "h".into() }
        };
        bench.board.renew(&[task(1)], Millis(600_000).after(NOW)).unwrap();
        bench.board.release(&[task(2)], NOW).unwrap();
        assert_eq!(runs(&bench.board.late(NOW, LEASE.after(NOW), 9).unwrap().taken), [2]);
        let over = LEASE.after(LEASE.after(NOW));
        assert_eq!(runs(&bench.board.late(over, LEASE.after(over), 9).unwrap().taken), [2]);
        let stale = FoundTask { lease_epoch: 9, ..task(1) };
        bench.board.release(&[stale], NOW).unwrap();
        assert!(bench.board.late(NOW, LEASE.after(NOW), 9).unwrap().taken.is_empty(), "of another delivery");
    });
}
