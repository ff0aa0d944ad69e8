//! What is to be delivered follows from the log alone.

use abide_core::id::{RunId, WaitpointId};
use abide_core::waitpoint::Kind;

use super::*;

fn entry(body: Value, group: Option<u32>) -> JournalItem {
    let step = Step::parse(&body.to_string()).unwrap();
    let stored = Stored::new(body.to_string(), Headers::default(), group);
    JournalItem {
        name: step.entry_name().into(),
        what: JournalWhat::Result(serde_json::to_value(stored).unwrap().into()),
    }
}

fn result(step: u32, concurrent: u32) -> JournalItem {
    let body = json!({ "stepId": step, "stepName": format!("s{step}"), "stepType": "Run", "concurrent": concurrent });
    entry(body, None)
}

fn plan(target: u32, concurrent: u32, group: u32) -> JournalItem {
    let name = format!("s{target}");
    let body = json!({ "stepId": 0, "stepName": name, "stepType": "Run", "concurrent": concurrent, "targetStep": target });
    entry(body, Some(group))
}

fn own(name: &str, value: Value) -> JournalItem {
    JournalItem { name: name.into(), what: JournalWhat::Result(value.into()) }
}

fn wait(name: &str, status: WaitStatus, payload: Option<Value>) -> JournalItem {
    let what = JournalWhat::Wait {
        waitpoint_id: WaitpointId { run: RunId(1), number: 1 },
        kind: Kind::Delay,
        asked: None,
        status,
        payload: payload.map(Into::into),
        event: None,
    };
    JournalItem { name: name.into(), what }
}

fn log(journal: Vec<JournalItem>) -> Log {
    let started =
        json!({ "workflowRunId": "wfr_1", "url": "http://app", "headers": {}, "body": { "text": "{}" } });
    let started = serde_json::from_value(started).unwrap();
    let id = |key: &str| format!("msg_{key}");
    Log::new(started, &id).read_on(1, journal, &id, None)
}

/// The message ids of what is delivered now, of entries that were there before.
fn delivered(journal: Vec<JournalItem>) -> Vec<String> {
    let log = log(journal);
    let acts = log.next(usize::MAX).into_iter();
    let ids = acts.map(|act| match act {
        Act::Deliver { parcel: Parcel::Step(place), retried } => {
            format!("{}/{retried}", log.entries[place].message_id)
        }
        Act::Deliver { parcel, retried } => format!("{parcel:?}/{retried}"),
        Act::Append { name, .. } => format!("append {name}"),
        Act::GiveUp { parcel, retried } => format!("give up {parcel:?}/{retried}"),
    });
    ids.collect()
}

#[test]
fn the_last_step_is_delivered_and_what_it_follows_is_done() {
    assert_eq!(delivered(vec![]), ["msg_0/0"]);
    assert_eq!(delivered(vec![result(1, 1)]), ["msg_s1/0"]);
    assert_eq!(delivered(vec![result(1, 1), result(2, 1)]), ["msg_s2/0"]);
    assert_eq!(delivered(vec![result(1, 1), own("!delivered 1 s1", json!(true))]), Vec::<String>::new());
}

#[test]
fn every_plan_is_delivered_until_its_step_is_there() {
    let plans = || vec![result(1, 1), plan(2, 2, 2), plan(3, 2, 2)];
    assert_eq!(delivered(plans()), ["msg_p2/0", "msg_p3/0"]);
    let one = plans().into_iter().chain([result(2, 2)]).collect();
    assert_eq!(delivered(one), ["msg_p3/0"]);
    let both = plans().into_iter().chain([result(3, 2), result(2, 2)]).collect();
    assert_eq!(delivered(both), ["msg_s2/0"]);
}

#[test]
fn a_group_is_completed_by_the_entry_whose_prefix_has_all_of_it() {
    let log =
        log(vec![plan(1, 2, 1), plan(2, 2, 1), result(2, 2), result(1, 2), plan(3, 2, 3), plan(4, 2, 3)]);
    assert_eq!((log.leads_nowhere(3), log.leads_nowhere(4)), (true, false));
    assert!(log.is_done(&Parcel::Step(4)));
    let prefix: Value = serde_json::from_str(&log.prefix(2)).unwrap();
    assert_eq!(prefix.as_array().unwrap().last().unwrap()["messageId"], "msg_p2");
    assert_eq!(prefix.to_string(), log.prefix(2));
}

#[test]
fn what_is_put_off_or_backs_off_is_not_delivered() {
    let nap = |status| vec![result(1, 1), wait("1 s1: delay", status, None)];
    assert_eq!(delivered(nap(WaitStatus::Pending)), Vec::<String>::new());
    assert_eq!(delivered(nap(WaitStatus::Completed)), ["msg_s1/0"]);
    let retry = |status| vec![result(1, 1), wait("1 s1: retry 1", status, None)];
    assert_eq!(delivered(retry(WaitStatus::Pending)), Vec::<String>::new());
    assert_eq!(delivered(retry(WaitStatus::Completed)), ["msg_s1/1"]);
    assert_eq!(delivered(retry(WaitStatus::Cancelled)), ["give up Step(1)/0"]);
}

