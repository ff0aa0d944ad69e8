//! Several waits of one step: who wins, what becomes of the others, and what a deadline does to all of them.

use abide_core::command::{ChildFinished, ChildOutcome, Command, ResumeTarget, Steer, Steering, Via, Vote};
use abide_core::effect::RoundEffect;
use abide_core::history::{Failure, KnownWaits, Record, sentence};
use abide_core::id::StepAddress;
use abide_core::run::Timer;
use abide_core::waitpoint::{Decision, Waitpoint};
use serde_json::{Value, json};

use crate::scenario::*;

/// A run whose first step waits for several things; `next` follows, then `other`.
fn begun(group: Value) -> Scenario {
    let group = json!({ "name": "outcome" }).also(group);
    start(json!([group, task("next").also(json!({ "next": "end" })), task("other")]))
}

fn any(waits: Value) -> Value {
    json!({ "type": "wait_any", "waits": waits })
}

fn all(waits: Value) -> Value {
    json!({ "type": "wait_all", "waits": waits })
}

fn signals(types: &[&str]) -> Value {
    let members = types
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "type": "external_event", "signalType": name })));
    Value::Object(members.collect())
}

impl Scenario {
    #[track_caller]
    fn one(&self, name: &str) -> &Waitpoint {
        let waits = self.run().waitpoints().rev();
        waits
            .into_iter()
            .find(|wait| &*wait.name == name)
            .unwrap_or_else(|| panic!("there is no wait {name}"))
    }

    fn ended(&self) -> Vec<String> {
        self.run().waitpoints().map(|wait| format!("{} {}", wait.name, wait.status)).collect()
    }

    fn fire_one(&mut self, name: &str) -> Answer {
        let number = self.one(name).number;
        self.fire(Timer::Waitpoint(number))
    }

    fn call_one(&mut self, name: &str, body: Value) -> Answer {
        let target = ResumeTarget::Waitpoint(self.one(name).number);
        self.resume(target, body, Via::Write)
    }

    fn child_of(&mut self, name: &str, outcome: ChildOutcome) -> Answer {
        let number = self.one(name).number;
        self.send(Command::ChildFinished(ChildFinished { number, outcome }))
    }

    /// What the history says, in sentences.
    fn told(&self) -> Vec<String> {
        let mut known = KnownWaits::default();
        let tell = |record: &Record| {
            known.read(&record.change);
            sentence(&self.definition(), &|number| known.get(number), record)
        };
        self.history().iter().map(tell).collect()
    }

    fn steer_one(&mut self, name: &str, steering: Steering) -> Answer {
        let number = self.one(name).number;
        self.steer_wait(number, steering)
    }
}

#[test]
fn the_first_of_several_waits_ends_the_step_and_the_others_are_cancelled_in_the_same_decision() {
    let waits = json!({
        "call": { "type": "webhook" },
        "late": { "type": "wait", "duration": "3d" },
        "paid": { "type": "wait_for_event", "eventId": "paid" },
        "stop": { "type": "external_event", "signalType": "stop" },
    });
    let mut run = begun(any(waits).also(json!({ "timeout": "7d" })));
    assert_eq!(
        run.open(),
        ["outcome WEBHOOK", "outcome DELAY", "outcome EVENT", "outcome SIGNAL", "outcome DELAY"]
    );
    run.signal("stop", json!({ "why": "no" }));
    assert_eq!(run.output_of("outcome"), json!({ "first": "stop", "results": { "stop": { "why": "no" } } }));
    assert_eq!(
        run.ended(),
        ["call CANCELLED", "late CANCELLED", "paid CANCELLED", "stop COMPLETED", "$deadline CANCELLED"]
    );
    assert_eq!(run.step("next"), "RUNNING");
    assert_eq!(run.call_one("call", json!(1)).code(), "WAITPOINT_CANCELLED");
}

