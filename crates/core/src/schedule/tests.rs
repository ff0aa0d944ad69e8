use super::*;
use crate::cron::Cron;
use crate::time::Millis;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn plan(overlap: Overlap, catch_up: CatchUp) -> Plan {
    Plan {
        name: "nightly".to_owned(),
        workflow: "report".to_owned(),
        version: None,
        input: Json::null(),
        tags: Vec::new(),
        when: When::Cron(Cron::parse("0 9 * * *", Some("Europe/Berlin")).unwrap()),
        overlap,
        catch_up,
    }
}

const START: &str = "2026-03-01T12:00:00Z";
/// Nine in Berlin, on the days after.
const NINE: [&str; 5] = [
    "2026-03-02T08:00:00Z",
    "2026-03-03T08:00:00Z",
    "2026-03-04T08:00:00Z",
    "2026-03-05T08:00:00Z",
    "2026-03-06T08:00:00Z",
];

fn schedule(overlap: Overlap, catch_up: CatchUp) -> Schedule {
    let id = ScheduleId::new(at(START), 7);
    Schedule::new(id, WorkspaceId::DEFAULT, plan(overlap, catch_up), Actor::new("anna"), at(START))
}

fn due_at(schedule: &Schedule) -> Option<String> {
    schedule.pending().and_then(|wait| wait.resume_at).map(|at| at.to_string())
}

/// The occurrences that are started.
fn started(acts: &[Act]) -> Vec<String> {
    let starts = acts.iter().filter_map(|act| match act {
        Act::Start { occurrence, .. } => Some(occurrence.to_string()),
        Act::Cancel(_) => None,
    });
    starts.collect()
}

