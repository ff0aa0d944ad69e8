//! What is damaged, or takes the process down with it, is held; everybody else goes on.

use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::document::Workflow;
use abide_core::schedule::{CatchUp, Overlap, Plan, When};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::{Error, ScheduleOrder, SendEvent, examine};
use abide_store::Owner;
use serde_json::json;

use crate::host::Host;
use crate::watched::Watch;

fn nap() -> Workflow {
    Workflow::new("nap").sleep("zzz", "1h")
}

async fn sleepers(count: usize) -> (Host, Watch, Vec<abide_core::id::RunId>) {
    let host = Host::with(nap()).await;
    let runs = host.start_many("nap", count).await;
    let watch = Watch::default();
    let host = host.restart_on(&watch, "0s").await;
    (host, watch, runs)
}

#[tokio::test]
async fn a_run_that_cannot_be_read_is_held_and_the_timers_of_others_go_on() {
    let (host, watch, runs) = sleepers(5).await;
    watch.damage(&runs[1..3]);
    host.pass("2h").await;
    for (place, run) in runs.iter().enumerate() {
        match place {
            1 | 2 => {
                let held = host.engine.holds().get(Owner::Run(*run)).expect("it is held");
                assert!(held.reason.contains("told to be damaged"), "{}", held.reason);
                let refused = host.engine.run(*run).command(Command::Pause).await.unwrap_err();
                assert!(matches!(refused, Error::Held { .. }), "{refused}");
            }
            _ => assert_eq!(host.status(*run).await, RunStatus::Completed),
        }
    }
    assert_eq!(host.engine.holds().count(), 2);
    // One that is still damaged stays held, and one that is mended goes on where it was.
    watch.damage(&runs[1..2]);
    assert!(host.engine.holds().release(Owner::Run(runs[1])).await.is_err());
    assert!(host.engine.holds().release(Owner::Run(runs[2])).await.unwrap());
    host.look().await;
    assert_eq!(host.status(runs[2]).await, RunStatus::Completed);
    assert_eq!(host.engine.holds().count(), 1);
    let host = host.restart().await;
    assert!(host.engine.holds().get(Owner::Run(runs[1])).is_some(), "the next process knows");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_which_snapshot_is_passed_over_and_blames_no_run() {
    let host = Host::with(nap()).await;
    let run = host.start("nap").await;
    let watch = Watch::default();
    watch.damage_snapshots(&[run]);
    let mut reader = watch.reader(host.place.reader());
    let (_, findings) = examine(&mut *reader, &mut |_| true).unwrap();
    let told = findings.iter().find(|finding| finding.what.contains("snapshot")).expect("it is told");
    assert_eq!(told.owner, None);
    assert!(told.what.contains(&run.to_string()), "{}", told.what);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_goes_on_from_its_snapshot_and_that_is_what_its_history_gives() {
    let host = Host::with(nap()).await;
    let run = host.start("nap").await;
    for minutes in 0..600 {
        let resume_at = host.now() + jiff::SignedDuration::from_mins(61 + minutes % 2);
        let steer = Steer::new(1, Steering::Reschedule { resume_at });
        host.engine.run(run).command(Command::Steer(steer)).await.unwrap();
    }
    let snapshot = host.place.reader().snapshot(run).unwrap().expect("there is one");
    assert!(snapshot.seq >= 500, "{}", snapshot.seq);
    let host = host.restart().await;
    host.pass("2h").await;
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
    let (_, findings) = examine(&mut *host.place.reader(), &mut |_| true).unwrap();
    assert!(!findings.iter().any(|finding| finding.what.contains("snapshot")), "{findings:?}");
}

#[tokio::test]
async fn a_run_of_which_nothing_can_be_written_is_held_and_its_round_is_not_lost_to_the_others() {
    let (host, watch, runs) = sleepers(5).await;
    watch.damage_writes(&runs[3..4]);
    host.pass("2h").await;
    for (place, run) in runs.iter().enumerate() {
        let expected = if place == 3 { RunStatus::Waiting } else { RunStatus::Completed };
        if place != 3 {
            host.engine.run(*run).wait().await.unwrap();
        }
        assert_eq!(host.status(*run).await, expected, "{place}");
    }
    assert!(host.engine.holds().get(Owner::Run(runs[3])).is_some());
    assert_eq!(host.engine.trouble(), None);
    let new = host.start("nap").await;
    assert_eq!(host.status(new).await, RunStatus::Waiting);
}

#[tokio::test]
async fn a_run_under_way_that_cannot_be_read_does_not_keep_the_engine_from_opening() {
    let host = Host::with(Workflow::new("w").task("a", "nobody")).await;
    let runs = host.start_many("w", 3).await;
    let watch = Watch::default();
    watch.damage(&runs[..1]);
    let host = host.restart_on(&watch, "0s").await;
    host.look().await;
    drop(host.engine.run(runs[0]).get().await);
    assert!(host.engine.holds().get(Owner::Run(runs[0])).is_some());
    assert_eq!(host.status(runs[1]).await, RunStatus::Running);
}

#[tokio::test]
async fn what_is_held_stands_still_and_hears_of_what_it_missed_when_it_is_released() {
    let host = Host::with(nap()).await;
    host.engine.deploy(Workflow::new("listener").wait_for_event("paid", "paid")).await.unwrap();
    host.engine.deploy(Workflow::new("parent").child("child", "nap")).await.unwrap();
    let (sleeper, listener) = (host.start("nap").await, host.start("listener").await);
    let parent = host.start("parent").await;
    let other = host.start("nap").await;
    for run in [sleeper, listener, parent] {
        assert!(host.engine.holds().hold(Owner::Run(run), "ana", "to be looked into").await.unwrap());
        assert!(!host.engine.holds().hold(Owner::Run(run), "ben", "too").await.unwrap(), "it is already");
        assert_eq!(host.engine.holds().get(Owner::Run(run)).unwrap().reason, "to be looked into");
    }
    let host = host.restart().await;
    let event = SendEvent::new("paid").data(json!(1));
    assert_eq!(host.engine.default_workspace().events().send(event).await.unwrap().waiters, []);
    host.pass("2h").await;
    assert_eq!(host.status(other).await, RunStatus::Completed);
    for run in [sleeper, listener, parent] {
        assert_eq!(host.status(run).await, RunStatus::Waiting);
        assert!(host.engine.holds().release(Owner::Run(run)).await.unwrap());
        assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
        assert!(!host.engine.holds().release(Owner::Run(run)).await.unwrap(), "it is not held any more");
    }
    assert_eq!(host.restart().await.engine.holds().count(), 0);
}

#[tokio::test]
async fn a_schedule_can_be_held() {
    let host = Host::with(Workflow::new("w").sleep("zzz", "1s")).await;
    let plan = Plan {
        name: "often".to_owned(),
        workflow: "w".to_owned(),
        version: None,
        input: json!({}).into(),
        tags: Vec::new(),
        when: When::Every(Millis(60_000)),
        overlap: Overlap::default(),
        catch_up: CatchUp::default(),
    };
    let by = || Actor::new("ana");
    let made =
        host.engine.default_workspace().schedules().order(ScheduleOrder::Create(plan), by(), None).await;
    let owner = made.unwrap().schedule.id.owner();
    host.engine.holds().hold(owner, "ana", "too often").await.unwrap();
    host.pass("10m").await;
    let runs = |host: &Host| {
        let engine = host.engine.clone();
        async move {
            let counts = engine.admin().count_runs().await.unwrap();
            counts.iter().map(|(_, count)| count).sum::<u64>()
        }
    };
    assert_eq!(runs(&host).await, 0);
    assert!(host.engine.holds().release(owner).await.unwrap());
    host.pass("2m").await;
    assert!(runs(&host).await > 0);
}

#[tokio::test]
async fn what_was_decided_each_time_the_process_ended_is_held_after_the_third() {
    let host = Host::with(nap()).await;
    let [culprit, other] = [host.start("nap").await, host.start("nap").await];
    let mut host = host;
    for deaths in 1..=3 {
        assert_eq!(host.engine.holds().count(), 0, "{deaths}");
        let noted = |store: &mut dyn abide_store::Store| store.note_suspect(None, Some(Owner::Run(culprit)));
        host = host.restart_noting(noted).await;
    }
    let held = host.engine.holds().get(Owner::Run(culprit)).expect("it is held");
    assert!(held.reason.contains("ended 3 times"), "{}", held.reason);
    host.pass("2h").await;
    assert_eq!(host.status(other).await, RunStatus::Completed);
    assert_eq!(host.status(culprit).await, RunStatus::Waiting);
    assert!(host.engine.holds().release(Owner::Run(culprit)).await.unwrap());
    assert_eq!(host.engine.run(culprit).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.restart().await.engine.holds().count(), 0, "its deaths are forgiven");
}

#[tokio::test]
async fn a_full_disk_is_told_until_there_is_room() {
    let (host, watch, runs) = sleepers(1).await;
    assert_eq!(host.engine.trouble(), None);
    watch.fill_disk(true);
    host.engine.start("nap", json!({})).await.unwrap_err();
    assert!(host.engine.trouble().expect("it is told").contains("the disk is full"));
    watch.fill_disk(false);
    // Nobody asks for anything: it finds out by itself.
    while host.engine.trouble().is_some() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(host.end_of(runs[0]).await.status, RunStatus::Completed);
}