#[test]
fn every_kind_of_wait_can_win() {
    let waits = || {
        json!({
            "call": { "type": "webhook" },
            "child": { "type": "workflow", "definition": "other" },
            "late": { "type": "wait", "duration": "3d" },
            "paid": { "type": "wait_for_event", "eventId": "paid" },
        })
    };
    let mut run = begun(any(waits()));
    run.notify("paid", json!({ "amount": 5 }));
    assert_eq!(run.output_of("outcome"), json!({ "first": "paid", "results": { "paid": { "amount": 5 } } }));
    let mut run = begun(any(waits()));
    run.live("3d");
    assert_eq!(run.output_of("outcome"), json!({ "first": "late", "results": { "late": null } }));
    let mut run = begun(any(waits()));
    run.child_of("child", ChildOutcome::Completed { output: json!("done").into() });
    assert_eq!(run.output_of("outcome"), json!({ "first": "child", "results": { "child": "done" } }));
    let mut run = begun(any(waits()));
    run.call_one("call", json!("hello"));
    assert_eq!(run.output_of("outcome")["results"], json!({ "call": { "body": "hello" } }));
}

#[test]
fn a_child_that_loses_is_cancelled() {
    let waits = json!({
        "child": { "type": "workflow", "definition": "other", "input": { "n": "{{ input.n ?? 1 }}" } },
        "stop": { "type": "external_event", "signalType": "stop" },
    });
    let mut run = begun(any(waits));
    let started = run.in_round().iter().filter(|effect| matches!(effect, RoundEffect::StartChild(_))).count();
    run.signal("stop", json!(1));
    let cancelled =
        run.in_round().iter().filter(|effect| matches!(effect, RoundEffect::CancelChild { .. })).count();
    assert_eq!((started, cancelled), (1, 1));
}

#[test]
fn all_of_several_waits_must_come_and_the_first_of_them_is_named() {
    let mut run = begun(all(signals(&["a", "b", "c"])));
    run.signal("b", json!(2));
    run.signal("c", json!(3));
    assert_eq!(run.step("outcome"), "WAITING");
    run.signal("a", json!(1));
    assert_eq!(run.output_of("outcome"), json!({ "first": "a", "results": { "a": 1, "b": 2, "c": 3 } }));
    let mut run = begun(all(signals(&["a", "b"])));
    run.signal("b", json!(2));
    run.advance("1s");
    run.signal("a", json!(1));
    assert_eq!(run.output_of("outcome")["first"], "b");
}

#[test]
fn so_many_of_several_waits_are_enough() {
    let mut run = begun(json!({ "type": "wait_some", "count": 2, "waits": signals(&["a", "b", "c"]) }));
    run.signal("c", json!(3));
    assert_eq!(run.step("outcome"), "WAITING");
    run.advance("1s");
    run.signal("a", json!(1));
    assert_eq!(run.output_of("outcome"), json!({ "first": "c", "results": { "a": 1, "c": 3 } }));
    assert_eq!(run.ended(), ["a COMPLETED", "b CANCELLED", "c COMPLETED"]);
}

#[test]
fn waits_of_a_group_inside_count_as_one() {
    let waits = json!({
        "both": { "type": "wait_all", "waits": signals(&["a", "b"]) },
        "stop": { "type": "external_event", "signalType": "stop" },
    });
    let mut run = begun(any(waits.clone()));
    run.signal("a", json!(1));
    assert_eq!(run.step("outcome"), "WAITING");
    run.signal("b", json!(2));
    let both = json!({ "first": "a", "results": { "a": 1, "b": 2 } });
    assert_eq!(run.output_of("outcome"), json!({ "first": "both", "results": { "both": both } }));
    assert_eq!(run.ended(), ["both.a COMPLETED", "both.b COMPLETED", "stop CANCELLED"]);
    let mut run = begun(any(waits));
    run.signal("a", json!(1));
    run.signal("stop", json!(0));
    assert_eq!(run.output_of("outcome"), json!({ "first": "stop", "results": { "stop": 0 } }));
}

