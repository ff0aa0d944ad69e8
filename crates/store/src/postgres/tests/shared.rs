//! What nodes have in common: the task board, each other, and notifications.

use std::collections::BTreeSet;
use std::sync::mpsc;

use abide_core::id::StepAddress;
use abide_core::time::Millis;

use super::*;
use crate::RunUpdate;
use crate::cluster::{ClusterNotification, NodeId};
use crate::tasks::{FoundTask, LateTasks, StoredTask, TaskCounts, TaskQueue, TaskWrite, WantedTasks};

const NOW: &str = "2026-03-01T00:00:00Z";

fn after(seconds: i64) -> Timestamp {
    NOW.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(seconds)
}

fn task(number: u128, queue: &str) -> StoredTask {
    StoredTask {
        run: RunId(number),
        at: StepAddress::item(2, 7),
        lease_epoch: 1,
        workspace: WorkspaceId::DEFAULT,
        queue: queue.into(),
        definition: "flow".into(),
        is_taken: false,
        has_begun: false,
        free_at: after(0),
        lease: Millis(30_000),
        deadline: None,
    }
}

fn held(number: u128, until: Timestamp) -> StoredTask {
    StoredTask { is_taken: true, free_at: until, ..task(number, "mail") }
}

fn write(store: &mut Postgres, tasks: &[TaskWrite]) {
    store.commit(&Batch { tasks: tasks.iter().collect(), ..Batch::default() }).unwrap();
}

fn wanted(queue: &str, limit: usize) -> WantedTasks {
    WantedTasks { workspace: Some(WorkspaceId::DEFAULT), queue: queue.into(), limit }
}

fn freed(freed: usize) -> LateTasks {
    LateTasks { freed, ..LateTasks::default() }
}

fn runs(found: &[FoundTask]) -> BTreeSet<u128> {
    found.iter().map(|task| task.run.0).collect()
}

#[test]
fn tasks_are_taken_from_each_workflow_in_turn() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let put = |number, flow: &str, free_at| {
        TaskWrite::Put(StoredTask { definition: flow.into(), free_at, ..task(number, "mail") })
    };
    let mut rows: Vec<TaskWrite> = (1..=9).map(|number| put(number, "busy", after(0))).collect();
    rows.extend([put(11, "quiet", after(1)), put(12, "quiet", after(2)), put(13, "zen", after(3))]);
    write(&mut store, &rows);
    let anywhere = |limit| WantedTasks { workspace: None, ..wanted("mail", limit) };
    let mut take = |wanted| runs(&board.take(&[wanted], after(5), after(10)).unwrap());
    let first = take(anywhere(3));
    assert_eq!(first.range(11..).copied().collect::<Vec<_>>(), [11, 13], "{first:?}");
    let second = take(wanted("mail", 3));
    assert_eq!(second.range(11..).copied().collect::<Vec<_>>(), [12], "{second:?}");
    assert_eq!(first.len() + second.len(), 6);
    assert_eq!(take(wanted("mail", 99)).len(), 6);
}

#[test]
fn each_queue_says_how_many_are_ready_and_leased_and_since_when() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let put = |number, flow: &str, free_at| {
        TaskWrite::Put(StoredTask { definition: flow.into(), free_at, ..task(number, "mail") })
    };
    let mut rows: Vec<TaskWrite> = (1..=9).map(|number| put(number, "busy", after(3))).collect();
    rows.extend([put(11, "quiet", after(1)), TaskWrite::Put(held(12, after(60)))]);
    rows.push(TaskWrite::Put(StoredTask { workspace: WorkspaceId(7), ..task(13, "post") }));
    write(&mut store, &rows);
    let queue = |queue: &str, workspace, ready, leased, since| TaskQueue {
        workspace: WorkspaceId(workspace),
        queue: queue.into(),
        ready,
        leased,
        oldest_ready: Some(after(since)),
    };
    assert_eq!(
        store.task_queues(100).unwrap().unwrap(),
        [queue("mail", 0, 10, 1, 1), queue("post", 7, 1, 0, 0)]
    );
    let most: Vec<usize> = store.task_queues(4).unwrap().unwrap().iter().map(|queue| queue.ready).collect();
    assert_eq!(most, [5, 1], "those of each workflow are counted up to the limit");
}

