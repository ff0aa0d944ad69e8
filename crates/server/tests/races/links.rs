use hyper::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::arena::{LANES, OFTEN, race};
use crate::connection::{get, post};
use crate::history::ended_as;

fn sign(more: Value) -> Value {
    let mut step = json!({ "type": "webhook", "name": "sign", "saveAs": "call" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([step])
}

fn instant(text: &Value) -> Timestamp {
    text.as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_against_the_deadline_is_a_resume_or_a_timeout() {
    const DEADLINE: u64 = 1_000;
    let steps = sign(json!({ "timeoutMs": DEADLINE, "onTimeout": "continue" }));
    let tally = race(OFTEN, steps, async |lane| {
        let run = lane.start("flow", json!({})).await;
        // All lanes have one clock: together they let about one deadline pass in a trial.
        lane.pass(DEADLINE / LANES as u64);
        if lane.is_one_by_one() && lane.trial % 2 == 0 {
            lane.pass(DEADLINE);
            lane.settle().await;
        }
        let reply = lane.ask(post(format!("/workflow-runs/{run}/waitpoints/sign"), json!(lane.trial))).await;
        lane.settle().await;
        let history = lane.history(&run).await;
        let (resolved, due) = (history.one("WAIT_RESOLVED"), history.one("STEP_WAITING")["opens"][0].clone());
        let output = history.end()["output"].clone();
        if reply.status == 200 {
            ended_as(&history, "WORKFLOW_COMPLETED", "COMPLETED");
            assert_eq!(output["body"], json!(lane.trial));
            return "resumed";
        }
        ended_as(&history, "WORKFLOW_COMPLETED", "TIMED_OUT");
        assert_eq!(output, json!({ "timeout": true }));
        assert!(instant(&resolved["time"]) >= instant(&due["resumeAt"]), "early: {resolved} {due}");
        match reply.json["code"].as_str() {
            Some("WAITPOINT_TIMED_OUT") => {
                let told = &reply.refused(410, "WAITPOINT_TIMED_OUT")["outcome"];
                assert_eq!((&told["status"], &told["resolvedAt"]), (&json!("TIMED_OUT"), &resolved["time"]));
                "timed out"
            }
            _ => {
                let told = &reply.refused(410, "WAITPOINT_EXPIRED")["current"];
                assert_eq!(told["resumeAt"], due["resumeAt"]);
                "expired"
            }
        }
    });
    tally.await.saw(&["resumed", "timed out"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_resumes_at_once_one_counts_and_the_other_is_told_of_it() {
    let tally = race(OFTEN, sign(json!({})), async |lane| {
        let (run, url) = lane.start_with_link().await;
        let alias = url.replace("/api/v1/workflow-runs/", "/v1/flow-runs/");
        let [a, b] = lane.at_once([post(url, json!("a")), post(alias, json!("b"))]).await;
        let (winner, loser, said) = if a.status == 200 { (&a, &b, "a") } else { (&b, &a, "b") };
        let told = &loser.refused(409, "ALREADY_RESOLVED")["outcome"];
        assert_eq!(told["waitpointId"], winner.is(200)["waitpointId"]);
        assert_eq!((&told["status"], &told["payload"]), (&json!("COMPLETED"), &json!(null)));
        let history = lane.history(&run).await;
        ended_as(&history, "WORKFLOW_COMPLETED", "COMPLETED");
        assert_eq!(history.one("WAIT_RESOLVED")["payload"]["body"], said);
        assert_eq!(history.count("STEP_COMPLETED"), 1);
        said
    });
    tally.await.saw(&["a", "b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scanner_that_opens_every_link_never_takes_a_persons_call() {
    race(OFTEN, sign(json!({})), async |lane| {
        let (run, url) = lane.start_with_link().await;
        let page = url.replace("?token=", "/confirm?token=");
        let [head, seen, opened, person] = lane
            .at_once([
                get(url.clone()).method(Method::HEAD),
                get(url.clone()),
                get(page),
                post(url, json!({ "by": "a person" })),
            ])
            .await;
        assert_eq!([opened.status, person.status], [200; 2], "{person:?}");
        assert_eq!([head.status, seen.status], [405; 2], "{seen:?}");
        let history = lane.history(&run).await;
        ended_as(&history, "WORKFLOW_COMPLETED", "COMPLETED");
        assert_eq!(history.end()["output"]["body"], json!({ "by": "a person" }));
        "person"
    })
    .await;
}