#[test]
fn the_one_that_comes_first_says_where_the_run_goes_on() {
    let goto = json!({ "goto": { "b": "other" } });
    let mut run = begun(any(signals(&["a", "b"])).also(goto.clone()));
    run.signal("b", json!(1));
    assert_eq!(run.steps(), "outcome COMPLETED, next SKIPPED, other RUNNING");
    let mut run = begun(any(signals(&["a", "b"])).also(goto));
    run.signal("a", json!(1));
    assert_eq!(run.steps(), "outcome COMPLETED, next RUNNING, other PENDING");
}

#[test]
fn in_a_graph_the_ways_of_those_that_did_not_come_are_not_taken() {
    let steps = |goto: Value| {
        let group = any(signals(&["a", "b"])).also(json!({ "name": "outcome", "goto": goto }));
        let after = json!({ "after": ["outcome"] });
        start(json!([group, task("ship").also(after.clone()), task("refund").also(after)]))
    };
    let mut run = steps(json!({ "b": "refund" }));
    run.signal("a", json!(1));
    assert_eq!(run.steps(), "outcome COMPLETED, ship RUNNING, refund SKIPPED");
    let mut run = steps(json!({ "a": "ship", "b": "refund" }));
    run.signal("b", json!(1));
    assert_eq!(run.steps(), "outcome COMPLETED, ship SKIPPED, refund RUNNING");
}

#[test]
fn ties_are_settled_by_the_instant_and_then_by_name() {
    let sleeps = |first: &str, second: &str| json!({ "x": { "type": "wait", "duration": first }, "y": { "type": "wait", "duration": second } });
    for (waits, first) in [(sleeps("2h", "1h"), "y"), (sleeps("1h", "1h"), "x"), (sleeps("1h", "2h"), "x")] {
        for fired in ["x", "y"] {
            let mut run = begun(any(waits.clone()));
            run.advance("5h");
            run.fire_one(fired);
            assert_eq!(run.output_of("outcome")["first"], first, "{waits} {fired}");
        }
    }
}

#[test]
fn what_came_before_the_step_wins_over_the_clock_and_is_taken_once() {
    let waits = json!({
        "a": { "type": "wait", "untilTimestamp": "2020-01-01T00:00:00Z" },
        "b": { "type": "external_event", "signalType": "s" },
        "c": { "type": "external_event", "signalType": "s" },
    });
    let mut run =
        start(json!([task("first"), any(waits).also(json!({ "name": "outcome" })), signal("again", "s")]));
    run.signal("s", json!(1));
    run.signal("s", json!(2));
    run.complete("first", json!(null));
    assert_eq!(run.output_of("outcome"), json!({ "first": "b", "results": { "b": 1 } }));
    assert_eq!(
        run.output_of("again"),
        json!(2),
        "what the losers did not need is left for those who wait later"
    );
}

#[test]
fn a_call_that_came_before_the_step_is_kept_for_its_wait() {
    let waits =
        json!({ "call": { "type": "webhook" }, "s": { "type": "external_event", "signalType": "s" } });
    let mut run = start(json!([task("first"), any(waits).also(json!({ "name": "outcome" })), task("next")]));
    assert_eq!(run.call_wait("outcome", "s", json!(1)).code(), "WRONG_STEP_STATUS");
    run.call_wait("outcome", "call", json!("early"));
    run.signal("s", json!(1));
    run.complete("first", json!(null));
    assert_eq!(
        run.output_of("outcome"),
        json!({ "first": "call", "results": { "call": { "body": "early" } } })
    );
    assert_eq!(run.run().mailbox().count(), 1);
}

