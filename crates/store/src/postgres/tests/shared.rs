//! What nodes share: tasks, each other, and word.

use std::collections::BTreeSet;
use std::sync::mpsc;

use abide_core::id::At;
use abide_core::time::Millis;

use super::*;
use crate::share::{FoundTask, News, NodeId, StoredTask, TaskWrite, WantedTasks};

const NOW: &str = "2026-03-01T00:00:00Z";

fn after(seconds: i64) -> Timestamp {
    NOW.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(seconds)
}

fn task(number: u128, queue: &str) -> StoredTask {
    StoredTask {
        run: RunId(number),
        at: At::item(2, 7),
        delivery: 1,
        workspace: WorkspaceId::DEFAULT,
        queue: queue.into(),
        definition: "flow".into(),
        has_begun: false,
        free_at: after(0),
        lease: Millis(30_000),
        deadline: None,
    }
}

fn write(store: &mut Postgres, tasks: &[TaskWrite]) {
    store.commit(&Batch { tasks: tasks.iter().collect(), ..Batch::default() }).unwrap();
}

fn wanted(queue: &str, limit: usize) -> WantedTasks {
    WantedTasks { workspace: Some(WorkspaceId::DEFAULT), queue: queue.into(), limit }
}

fn runs(found: &[FoundTask]) -> BTreeSet<u128> {
    found.iter().map(|task| task.run.0).collect()
}

#[test]
fn tasks_are_taken_from_each_workflow_in_turn() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut share = store.share().unwrap().unwrap();
    let put = |number, flow: &str, free_at| {
        TaskWrite::Put(StoredTask { definition: flow.into(), free_at, ..task(number, "mail") })
    };
    let mut rows: Vec<TaskWrite> = (1..=9).map(|number| put(number, "busy", after(0))).collect();
    rows.extend([put(11, "quiet", after(1)), put(12, "quiet", after(2)), put(13, "zen", after(3))]);
    write(&mut store, &rows);
    let anywhere = |limit| WantedTasks { workspace: None, ..wanted("mail", limit) };
    let mut take = |wanted| runs(&share.take_tasks(&[wanted], after(5), after(10)).unwrap());
    let first = take(anywhere(3));
    assert_eq!(first.range(11..).copied().collect::<Vec<_>>(), [11, 13], "{first:?}");
    let second = take(wanted("mail", 3));
    assert_eq!(second.range(11..).copied().collect::<Vec<_>>(), [12], "{second:?}");
    assert_eq!(first.len() + second.len(), 6);
    assert_eq!(take(wanted("mail", 99)).len(), 6);
}

#[test]
fn a_task_is_found_by_one_who_wants_it_and_by_nobody_else_for_a_while() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut share = store.share().unwrap().unwrap();
    let mut rows: Vec<TaskWrite> = (1..=5).map(|number| TaskWrite::Put(task(number, "mail"))).collect();
    rows.push(TaskWrite::Put(task(6, "other")));
    rows.push(TaskWrite::Put(StoredTask { free_at: after(60), ..task(7, "mail") }));
    rows.push(TaskWrite::Put(StoredTask { workspace: WorkspaceId(1), ..task(8, "mail") }));
    write(&mut store, &rows);
    let first = share.take_tasks(&[wanted("mail", 3)], after(1), after(10)).unwrap();
    assert_eq!(first.len(), 3);
    assert_eq!((first[0].at, first[0].delivery, &*first[0].queue), (At::item(2, 7), 1, "mail"));
    let rest = share.take_tasks(&[wanted("mail", 9)], after(1), after(10)).unwrap();
    assert_eq!(&runs(&first) | &runs(&rest), (1..=5).collect());
    assert_eq!(rest.len(), 2);
    assert_eq!(share.take_tasks(&[wanted("mail", 9)], after(2), after(10)).unwrap(), []);
    // Of any workspace.
    let anywhere = WantedTasks { workspace: None, ..wanted("mail", 9) };
    let both = share.take_tasks(&[anywhere, wanted("other", 9)], after(2), after(10)).unwrap();
    assert_eq!(runs(&both), [6, 8].into());
    // Those that were kept are kept longer, and the others are free again.
    share.keep_tasks(&first, after(20)).unwrap();
    assert_eq!(runs(&share.take_tasks(&[wanted("mail", 9)], after(11), after(30)).unwrap()), runs(&rest));
    // Another delivery of it has begun meanwhile.
    write(&mut store, &[TaskWrite::Remove { run: RunId(5), at: At::item(2, 7), delivery: 0 }]);
    write(&mut store, &[TaskWrite::Remove { run: RunId(7), at: At::item(2, 7), delivery: 1 }]);
    let late = share.take_tasks(&[wanted("mail", 9)], after(100), after(200)).unwrap();
    assert_eq!(runs(&late), (1..=5).collect());
}

