//! Limits over HTTP: who has room, who waits, and what is set at run time.

use serde_json::{Value, json};

use crate::host::Host;

/// Runs of `gate` that hold room under `crm` by account until they are sent `go`.
async fn gates(accounts: &[&str]) -> (Host, Vec<String>) {
    let host = Host::start().await;
    let limit = json!({
        "name": "crm", "scope": "workspace", "key": "{{ input.account }}", "concurrency": 1, "holds": "run",
    });
    let step = json!({ "type": "external_event", "name": "wait", "signalType": "go" });
    let made = host
        .post("/workflow-definitions", json!({ "name": "gate", "limits": [limit], "steps": [step] }))
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    let mut runs = Vec::new();
    for account in accounts {
        let body = json!({ "name": "gate", "input": { "account": account } });
        runs.push(host.post("/workflow-runs", body).await.json["id"].as_str().unwrap().to_owned());
    }
    (host, runs)
}

async fn status(host: &Host, run: &str) -> Value {
    host.get(&format!("/workflow-runs/{run}")).await.json["status"].clone()
}

#[tokio::test]
async fn limits_are_listed_by_name_and_by_pressure_with_who_has_room_and_who_waits() {
    let (host, runs) = gates(&["a", "b", "b", "b", "c", "c"]).await;
    let listed = host.get("/limits").await.json;
    let keys = |list: &Value| -> Vec<(String, u64, u64)> {
        let of = |limit: &Value| {
            let key = limit["key"].as_str().unwrap().to_owned();
            (key, limit["used"].as_u64().unwrap(), limit["waiting"].as_u64().unwrap())
        };
        list["data"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(keys(&listed), [("a".into(), 1, 0), ("b".into(), 1, 2), ("c".into(), 1, 1)]);
    let first = host.get("/limits?pressure=true&limit=1").await.json;
    assert_eq!(keys(&first), [("b".into(), 1, 2)]);
    let next = format!("/limits?pressure=true&limit=1&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!(keys(&host.get(&next).await.json), [("c".into(), 1, 1)]);
    assert_eq!(keys(&host.get("/limits?key=a&name=crm").await.json), [("a".into(), 1, 0)]);
    let detail = host.get("/limits/crm?key=b").await.json;
    assert_eq!(detail["holders"][0]["runId"], json!(runs[1]));
    let line: Vec<(&Value, &Value)> = detail["line"]
        .as_array()
        .unwrap()
        .iter()
        .map(|waiter| (&waiter["place"], &waiter["runId"]))
        .collect();
    assert_eq!(line, [(&json!(1), &json!(runs[2])), (&json!(2), &json!(runs[3]))]);
    assert_eq!(detail["keys"][0]["oldest"], detail["line"][0]["since"]);
    assert_eq!(detail["keys"][0]["room"]["concurrency"], 1);
    let unknown = host.get("/limits/crn").await;
    assert!(unknown.is_problem(404, "UNKNOWN_LIMIT").text.contains("did you mean `crm`?"));
    host.get("/limits/crm?workflow=elsewhere").await.is_problem(404, "UNKNOWN_LIMIT");
}

#[tokio::test]
async fn a_limit_is_set_for_all_keys_or_one_and_the_audit_log_says_so() {
    let (host, runs) = gates(&["a", "a", "a", "b", "b"]).await;
    let set = |body: Value| host.put("/limits/crm", body);
    let done = set(json!({ "concurrency": 2 })).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(done.json["limit"]["settings"]["all"]["concurrency"], 2);
    host.pass(0).await;
    for (run, wanted) in runs.iter().zip(["WAITING", "WAITING", "PENDING", "WAITING", "WAITING"]) {
        assert_eq!(status(&host, run).await, wanted);
    }
    set(json!({ "key": "a", "concurrency": 3 })).await;
    host.pass(0).await;
    assert_eq!(status(&host, &runs[2]).await, "WAITING");
    let detail = host.get("/limits/crm?key=a").await.json;
    assert_eq!(
        (&detail["keys"][0]["room"]["concurrency"], &detail["keys"][0]["defined"]["concurrency"]),
        (&json!(3), &json!(1))
    );
    let removed = set(json!({ "key": "a", "concurrency": null })).await.json;
    assert_eq!(removed["limit"]["settings"]["keys"], json!([]));
    let typo = host.put("/limits/crn", json!({ "concurrency": 2 })).await;
    assert!(typo.is_problem(404, "UNKNOWN_LIMIT").text.contains("did you mean `crm`?"));
    let new = host.put("/limits/crn", json!({ "concurrency": 2, "create": true })).await;
    assert_eq!((new.status, &new.json["limit"]["settings"]["all"]["concurrency"]), (200, &json!(2)));
    assert_eq!(host.put("/limits/crn", json!({ "concurrency": null })).await.status, 200);
    let log = host.get("/audit").await.json;
    assert!(log["data"].as_array().unwrap().iter().any(|entry| entry["action"] == "limit.set"), "{log}");
    for (body, at) in [
        (json!({}), ""),
        (json!({ "rate": 5 }), "/per"),
        (json!({ "burst": 5 }), "/burst"),
        (json!({ "concurrency": 0 }), "/concurrency"),
        (json!({ "empty": "away" }), "/empty"),
    ] {
        let answer = set(body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text);
        assert!(answer.text.contains(at), "{body}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_paused_limit_lets_nobody_in_and_its_line_can_be_emptied() {
    let (host, runs) = gates(&["a", "a", "a", "b", "b"]).await;
    let set = |body: Value| host.put("/limits/crm", body);
    assert_eq!(set(json!({ "paused": true })).await.json["limit"]["settings"]["all"]["paused"], true);
    host.post(&format!("/workflow-runs/{}/cancel", runs[0]), json!({})).await;
    assert_eq!(status(&host, &runs[1]).await, "PENDING");
    let emptied = set(json!({ "key": "a", "empty": "cancel" })).await.json;
    assert_eq!((&emptied["emptied"]["done"], &emptied["emptied"]["more"]), (&json!(2), &json!(false)));
    assert_eq!(status(&host, &runs[2]).await, "CANCELLED");
    let emptied = set(json!({ "empty": "letIn" })).await.json;
    assert_eq!(emptied["emptied"]["done"], 1);
    assert_eq!(status(&host, &runs[4]).await, "WAITING");
}