#[test]
fn one_deadline_ends_all_of_them_and_what_came_is_told() {
    let ends = [json!("fail"), json!("continue"), json!({ "goto": "other" })].map(|on_timeout| {
        let mut run =
            begun(all(signals(&["a", "b"])).also(json!({ "timeout": "1d", "onTimeout": on_timeout })));
        run.signal("b", json!(2));
        run.live("1d");
        run
    });
    assert_eq!((ends[0].status(), ends[0].error()), ("FAILED".to_owned(), "WAIT_TIMED_OUT".to_owned()));
    assert_eq!(ends[1].output_of("outcome"), json!({ "timeout": true, "first": "b", "results": { "b": 2 } }));
    assert_eq!(ends[1].step("next"), "RUNNING");
    assert_eq!(ends[2].steps(), "outcome COMPLETED, next SKIPPED, other RUNNING");
    assert_eq!(ends[2].ended(), ["a CANCELLED", "b COMPLETED", "$deadline COMPLETED"]);
}

#[test]
fn r04_nothing_comes_at_or_after_the_deadline_of_all_even_if_its_timer_has_not_fired() {
    let waits =
        json!({ "call": { "type": "webhook" }, "s": { "type": "external_event", "signalType": "s" } });
    let mut run = begun(any(waits).also(json!({ "timeout": "1h", "onTimeout": "continue" })));
    run.advance("1h");
    run.signal("s", json!(1));
    assert_eq!(run.run().mailbox().count(), 1, "it is kept for whoever waits later");
    assert_eq!(run.call_one("call", json!(1)).code(), "WAITPOINT_EXPIRED");
    run.fire_due_timers();
    assert_eq!(run.output_of("outcome"), json!({ "timeout": true, "results": {} }));
}

#[test]
fn r05_before_its_timer_fires_the_events_of_all_are_offered() {
    let waits = json!({
        "e": { "type": "wait_for_event", "eventId": "e" },
        "f": { "type": "wait_for_event", "eventId": "f" },
        "late": { "type": "wait", "duration": "1h" },
    });
    let run = begun(any(waits).also(json!({ "timeout": "2h" })));
    let events = vec![run.one("e").number, run.one("f").number];
    assert_eq!(run.run().offered_before(run.one("late").number), events);
    assert_eq!(run.run().offered_before(run.one("$deadline").number), events);
    assert_eq!(run.run().offered_before(run.one("e").number), events);
}

#[test]
fn r09_each_of_them_and_their_deadline_is_steered_like_any_wait() {
    let group = || any(signals(&["a", "b"])).also(json!({ "timeout": "1d", "onTimeout": "continue" }));
    let mut run = begun(group());
    run.steer_one("a", Steering::Complete { payload: Some(json!("by hand").into()) });
    assert_eq!(run.output_of("outcome")["results"], json!({ "a": "by hand" }));
    let mut run = begun(group());
    run.steer_one("a", Steering::Cancel);
    assert_eq!(run.step("outcome"), "WAITING", "the others can still come");
    run.steer_one("b", Steering::Cancel);
    assert_eq!(run.error(), "WAIT_CANCELLED");
    let mut run = begun(group());
    run.steer_one("a", Steering::TimeOut);
    run.steer_one("b", Steering::Cancel);
    assert_eq!(
        run.output_of("outcome"),
        json!({ "timeout": true, "results": {} }),
        "nothing can come any more"
    );
    let mut run = begun(group());
    run.steer_one("$deadline", Steering::TimeOut);
    assert_eq!(run.output_of("outcome")["timeout"], true);
    let mut run = begun(group());
    let later = millis("3d").after(run.now);
    run.steer_one("$deadline", Steering::Reschedule { resume_at: later });
    run.live("2d");
    assert_eq!(run.step("outcome"), "WAITING");
    run.live("1d");
    assert_eq!(run.output_of("outcome")["timeout"], true);
    let mut run = begun(group());
    run.steer_one("$deadline", Steering::Cancel);
    run.live("100d");
    assert_eq!(run.step("outcome"), "WAITING", "without a deadline it waits on");
}