#[test]
fn a_task_that_has_begun_is_late_when_its_time_is_over_and_a_sign_of_life_gives_it_more() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut share = store.share().unwrap().unwrap();
    let begun = |number| StoredTask { has_begun: true, free_at: after(30), ..task(number, "mail") };
    let limited = StoredTask { deadline: Some(after(45)), ..begun(2) };
    let rows = [begun(1), limited, begun(3)].map(TaskWrite::Put);
    write(&mut store, &rows);
    assert_eq!(share.take_tasks(&[wanted("mail", 9)], after(100), after(200)).unwrap(), []);
    assert_eq!(share.take_late_tasks(after(29), after(32), 9).unwrap(), []);
    let renew =
        |number| TaskWrite::Renew { run: RunId(number), at: At::item(2, 7), delivery: 1, now: after(29) };
    let stale = TaskWrite::Renew { run: RunId(3), at: At::item(2, 7), delivery: 2, now: after(29) };
    write(&mut store, &[renew(1), renew(2), stale]);
    assert_eq!(runs(&share.take_late_tasks(after(31), after(40), 9).unwrap()), [3].into());
    assert_eq!(runs(&share.take_late_tasks(after(46), after(60), 9).unwrap()), [2, 3].into());
    assert_eq!(runs(&share.take_late_tasks(after(59), after(60), 9).unwrap()), [1].into());
}

#[test]
fn nodes_see_each_other_while_they_are_there() {
    let store = Postgres::open(&Server::shared().database()).unwrap();
    let mut share = store.share().unwrap().unwrap();
    let (a, b) = (NodeId(7), NodeId(3));
    assert_eq!(share.beat(a).unwrap().nodes, [a]);
    let beat = share.beat(b).unwrap();
    assert_eq!(beat.nodes, [b, a]);
    assert!((Timestamp::now() - beat.now).get_hours().abs() < 1, "{}", beat.now);
    share.leave(a).unwrap();
    assert_eq!(share.beat(b).unwrap().nodes, [b]);
    Hand(store.link.sharing()).run("UPDATE nodes SET seen_at = seen_at - 2000000");
    assert_eq!(share.beat(a).unwrap().nodes, [a]);
}

#[test]
fn word_of_a_commit_reaches_the_others_and_not_oneself() {
    let address = Server::shared().database();
    let mut stores = [(); 2].map(|()| Postgres::open(&address).unwrap());
    let mut heard = Vec::new();
    let mut shares = Vec::new();
    for store in &stores {
        let (tell, told) = mpsc::channel();
        let mut share = store.share().unwrap().unwrap();
        share.hear(Box::new(move |news| news.into_iter().for_each(|news| drop(tell.send(news))))).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(30)).unwrap(), News::Missed);
        heard.push(told);
        shares.push(share);
    }
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut stores[0]);
    let run = nap.id();
    let News::RunChanged { run: changed, version, .. } =
        heard[1].recv_timeout(Duration::from_secs(30)).unwrap()
    else {
        panic!("a run was changed")
    };
    assert_eq!(changed, run);
    assert_eq!(shares[1].versions(&[run, RunId(1)]).unwrap(), [(run, version)]);
    write(&mut stores[1], &[TaskWrite::Put(task(1, "mail"))]);
    let news = heard[0].recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(news, News::TaskReady { workspace: WorkspaceId::DEFAULT, queue: "mail".into() });
    assert!(heard[1].try_recv().is_err() && heard[0].try_recv().is_err());
}

#[test]
fn only_runs_that_have_moved_on_are_loaded() {
    let mut store = Postgres::open(&Server::shared().database()).unwrap();
    let mut world = World::new();
    let mut naps: Vec<story::Story> =
        (0..3).map(|_| world.start(&story::nap(), json!({ "sleep": "1h" }))).collect();
    story::save(&mut store, &mut naps);
    let known: Vec<(RunId, u64)> = naps
        .iter()
        .map(|nap| (nap.id(), store.load(nap.id()).unwrap().unwrap().history.len() as u64))
        .collect();
    assert!(store.load_changed(&known).unwrap().is_empty());
    world.wake(&mut naps[1]);
    naps[1].save(&mut store);
    let changed = store.load_changed(&known).unwrap();
    assert_eq!(changed.iter().map(|(run, _)| *run).collect::<Vec<_>>(), [naps[1].id()]);
    assert_eq!(Some(&changed[0].1), store.load(naps[1].id()).unwrap().as_ref());
    let unknown: Vec<(RunId, u64)> = known.iter().map(|(run, _)| (*run, 0)).chain([(RunId(1), 0)]).collect();
    assert_eq!(store.load_changed(&unknown).unwrap().len(), 3);
}