#[test]
fn the_end_of_a_wait_is_an_entry() {
    let step = json!({ "stepId": 1, "stepName": "w", "stepType": "Wait", "concurrent": 1 });
    let asked = json!({ "waitEventId": "ev", "timeout": "20s" });
    let request = json!({ "step": step, "wait": "1 w: wait", "asked": asked });
    let journal = |status, payload| vec![own("!wait 1", request.clone()), wait("1 w: wait", status, payload)];
    assert_eq!(delivered(journal(WaitStatus::Pending, None)), Vec::<String>::new());
    let told = json!({ "upstash": { "stored": true, "out": "eA==" } });
    for (status, payload, timed_out, out) in [
        (WaitStatus::Completed, Some(told), false, json!("eA==")),
        (WaitStatus::TimedOut, None, true, Value::Null),
    ] {
        let acts = log(journal(status, payload)).next(usize::MAX);
        let [Act::Append { name, stored }] = acts.as_slice() else { panic!("{acts:?}") };
        let body = stored.value();
        assert_eq!((name.as_str(), &body["waitTimeout"], &body["out"]), ("1 w", &json!(timed_out), &out));
    }
}

#[test]
fn a_call_is_made_answered_and_its_answer_delivered() {
    let step = json!({ "stepId": 1, "stepName": "c", "stepType": "Call", "concurrent": 1 });
    let request = json!({ "step": step, "asked": {} });
    let asked = || own("!call 1", request.clone());
    assert_eq!(delivered(vec![asked()]), ["Call(1)/0"]);
    assert_eq!(delivered(vec![asked(), own("!called 1", json!({}))]), ["Callback(1)/0"]);
    assert_eq!(delivered(vec![asked(), own("!called 1", json!({})), result(1, 1)]), ["msg_s1/0"]);
}

#[test]
fn a_log_that_is_read_on_is_the_log_that_is_read_anew() {
    let nap = |status| wait("2 s2: delay", status, None);
    let before = vec![result(1, 1), result(2, 1), nap(WaitStatus::Pending)];
    let after = vec![result(1, 1), result(2, 1), nap(WaitStatus::Completed), result(3, 1)];
    let id = |key: &str| format!("msg_{key}");
    let read_on = log(before).read_on(2, after.clone(), &id, None);
    let anew = log(vec![]).read_on(2, after, &id, None);
    assert_eq!((&read_on.entries, &read_on.waits), (&anew.entries, &anew.waits));
    assert_eq!((read_on.prefix(3), read_on.visit), (anew.prefix(3), 2));
    assert_eq!(read_on.next(usize::MAX), anew.next(usize::MAX));
}

#[test]
fn a_step_is_delivered_as_it_was_submitted_whatever_its_form() {
    let spaced = r#"{ "stepId": 1, "stepName": "s", "stepType": "Run", "out": "1.0", "concurrent": 1 }"#;
    assert_eq!(Stored::new(spaced.to_owned(), Headers::default(), None).text(), spaced);
    let exact = r#"{"stepId":1,"n":123456789012345678901234567890,"concurrent":1}"#;
    assert_eq!(Stored::new(exact.to_owned(), Headers::default(), None).text(), exact);
    let compact = r#"{"stepId":1,"stepName":"s","stepType":"Run","out":"\"ü\"","concurrent":1}"#;
    let stored = Stored::new(compact.to_owned(), Headers::default(), None);
    assert_eq!(stored.value(), serde_json::from_str::<Value>(&stored.text()).unwrap());
    assert_eq!(stored.value(), serde_json::from_str::<Value>(compact).unwrap());
}

#[test]
fn a_run_is_suspended_with_a_step_that_all_before_led_to() {
    let step =
        |id: u32, concurrent: u32| Step { step_id: id, concurrent: Some(concurrent), ..Step::default() };
    assert!(log(vec![]).may_suspend_with(&step(1, 1)));
    assert!(log(vec![result(1, 1)]).may_suspend_with(&step(2, 1)));
    let plans = || vec![result(1, 1), plan(2, 2, 2), plan(3, 2, 2), result(2, 2)];
    assert!(!log(plans()).may_suspend_with(&step(3, 2)));
    assert!(!log(plans()).may_suspend_with(&step(4, 1)));
    let all = plans().into_iter().chain([result(3, 2)]).collect();
    assert!(log(all).may_suspend_with(&step(4, 1)));
    let called = vec![own("!call 1", json!({ "step": {}, "asked": {} }))];
    assert!(!log(called).may_suspend_with(&step(2, 1)));
}

#[test]
fn a_call_under_flow_control_is_made_when_it_has_room() {
    let request = json!({ "step": { "stepId": 1, "stepName": "c" }, "wait": "1 c: room", "asked": {} });
    let journal = |status| vec![own("!call 1", request.clone()), wait("1 c: room", status, None)];
    assert_eq!(delivered(journal(WaitStatus::Pending)), ["msg_0/0"; 0]);
    assert_eq!(delivered(journal(WaitStatus::Completed)), ["Call(1)/0"]);
}