#[test]
fn all_that_cannot_come_any_more_ends_the_step_at_once() {
    let mut run = begun(all(signals(&["a", "b"])));
    run.steer_one("a", Steering::Cancel);
    assert_eq!(run.error(), "WAIT_CANCELLED");
    let child = json!({ "c": { "type": "workflow", "definition": "other" } });
    let mut run = begun(any(signals(&["a"]).also(child)));
    run.child_of("c", ChildOutcome::Failed { error: Failure::new("BROKEN", "it broke") });
    assert_eq!(run.error(), "CHILD_FAILED");
}

/// A run whose second step waits for an approval of `state.draft`, or for a day.
fn asked(fields: Value) -> Scenario {
    let approve = json!({ "type": "approval", "contentKey": "draft", "approvers": ["anna"] }).also(fields);
    let waits = json!({ "approve": approve, "late": { "type": "wait", "duration": "1d" } });
    let group = any(waits).also(json!({ "name": "outcome" }));
    let mut run = start(json!([task("write"), group, task("next")]));
    run.update("write", json!({ "draft": "text" }));
    run
}

fn vote(run: &mut Scenario, decision: Decision, edited: Option<Value>) {
    let number = run.one("approve").number;
    let edited_content = edited.map(Into::into);
    run.send_as("anna", Command::Vote(Vote { edited_content, ..Vote::new(number, decision) })).reply();
}

#[test]
fn an_approval_among_several_waits_is_one_when_it_is_approved_and_a_rejection_fails_the_step() {
    let mut run = asked(json!({}));
    vote(&mut run, Decision::Approve, None);
    assert_eq!(run.output_of("outcome")["results"]["approve"]["decision"], "approve");
    let mut run = asked(json!({}));
    vote(&mut run, Decision::Reject, None);
    assert_eq!(run.error(), "APPROVAL_REJECTED");
    let mut run = asked(json!({ "onReject": "continue" }));
    vote(&mut run, Decision::Reject, None);
    assert_eq!(run.output_of("outcome")["first"], "approve");
    assert_eq!(run.output_of("outcome")["results"]["approve"]["decision"], "reject");
    let mut run = asked(json!({}));
    vote(&mut run, Decision::Edit, Some(json!("better")));
    assert_eq!(run.state()["draft"], "better");
}

#[test]
fn nobody_without_the_right_to_decide_ends_what_stands_beside_an_approval() {
    let mut run = asked(json!({}));
    let number = run.one("late").number;
    let wake = |scopes| Command::Steer(Steer { number, steering: Steering::TimeOut, scopes });
    assert_eq!(run.send_as("operator", wake(Vec::new())).code(), "MAY_NOT_DECIDE");
    assert_eq!(run.send_as("operator", wake(vec!["approve".into()])).code(), "NOT_AN_APPROVER");
    run.send_as("anna", wake(vec!["approve".into()])).reply();
    assert_eq!(run.output_of("outcome")["first"], "late");
}

#[test]
fn what_has_come_stays_when_the_run_is_retried_and_sleeps_keep_their_instants() {
    let waits = signals(&["a", "b"]).also(json!({ "late": { "type": "wait", "duration": "3d" } }));
    let group = all(waits).also(json!({ "name": "outcome", "after": [] }));
    let mut run = start(json!([group, task("beside").also(json!({ "after": [] }))]));
    run.signal("a", json!(1));
    let late = run.one("late").resume_at;
    run.advance("1d");
    run.fail_for_good("beside");
    assert_eq!(run.status(), "FAILED");
    run.advance("1d");
    run.retry();
    assert_eq!(
        run.ended().iter().filter(|wait| wait.starts_with("a ")).count(),
        1,
        "it is not waited for again"
    );
    assert_eq!(run.one("late").resume_at, late);
    run.signal("b", json!(2));
    run.live("1d");
    let results = json!({ "a": 1, "b": 2, "late": null });
    assert_eq!(run.output_of("outcome"), json!({ "first": "a", "results": results }));
}

