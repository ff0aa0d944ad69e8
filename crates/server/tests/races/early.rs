use serde_json::json;

use crate::arena::{LESS_OFTEN, OFTEN, race};
use crate::connection::post;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_before_or_with_its_wait_is_taken_once() {
    let steps = json!([
        { "type": "webhook", "name": "gate" },
        { "type": "external_event", "name": "go", "signalType": "go" },
    ]);
    let tally = race(OFTEN, steps, async |lane| {
        let run = lane.start("flow", json!({})).await;
        let signal = json!({ "signalType": "go", "payload": { "n": lane.trial } });
        let gate = post(format!("/workflow-runs/{run}/waitpoints/gate"), json!({}));
        let [open, sent] = lane.at_once([gate, post(format!("/workflow-runs/{run}/resume"), signal)]).await;
        open.is(200);
        let taken_by = sent.is(200)["takenBy"].clone();
        let history = lane.history(&run).await;
        assert_eq!(history.count("WAIT_RESOLVED"), 2);
        history.one("SIGNAL_RECEIVED");
        assert_eq!(history.end()["output"], json!({ "n": lane.trial }));
        if taken_by.is_null() { "before" } else { "with" }
    });
    tally.await.saw(&["before", "with"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_signals_at_once_go_to_two_waits_in_the_order_they_came() {
    let steps = json!([
        { "type": "webhook", "name": "gate" },
        { "type": "external_event", "name": "first", "signalType": "go" },
        { "type": "external_event", "name": "second", "signalType": "go" },
    ]);
    let tally = race(LESS_OFTEN, steps, async |lane| {
        let run = lane.start("flow", json!({})).await;
        let gate = post(format!("/workflow-runs/{run}/waitpoints/gate"), json!({}));
        let signal = |n: u32| {
            post(format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go", "payload": { "n": n } }))
        };
        let [open, one, two] = lane.at_once([gate, signal(1), signal(2)]).await;
        assert_eq!([open.status, one.status, two.status], [200; 3], "{one:?} {two:?}");
        let history = lane.history(&run).await;
        let sent = history.all("SIGNAL_RECEIVED");
        let taken = history.all("WAIT_RESOLVED");
        let taken: Vec<_> = taken.iter().map(|record| &record["signal"]).filter(|id| !id.is_null()).collect();
        assert_eq!((sent.len(), taken), (2, vec![&json!(1), &json!(2)]));
        assert_eq!(history.end()["output"], sent[1]["payload"]);
        if sent[0]["payload"]["n"] == 1 { "one first" } else { "two first" }
    });
    tally.await.saw(&["one first", "two first"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_before_or_with_its_wait_is_taken_once() {
    let steps = json!([
        { "type": "webhook", "name": "gate" },
        { "type": "wait_for_event", "name": "paid", "eventId": "{{ input.event }}", "timeoutMs": 60_000 },
    ]);
    let tally = race(OFTEN, steps, async |lane| {
        let event = format!("order.{}", lane.trial);
        let run = lane.start("flow", json!({ "event": event })).await;
        let notify = post("/events", json!({ "eventId": event, "eventData": { "n": lane.trial } }));
        let gate = post(format!("/workflow-runs/{run}/waitpoints/gate"), json!({}));
        let [open, sent] = lane.at_once([gate, notify]).await;
        open.is(200);
        let woken = sent.is(200)["waiters"].as_array().unwrap().clone();
        let history = lane.history(&run).await;
        history.one("EVENT_MATCHED");
        assert_eq!(history.count("WAIT_RESOLVED"), 2);
        assert_eq!(history.end()["output"], json!({ "n": lane.trial }));
        assert!(woken.iter().all(|waiter| waiter["runId"] == run.as_str()), "{woken:?}");
        if woken.is_empty() { "before" } else { "with" }
    });
    tally.await.saw(&["before", "with"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_before_or_with_its_step_is_taken_once() {
    let steps = json!([{ "type": "webhook", "name": "gate" }, { "type": "webhook", "name": "sign" }]);
    race(LESS_OFTEN, steps, async |lane| {
        let run = lane.start("flow", json!({})).await;
        let call = |step: &str, body| post(format!("/workflow-runs/{run}/waitpoints/{step}"), body);
        let [open, first, second] = lane
            .at_once([call("gate", json!({})), call("sign", json!("first")), call("sign", json!("second"))])
            .await;
        open.is(200);
        let (loser, said) = if first.status == 200 { (&second, "first") } else { (&first, "second") };
        assert_eq!(loser.refused(409, "ALREADY_RESOLVED")["outcome"]["payload"]["body"], said);
        let history = lane.history(&run).await;
        assert_eq!(history.count("WAIT_RESOLVED"), 2);
        assert_eq!(history.end()["output"]["body"], said);
        said
    })
    .await
    .saw(&["first", "second"]);
}
