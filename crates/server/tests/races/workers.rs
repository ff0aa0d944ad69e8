use serde_json::{Value, json};

use crate::arena::{LESS_OFTEN, Lane, race};
use crate::connection::{Call, post};

/// Every lane has a handler of its own, so that no lane takes another's task.
async fn work(lane: &mut Lane) -> (String, String) {
    let (flow, handler) = (format!("work-{}", lane.number), format!("h{}", lane.number));
    if lane.trial == lane.number {
        lane.deploy(&flow, json!([{ "type": "task", "name": "work", "handler": handler }])).await;
    }
    (lane.start(&flow, json!({})).await, handler)
}

fn poll(handler: &str, worker: &str) -> Call {
    post("/tasks/poll", json!({ "handlers": [handler], "workerId": worker, "waitMs": 0 }))
}

fn complete(task: &Value, output: &str) -> Call {
    let path = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
    post(path, json!({ "leaseToken": task["leaseToken"], "output": output }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_workers_one_gets_the_task_and_of_two_reports_one_counts() {
    let unused = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let tally = race(LESS_OFTEN, unused, async |lane| {
        let (run, handler) = work(lane).await;
        let [a, b] = lane.at_once([poll(&handler, "a"), poll(&handler, "b")]).await;
        let tasks: Vec<&Value> =
            [&a, &b].iter().flat_map(|reply| reply.is(200)["tasks"].as_array().unwrap()).collect();
        assert_eq!(tasks.len(), 1, "{a:?} {b:?}");
        let [x, y] = lane.at_once([complete(tasks[0], "x"), complete(tasks[0], "y")]).await;
        let (loser, output) = if x.status == 200 { (&y, "x") } else { (&x, "y") };
        assert_eq!((x.status + y.status, loser.status), (200 + 409, 409), "{x:?} {y:?}");
        let history = lane.history(&run).await;
        history.one("TASK_STARTED");
        assert_eq!(history.one("STEP_COMPLETED")["output"], output);
        assert_eq!(history.end()["type"], "WORKFLOW_COMPLETED");
        output
    });
    tally.await.saw(&["x", "y"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_against_the_last_report_ends_the_run_once() {
    let unused = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let tally = race(LESS_OFTEN, unused, async |lane| {
        let (run, handler) = work(lane).await;
        let task = lane.ask(poll(&handler, "w")).await.is(200)["tasks"][0].clone();
        let cancel = post(format!("/workflow-runs/{run}/cancel"), json!({}));
        let [done, cancelled] = lane.at_once([complete(&task, "x"), cancel]).await;
        let history = lane.history(&run).await;
        if done.status == 200 {
            assert_eq!(cancelled.refused(409, "RUN_ENDED")["current"]["status"], "COMPLETED");
            assert_eq!(history.end()["type"], "WORKFLOW_COMPLETED");
            "done"
        } else {
            assert_eq!(done.status, 409, "{done:?}");
            assert_eq!(cancelled.is(200)["status"], "CANCELLED");
            assert_eq!(history.end()["type"], "WORKFLOW_CANCELLED");
            assert_eq!(history.count("STEP_COMPLETED"), 0);
            "cancelled"
        }
    });
    tally.await.saw(&["done", "cancelled"]);
}