#[test]
fn results_are_stored_where_save_as_says_and_nowhere_else() {
    let mut run = begun(any(signals(&["a", "b"])).also(json!({ "saveAs": "outcome" })));
    run.signal("a", json!({ "n": 1 }));
    assert_eq!(run.state(), json!({ "outcome": { "first": "a", "results": { "a": { "n": 1 } } } }));
    let mut run = begun(any(signals(&["a", "b"])));
    run.signal("a", json!({ "n": 1 }));
    assert_eq!(run.state(), json!({}));
}

#[test]
fn the_waits_of_a_step_are_told_by_name_with_how_many_must_come() {
    let mut run = begun(any(signals(&["a", "b"])).also(json!({ "timeout": "1d" })));
    assert_eq!(run.waiting_for()[0], "`outcome › a` waits for the signal `a`");
    assert!(run.waiting_for()[2].contains("the end of its time"), "{:?}", run.waiting_for());
    let told = run.told();
    assert!(told.iter().any(|line| line.contains("the first that comes ends it, until")), "{told:?}");
    run.signal("a", json!(1));
    let calls = run.run().durable_calls(StepAddress::step(0));
    let shown: Vec<String> = calls.iter().map(|call| format!("{} {:?}", call.name, call.status)).collect();
    assert_eq!(shown, ["a Completed", "b Cancelled"]);
}

#[test]
fn a_run_is_moved_while_it_waits_for_the_same_things() {
    let group = |count: u32, signal: &str| json!({ "type": "wait_some", "count": count, "name": "outcome", "waits": signals(&["a", signal]) });
    let goto = json!({ "goto": { "a": "last" } });
    let mut run = start(json!([group(1, "b"), task("next")]));
    assert_eq!(run.move_to("2", json!([group(2, "b"), task("next")])).code(), "RUN_DOES_NOT_FIT");
    assert_eq!(run.move_to("3", json!([group(1, "c"), task("next")])).code(), "RUN_DOES_NOT_FIT");
    let last = sleep("last", "1d");
    run.move_to("4", json!([group(1, "b").also(goto.clone()), task("next"), last.clone()])).reply();
    run.signal("a", json!(1));
    assert_eq!(run.step("last"), "WAITING");
    assert_eq!(run.step("next"), "SKIPPED");
    run.move_to("5", json!([group(1, "b").also(goto), task("new"), task("next"), last])).reply();
    assert_eq!((run.step("last"), run.step("new")), ("WAITING".to_owned(), "SKIPPED".to_owned()));
}

#[test]
fn results_that_are_too_large_together_fail_the_step() {
    let mut run = begun(all(signals(&["a", "b", "c", "d", "e"])));
    let large = "x".repeat(900 * 1024);
    for signal_type in ["a", "b", "c", "d", "e"] {
        run.signal(signal_type, json!(large));
    }
    assert_eq!(run.error(), "STATE_TOO_LARGE");
}

#[test]
fn r18_a_paused_run_takes_what_comes_and_goes_on_when_it_is_unpaused() {
    let mut run = begun(any(signals(&["a", "b"])));
    run.pause();
    run.signal("b", json!(1));
    assert_eq!((run.step("outcome"), run.step("next")), ("COMPLETED".to_owned(), "PENDING".to_owned()));
    run.unpause();
    assert_eq!(run.step("next"), "RUNNING");
}

#[test]
fn r17_a_cancelled_run_leaves_none_of_several_waits_open() {
    let mut run = begun(any(signals(&["a", "b"])).also(json!({ "timeout": "1d" })));
    run.cancel();
    assert_eq!(run.ended(), ["a CANCELLED", "b CANCELLED", "$deadline CANCELLED"]);
    assert!(run.timers().is_empty());
}

#[test]
fn when_the_clock_goes_back_the_deadline_of_all_is_later() {
    let mut run = begun(any(signals(&["a", "b"])).also(json!({ "timeout": "1h" })));
    run.set_clock_back("1d");
    run.live("23h");
    assert_eq!(run.step("outcome"), "WAITING");
    run.signal("a", json!(1));
    assert_eq!(run.output_of("outcome")["first"], "a");
}