#[test]
fn a_task_is_found_by_one_who_wants_it_and_by_nobody_else_for_a_while() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let mut rows: Vec<TaskWrite> = (1..=5).map(|number| TaskWrite::Put(task(number, "mail"))).collect();
    rows.push(TaskWrite::Put(task(6, "other")));
    rows.push(TaskWrite::Put(StoredTask { free_at: after(60), ..task(7, "mail") }));
    rows.push(TaskWrite::Put(StoredTask { workspace: WorkspaceId(1), ..task(8, "mail") }));
    write(&mut store, &rows);
    let first = board.take(&[wanted("mail", 3)], after(1), after(10)).unwrap();
    assert_eq!(first.len(), 3);
    assert_eq!((first[0].at, first[0].lease_epoch, &*first[0].queue), (StepAddress::item(2, 7), 1, "mail"));
    let rest = board.take(&[wanted("mail", 9)], after(1), after(10)).unwrap();
    assert_eq!(&runs(&first) | &runs(&rest), (1..=5).collect());
    assert_eq!(rest.len(), 2);
    assert_eq!(board.take(&[wanted("mail", 9)], after(2), after(10)).unwrap(), []);
    // Of any workspace.
    let anywhere = WantedTasks { workspace: None, ..wanted("mail", 9) };
    let both = board.take(&[anywhere, wanted("other", 9)], after(2), after(10)).unwrap();
    assert_eq!(runs(&both), [6, 8].into());
    // Those that were kept are kept longer, and the others are free again.
    board.renew(&first, after(20)).unwrap();
    assert_eq!(board.late(after(11), after(12), 9).unwrap(), freed(4));
    assert_eq!(runs(&board.take(&[wanted("mail", 9)], after(11), after(30)).unwrap()), runs(&rest));
    // Another delivery of it has begun meanwhile.
    write(&mut store, &[TaskWrite::Remove { run: RunId(5), at: StepAddress::item(2, 7), lease_epoch: 0 }]);
    write(&mut store, &[TaskWrite::Remove { run: RunId(7), at: StepAddress::item(2, 7), lease_epoch: 1 }]);
    assert_eq!(board.late(after(100), after(200), 9).unwrap(), freed(5));
    let late = board.take(&[wanted("mail", 9)], after(100), after(200)).unwrap();
    assert_eq!(runs(&late), (1..=5).collect());
}

#[test]
fn a_task_that_has_begun_is_late_when_its_time_is_over_and_a_sign_of_life_gives_it_more() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let begun = |number| StoredTask { has_begun: true, ..held(number, after(30)) };
    let limited = StoredTask { deadline: Some(after(45)), ..begun(2) };
    let rows = [begun(1), limited, begun(3)].map(TaskWrite::Put);
    write(&mut store, &rows);
    assert_eq!(board.take(&[wanted("mail", 9)], after(100), after(200)).unwrap(), []);
    let mut late = |now, until| runs(&board.late(now, until, 9).unwrap().taken);
    assert_eq!(late(after(29), after(32)), [].into());
    let renew = |number| TaskWrite::Renew {
        run: RunId(number),
        at: StepAddress::item(2, 7),
        lease_epoch: 1,
        now: after(29),
    };
    let stale =
        TaskWrite::Renew { run: RunId(3), at: StepAddress::item(2, 7), lease_epoch: 2, now: after(29) };
    write(&mut store, &[renew(1), renew(2), stale]);
    assert_eq!(late(after(31), after(40)), [3].into());
    assert_eq!(late(after(46), after(60)), [2, 3].into());
    assert_eq!(late(after(59), after(60)), [1].into());
}