fn outcomes(schedule: &Schedule, number: u32) -> Vec<String> {
    let payload = schedule.wait(number).unwrap().resume_payload.as_ref().unwrap();
    let outcomes = payload["outcomes"].as_array().unwrap().iter();
    outcomes.map(|outcome| outcome["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_occurrence_starts_a_run_and_the_next_one_is_waited_for() {
    let mut schedule = schedule(Overlap::Skip, CatchUp::Last);
    assert_eq!(due_at(&schedule).as_deref(), Some(NINE[0]));
    let acts = schedule.fire(1, None, at(NINE[0])).unwrap();
    let run = schedule.last_run.unwrap();
    assert_eq!(acts, [Act::Start { run, occurrence: at(NINE[0]) }]);
    assert_eq!((due_at(&schedule).as_deref(), schedule.seq), (Some(NINE[1]), 2));
    let wait = schedule.wait(1).unwrap();
    assert_eq!((wait.status, wait.kind), (WaitStatus::Completed, Kind::Schedule));
    assert_eq!(wait.resume_payload.as_ref().unwrap()["outcomes"][0]["runId"], json!(run));
}

#[test]
fn r03_an_occurrence_is_never_early_and_never_comes_twice() {
    let mut schedule = schedule(Overlap::Allow, CatchUp::All);
    let early = schedule.fire(1, None, at("2026-03-02T07:59:59.999Z"));
    assert!(matches!(early, Err(Refusal::NotDue { .. })));
    schedule.fire(1, None, at(NINE[0])).unwrap();
    assert!(matches!(schedule.fire(1, None, at(NINE[0])), Err(Refusal::AlreadyResolved(_))));
    assert!(matches!(schedule.fire(2, None, at(NINE[0])), Err(Refusal::NotDue { .. })));
    assert!(matches!(schedule.fire(9, None, at(NINE[0])), Err(Refusal::UnknownWaitpoint(_))));
}

#[test]
fn what_was_missed_is_made_up_for_as_the_plan_says() {
    let late = at("2026-03-05T08:02:00Z");
    for (catch_up, expected) in
        [(CatchUp::None, &NINE[..0]), (CatchUp::Last, &NINE[3..4]), (CatchUp::All, &NINE[..4])]
    {
        let mut schedule = schedule(Overlap::Allow, catch_up);
        let acts = schedule.fire(1, None, late).unwrap();
        assert_eq!(started(&acts), expected, "{catch_up:?}");
        let payload = schedule.wait(1).unwrap().resume_payload.clone().unwrap();
        assert_eq!(payload["missed"], json!(4 - expected.len()));
        assert_eq!(due_at(&schedule).as_deref(), Some(NINE[4]));
    }
}

#[test]
fn one_that_is_a_little_late_was_not_missed() {
    let mut schedule = schedule(Overlap::Allow, CatchUp::None);
    assert_eq!(started(&schedule.fire(1, None, at("2026-03-03T08:01:00Z")).unwrap()), NINE[1..2]);
}

#[test]
fn no_more_than_a_bound_is_made_up_for_and_it_is_the_last_ones() {
    let mut plan = plan(Overlap::Queue, CatchUp::All);
    plan.when = When::Every(Millis(1_000));
    let id = ScheduleId::new(at(START), 7);
    let mut schedule = Schedule::new(id, WorkspaceId::DEFAULT, plan, Actor::new("anna"), at(START));
    let acts = schedule.fire(1, None, at("2027-03-01T12:00:00Z")).unwrap();
    assert_eq!(started(&acts), ["2027-03-01T11:58:21Z"]);
    assert_eq!(schedule.queued.len(), limits::SCHEDULE_CATCH_UP - 1);
    assert_eq!(schedule.queued.back(), Some(&at("2027-03-01T12:00:00Z")));
    assert_eq!(due_at(&schedule).as_deref(), Some("2027-03-01T12:00:01Z"));
}

#[test]
fn where_only_one_can_run_it_is_the_last_that_is_made_up_for() {
    for overlap in [Overlap::Skip, Overlap::CancelPrevious] {
        let mut schedule = schedule(overlap, CatchUp::All);
        assert_eq!(started(&schedule.fire(1, None, at("2026-03-05T10:00:00Z")).unwrap()), NINE[3..4]);
    }
}

#[test]
fn a_run_that_has_not_ended_is_dealt_with_as_the_plan_says() {
    let second = |overlap, previous| {
        let mut schedule = schedule(overlap, CatchUp::Last);
        schedule.fire(1, None, at(NINE[0])).unwrap();
        let first = schedule.last_run.unwrap();
        let acts = schedule.fire(2, Some(previous), at(NINE[1])).unwrap();
        (acts.contains(&Act::Cancel(first)), started(&acts).len(), outcomes(&schedule, 2).concat())
    };
    for status in [RunStatus::Running, RunStatus::Waiting, RunStatus::Paused, RunStatus::Pending] {
        assert_eq!(second(Overlap::Skip, status), (false, 0, "skipped".to_owned()));
        assert_eq!(second(Overlap::Queue, status), (false, 0, "queued".to_owned()));
        assert_eq!(second(Overlap::CancelPrevious, status), (true, 1, "started".to_owned()));
        assert_eq!(second(Overlap::Allow, status), (false, 1, "started".to_owned()));
    }
    for status in [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled] {
        for overlap in Overlap::ALL {
            assert_eq!(second(overlap, status), (false, 1, "started".to_owned()), "{overlap:?}");
        }
    }
}

#[test]
fn what_is_queued_is_started_when_the_run_before_it_ends() {
    let mut schedule = schedule(Overlap::Queue, CatchUp::Last);
    schedule.fire(1, None, at(NINE[0])).unwrap();
    let first = schedule.last_run.unwrap();
    schedule.fire(2, Some(RunStatus::Running), at(NINE[1])).unwrap();
    schedule.fire(3, Some(RunStatus::Running), at(NINE[2])).unwrap();
    assert_eq!(schedule.run_ended(RunId(1), at(NINE[2])), [], "another run");
    assert_eq!(started(&schedule.run_ended(first, at(NINE[2]))), NINE[1..2]);
    assert_eq!(schedule.run_ended(first, at(NINE[2])), [], "it was the last run then, and is not now");
    let second = schedule.last_run.unwrap();
    assert_eq!(started(&schedule.run_ended(second, at(NINE[2]))), NINE[2..3]);
    let third = schedule.last_run.unwrap();
    assert_eq!(schedule.run_ended(third, at(NINE[2])), []);
}

#[test]
fn what_is_queued_comes_first_even_if_nobody_said_that_the_run_before_has_ended() {
    let mut schedule = schedule(Overlap::Queue, CatchUp::Last);
    schedule.fire(1, None, at(NINE[0])).unwrap();
    schedule.fire(2, Some(RunStatus::Running), at(NINE[1])).unwrap();
    let acts = schedule.fire(3, Some(RunStatus::Completed), at(NINE[2])).unwrap();
    assert_eq!((started(&acts), schedule.queued), (vec![NINE[1].to_owned()], [at(NINE[2])].into()));
}

#[test]
fn a_queue_has_an_end_and_says_so() {
    let mut schedule = schedule(Overlap::Queue, CatchUp::Last);
    schedule.queued = vec![at(START); limits::SCHEDULE_QUEUE].into();
    schedule.fire(1, Some(RunStatus::Running), at(NINE[0])).unwrap();
    assert_eq!(outcomes(&schedule, 1), ["queueFull"]);
}

#[test]
fn r09_the_wait_of_a_schedule_is_steered_like_any_other() {
    let by = Actor::new("ben");
    let now = at("2026-03-01T13:00:00Z");
    // Woken now: the occurrence of tomorrow has come, the day after is next.
    let mut woken = schedule(Overlap::Skip, CatchUp::Last);
    let acts = woken.steer(1, &Steering::Complete { payload: None }, None, &by, now).unwrap();
    assert_eq!((started(&acts), due_at(&woken).as_deref()), (vec![NINE[0].to_owned()], Some(NINE[1])));
    assert_eq!(woken.wait(1).unwrap().resolved_by, Some(by.clone()));
    // Cancelled: this one does not come, the next one does.
    let mut cancelled = schedule(Overlap::Skip, CatchUp::Last);
    assert_eq!(cancelled.steer(1, &Steering::Cancel, None, &by, now).unwrap(), []);
    assert_eq!(cancelled.wait(1).unwrap().status, WaitStatus::Cancelled);
    assert_eq!(due_at(&cancelled).as_deref(), Some(NINE[1]));
    // Moved: it comes then, as itself, and the rule goes on after it.
    let mut moved = schedule(Overlap::Skip, CatchUp::None);
    let resume_at = at("2026-03-04T10:00:00Z");
    moved.steer(1, &Steering::Reschedule { resume_at }, None, &by, now).unwrap();
    assert!(matches!(moved.fire(1, None, at(NINE[0])), Err(Refusal::NotDue { .. })));
    assert_eq!(started(&moved.fire(1, None, resume_at).unwrap()), NINE[..1]);
    assert_eq!(due_at(&moved).as_deref(), Some(NINE[3]));
    // With somebody else's input it would not be the schedule's run.
    let payload = Some(Json::null());
    let refused = moved.steer(2, &Steering::Complete { payload }, None, &by, now);
    assert!(matches!(refused, Err(Refusal::Malformed { pointer: "/payload", .. })));
    assert!(matches!(moved.steer(1, &Steering::Cancel, None, &by, now), Err(Refusal::AlreadyResolved(_))));
}

#[test]
fn a_trigger_starts_one_more_and_leaves_the_next_occurrence_alone() {
    let mut schedule = schedule(Overlap::Skip, CatchUp::Last);
    let triggered = schedule.trigger(None, at(START));
    assert_eq!((triggered.outcome, triggered.run), ("started", schedule.last_run));
    assert_eq!(due_at(&schedule).as_deref(), Some(NINE[0]));
    assert_eq!(schedule.trigger(Some(RunStatus::Waiting), at(START)).outcome, "skipped");
    let again = schedule.trigger(Some(RunStatus::Completed), at(START));
    assert_ne!(again.run, triggered.run, "two in one instant are two runs");
}

#[test]
fn while_it_is_paused_nothing_comes_and_nothing_is_made_up_for() {
    let (mut schedule, by) = (schedule(Overlap::Skip, CatchUp::All), Actor::new("ben"));
    schedule.pause(&by, at(START));
    assert_eq!((due_at(&schedule), schedule.wait(1).unwrap().status), (None, WaitStatus::Cancelled));
    schedule.unpause(at("2026-03-04T12:00:00Z"));
    assert_eq!(due_at(&schedule).as_deref(), Some(NINE[3]));
    let seq = schedule.seq;
    schedule.unpause(at("2026-03-04T12:00:00Z"));
    assert_eq!(schedule.seq, seq, "it is so already");
}

#[test]
fn another_rule_of_time_begins_now_and_another_input_changes_nothing_about_the_time() {
    let (mut schedule, by) = (schedule(Overlap::Skip, CatchUp::All), Actor::new("ben"));
    let mut plan = schedule.plan.clone();
    plan.input = Json::new(json!(1));
    schedule.change(plan.clone(), &by, at(START));
    assert_eq!(schedule.pending().unwrap().number, 1);
    plan.when = When::Every(Millis(60_000));
    schedule.change(plan, &by, at("2026-03-01T12:00:30Z"));
    assert_eq!(due_at(&schedule).as_deref(), Some("2026-03-01T12:01:30Z"));
    assert_eq!(schedule.wait(1).unwrap().status, WaitStatus::Cancelled);
}

#[test]
fn a_run_that_could_not_be_started_is_told_of_and_holds_up_nothing() {
    let mut schedule = schedule(Overlap::Skip, CatchUp::Last);
    schedule.fire(1, None, at(NINE[0])).unwrap();
    schedule.not_started(
        schedule.last_run.unwrap(),
        &Refused { input: false, message: "there is no workflow `report`".to_owned() },
        at(NINE[0]),
    );
    assert_eq!((schedule.last_run, outcomes(&schedule, 1)), (None, vec!["failed".to_owned()]));
}

#[test]
fn only_the_last_waits_are_remembered() {
    let mut schedule = schedule(Overlap::Skip, CatchUp::Last);
    for number in 1..=50 {
        schedule.steer(number, &Steering::Cancel, None, &Actor::new("ben"), at(START)).unwrap();
    }
    assert_eq!(schedule.waits().count(), limits::SCHEDULE_WAITS);
    assert_eq!(schedule.pending().unwrap().number, 51);
    let refused = schedule.steer(1, &Steering::Cancel, None, &Actor::new("ben"), at(START));
    assert!(matches!(refused, Err(Refusal::UnknownWaitpoint(_))));
}

#[test]
fn it_is_read_back_as_it_was_stored() {
    let mut schedule = schedule(Overlap::Queue, CatchUp::All);
    schedule.fire(1, Some(RunStatus::Running), at(NINE[2])).unwrap();
    let text = serde_json::to_string(&schedule).unwrap();
    assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule);
}
