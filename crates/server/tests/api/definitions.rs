use abide_server::Settings;
use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;

fn nap(version: &str) -> Value {
    json!({ "name": "nap", "version": version, "steps": [{ "type": "wait", "name": "sleep", "durationMs": 1000 }] })
}

#[tokio::test]
async fn a_definition_is_stored_once_and_never_changed() {
    let host = Host::start().await;
    let first = host.post("/workflow-definitions", nap("1")).await;
    assert_eq!((first.status, &first.json["created"]), (201, &json!(true)));
    let again = host.post("/workflow-definitions", nap("1")).await;
    assert_eq!((again.status, &again.json["id"]), (200, &first.json["id"]));
    let mut other = nap("1");
    other["description"] = "another".into();
    host.post("/workflow-definitions", other).await.is_problem(409, "DEFINITION_EXISTS");
}

#[tokio::test]
async fn in_development_other_content_becomes_a_new_version_by_itself() {
    let host = Host::with(Settings { development: true, ..Settings::default() }).await;
    assert_eq!(host.get("/session").await.json["development"], true);
    let post = async |milliseconds: u64| {
        let steps = json!([{ "type": "wait", "name": "sleep", "durationMs": milliseconds }]);
        let reply = host.post("/workflow-definitions", json!({ "name": "nap", "steps": steps })).await.json;
        let newest = host.get("/workflow-definitions/nap").await.json;
        assert_eq!(newest["id"], reply["id"], "runs that are started by name use it");
        assert_eq!(newest["document"]["steps"][0]["durationMs"], milliseconds);
        (reply["version"].as_str().unwrap().to_owned(), reply["created"] == true)
    };
    assert_eq!(post(1000).await, ("1".to_owned(), true));
    assert_eq!(post(1000).await, ("1".to_owned(), false));
    let (second, created) = post(2000).await;
    assert!(second.starts_with("1-dev.") && created, "{second}");
    assert_eq!(post(2000).await, (second.clone(), false));
    let (back, created) = post(1000).await;
    assert!(back.starts_with("1-dev.") && back != second && created, "{back}");
    assert_eq!(post(2000).await, (format!("{second}.2"), true));
    // Another version is what its author says it is.
    assert_eq!(host.post("/workflow-definitions", nap("2")).await.json["version"], "2");
}

#[tokio::test]
async fn a_definition_is_found_by_its_id_and_by_its_name() {
    let host = Host::start().await;
    let first = host.deploy(nap("1")).await;
    let second = host.deploy(nap("2")).await;
    let by_id = host.get(&format!("/workflow-definitions/{first}")).await;
    assert_eq!(by_id.json["version"], "1");
    assert_eq!(by_id.json["document"]["steps"][0]["name"], "sleep");
    assert_eq!(host.get("/workflow-definitions/nap").await.json["id"], second.as_str());
    assert_eq!(host.get("/workflow-definitions/nap?version=1").await.json["id"], first.as_str());
    host.get("/workflow-definitions/nip").await.is_problem(404, "UNKNOWN_DEFINITION");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_document_is_told_at_once() {
    let host = Host::start().await;
    let bad = json!({ "name": "bad", "version": "1", "steps": [{ "type": "wait", "name": "a", "duratoinMs": 5 }, { "type": "nap" }] });
    let reply = host.post("/workflow-definitions", bad.clone()).await;
    reply.is_problem(422, "INVALID_DEFINITION");
    let problems = reply.json["problems"].as_array().unwrap();
    assert!(problems.len() > 1, "{}", reply.text);
    assert!(problems.iter().any(|problem| problem["nearest"] == "durationMs"));
    let checked = host.post("/workflow-definitions/check", bad).await;
    assert_eq!((checked.status, &checked.json["valid"]), (200, &json!(false)));
    assert_eq!(checked.json["problems"].as_array().unwrap().len(), problems.len());
    assert_eq!(host.post("/workflow-definitions/check", nap("1")).await.json["valid"], true);
}

#[tokio::test]
async fn a_definition_may_be_written_in_yaml() {
    let host = Host::start().await;
    let yaml = "name: nap\nversion: '1'\nsteps:\n  - type: wait\n    name: sleep\n    duration: 1s\n";
    let headers = [("content-type", "application/yaml")];
    let reply = host.raw(Method::POST, "/api/v1/workflow-definitions", &headers, yaml.into()).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let host = Host::start().await;
    for version in 1..=5 {
        host.deploy(nap(&version.to_string())).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = host.get(&format!("/workflow-definitions?limit=2{cursor}")).await;
        seen.extend(page.json["data"].as_array().unwrap().iter().map(|item| item["version"].clone()));
        match page.json["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["5", "4", "3", "2", "1"]);
    host.get("/workflow-definitions?cursor=soon").await.is_problem(422, "BAD_CURSOR");
}