#[test]
fn tasks_that_a_node_had_that_is_gone_are_free_again_however_many() {
    const TASKS: u128 = 1_000;
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let mut rows: Vec<TaskWrite> =
        (1..=TASKS).map(|number| TaskWrite::Put(held(number, after(10)))).collect();
    // In the midst of them is one that has begun.
    rows.push(TaskWrite::Put(StoredTask { has_begun: true, ..held(TASKS + 1, after(9)) }));
    write(&mut store, &rows);
    assert_eq!(board.take(&[wanted("mail", 9_999)], after(99), after(200)).unwrap(), []);
    assert_eq!(board.late(after(8), after(12), 9).unwrap(), LateTasks::default());
    let late = board.late(after(10), after(12), 9).unwrap();
    assert_eq!((runs(&late.taken), late.freed), ([TASKS + 1].into(), 1_000));
    let found = board.take(&[wanted("mail", 9_999)], after(10), after(20)).unwrap();
    assert_eq!(runs(&found), (1..=TASKS).collect());
}

#[test]
fn a_task_that_is_let_go_of_is_free_at_once_and_one_that_has_begun_is_late() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let begun = StoredTask { has_begun: true, ..held(2, after(60)) };
    write(&mut store, &[TaskWrite::Put(held(1, after(10))), TaskWrite::Put(begun)]);
    let found = |number| FoundTask {
        run: RunId(number),
        at: StepAddress::item(2, 7),
        lease_epoch: 1,
        workspace: WorkspaceId::DEFAULT,
        queue: "mail".into(),
    };
    board.release(&[found(1), found(2)], after(5)).unwrap();
    assert_eq!(board.count(9).unwrap(), TaskCounts { taken: 1, free: 1 });
    assert_eq!(board.take(&[wanted("mail", 9)], after(5), after(20)).unwrap(), [found(1)]);
    assert_eq!(board.late(after(5), after(7), 9).unwrap().taken, [found(2)]);
    assert_eq!(board.count(9).unwrap(), TaskCounts { taken: 2, free: 0 });
}

#[test]
fn a_task_that_is_kept_by_one_who_was_away_is_his_again() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    write(&mut store, &[TaskWrite::Put(task(1, "mail"))]);
    let mine = board.take(&[wanted("mail", 9)], after(1), after(10)).unwrap();
    assert_eq!(board.late(after(11), after(12), 9).unwrap(), freed(1));
    board.renew(&mine, after(21)).unwrap();
    assert_eq!(board.take(&[wanted("mail", 9)], after(12), after(30)).unwrap(), []);
}

#[test]
fn a_queue_of_all_workspaces_is_taken_from_in_turn_and_one_of_a_workspace_is_left_alone_by_others() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    let put = |number: u128, workspace, flow: &str| {
        let (workspace, definition) = (WorkspaceId(workspace), flow.into());
        TaskWrite::Put(StoredTask { workspace, definition, ..task(number, "mail") })
    };
    let busy = (1..=20).map(|number| put(number, 3, "b"));
    let mut rows: Vec<TaskWrite> = busy.collect();
    rows.extend([put(31, 3, "a"), put(32, 3, "c"), put(33, 2, "z"), put(34, 4, "a"), put(35, 0, "b")]);
    rows.push(TaskWrite::Put(task(40, "nail")));
    write(&mut store, &rows);
    let of = |workspace| WantedTasks { workspace, ..wanted("mail", 6) };
    let in_two = board.take(&[of(Some(WorkspaceId(2)))], after(1), after(10)).unwrap();
    assert_eq!(runs(&in_two), [33].into());
    let anywhere = board.take(&[of(None)], after(1), after(10)).unwrap();
    assert_eq!(anywhere.len(), 6);
    assert!(runs(&anywhere).is_superset(&[31, 32, 34, 35].into()), "{anywhere:?}");
    let in_three = board.take(&[of(Some(WorkspaceId(3)))], after(1), after(10)).unwrap();
    assert_eq!(in_three.iter().filter(|task| task.workspace == WorkspaceId(3)).count(), 6);
}

#[test]
fn nodes_see_each_other_while_they_are_there() {
    let store = Postgres::open(&Server::shared().database()).unwrap();
    let mut cluster = store.cluster().unwrap().unwrap();
    let (a, b) = (NodeId(7), NodeId(3));
    assert_eq!(cluster.heartbeat(a).unwrap().nodes, [a]);
    let heartbeat = cluster.heartbeat(b).unwrap();
    assert_eq!(heartbeat.nodes, [b, a]);
    assert!((Timestamp::now() - heartbeat.now).get_hours().abs() < 1, "{}", heartbeat.now);
    cluster.leave(a).unwrap();
    assert_eq!(cluster.heartbeat(b).unwrap().nodes, [b]);
    Hand(store.connection.unsynced()).run("UPDATE nodes SET seen_at = seen_at - 2000000");
    assert_eq!(cluster.heartbeat(a).unwrap().nodes, [a]);
}

#[test]
fn the_others_are_notified_of_a_commit_and_oneself_is_not() {
    let address = Server::shared().database();
    let mut stores = [(); 2].map(|()| Postgres::open(&address).unwrap());
    let mut heard = Vec::new();
    for store in &stores {
        let (tell, told) = mpsc::channel();
        let listener =
            move |all: Vec<ClusterNotification>| all.into_iter().for_each(|one| drop(tell.send(one)));
        store.cluster().unwrap().unwrap().listen(Box::new(listener)).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(300)).unwrap(), ClusterNotification::Missed);
        heard.push(told);
    }
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut stores[0]);
    let run = nap.id();
    let ClusterNotification::RunChanged { run: changed, version, .. } =
        heard[1].recv_timeout(Duration::from_secs(300)).unwrap()
    else {
        panic!("a run was changed")
    };
    assert_eq!(changed, run);
    assert_eq!(stores[1].versions(&[run, RunId(1)]).unwrap(), [(run, version)]);
    // What somebody has is nothing to look for.
    write(&mut stores[1], &[TaskWrite::Put(held(2, after(9)))]);
    write(&mut stores[1], &[TaskWrite::Put(task(1, "mail"))]);
    let ready = heard[0].recv_timeout(Duration::from_secs(300)).unwrap();
    assert_eq!(
        ready,
        ClusterNotification::TaskReady { workspace: WorkspaceId::DEFAULT, queue: "mail".into() }
    );
    assert!(heard[1].try_recv().is_err() && heard[0].try_recv().is_err());
}

#[test]
fn many_runs_are_brought_up_to_date_by_one_statement() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut world = World::new();
    let mut naps: Vec<story::Story> =
        (0..3).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    story::save(&mut store, &mut naps);
    let known: Vec<(RunId, u64)> = naps.iter().map(|nap| (nap.id(), nap.run.seq)).collect();
    world.wake(&mut naps[1]);
    naps[1].save(&mut store);
    let sent = store.sent();
    let before = sent.count();
    let updates = store.updates(&known).unwrap();
    assert_eq!(sent.count() - before, 1);
    let [(run, Ok(RunUpdate::Records(records)))] = &updates[..] else { panic!("{updates:?}") };
    assert_eq!((*run, &records[..]), (naps[1].id(), &naps[1].history[known[1].1 as usize..]));
    let unknown: Vec<(RunId, u64)> = known.iter().map(|(run, _)| (*run, 0)).chain([(RunId(1), 0)]).collect();
    assert_eq!(store.updates(&unknown).unwrap().len(), 3);
}

#[test]
fn a_task_that_is_handed_out_again_is_found_under_the_name_it_has_then() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut board = store.tasks().unwrap().unwrap();
    write(&mut store, &[TaskWrite::Put(task(1, "mail"))]);
    let pinned = StoredTask { lease_epoch: 2, ..task(1, "mail\u{1}b1") };
    write(&mut store, &[TaskWrite::Put(pinned)]);
    assert_eq!(board.take(&[wanted("mail", 9)], after(1), after(10)).unwrap(), []);
    let found = board.take(&[wanted("mail\u{1}b1", 9)], after(1), after(10)).unwrap();
    assert_eq!((runs(&found), found[0].lease_epoch), ([1].into(), 2));
}
