//! What the store gives away: nothing by itself. And a server that only shows a copy.

use std::path::Path;

use abide_engine::vault::Vault;
use abide_engine::{Engine, Options};
use abide_server::{Auth, Settings, first_key};
use abide_store::Store;
use abide_store::roles::*;
use abide_store::sqlite::Sqlite;
use hyper::Method;
use serde_json::json;

use crate::host::{Host, until};
use crate::receiver::Receiver;

const KEY: &str = "a master key of thirty-two characters or more";
const OTHER: &str = "another master key, as long as it has to be";

fn open(path: &Path) -> Box<dyn Store> {
    Box::new(Sqlite::open(path).unwrap())
}

fn locked() -> Settings {
    Settings { auth: Auth::Required, ..Settings::default() }
}

fn with(key: &str, old: Option<&str>) -> Options {
    let options = Options { vault: Vault::new(key, old).unwrap(), ..Options::default() };
    options.allow(["127.0.0.1".parse().unwrap()])
}

async fn refusal(path: &Path, options: Options) -> String {
    Engine::open_with(open(path), options).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_copy_of_the_store_opens_nothing_without_the_master_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    // It begins without a master key, so that there is something to seal.
    let host = Host::on(open(&path), locked()).await;
    let admin = first_key(&host.engine).await.unwrap().unwrap();
    let webhook = json!({ "url": "https://example.com/hook", "events": ["workflow.completed"] });
    let secret = host.post_as(&admin, "/webhooks", webhook).await.json["secret"].as_str().unwrap().to_owned();
    host.stop().await;
    let stored = |path: &Path| {
        let mut store = Sqlite::open(path).unwrap();
        let links = store.setting("link-secrets").unwrap().unwrap();
        let webhooks = store.webhooks(None).unwrap();
        (String::from_utf8(links).unwrap(), webhooks[0].secrets[0].key.clone())
    };
    let (links_before, webhook_before) = stored(&path);
    assert_eq!(webhook_before, secret, "in clear, as there is no key");
    let host = Host::opened(open(&path), locked(), with(KEY, None)).await;
    let more = json!({ "url": "https://example.com/more", "events": ["workflow.completed"] });
    let second = host.post_as(&admin, "/webhooks", more).await.json["secret"].as_str().unwrap().to_owned();
    let copy = folder.path().join("copy.db");
    let to = copy.clone();
    host.engine.admin().backup(to).await.unwrap();
    let ids = (host.engine.store_id().to_owned(), {
        let mut copy = Sqlite::open(&copy).unwrap();
        let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.unwrap()).unwrap();
        (text(copy.setting("store-id").unwrap()), text(copy.setting("copy-of").unwrap()))
    });
    assert_eq!(ids.0, ids.1.1, "it says of which store it is a copy");
    assert_ne!(ids.0, ids.1.0, "and is another");
    host.stop().await;
    let (links, webhook) = stored(&copy);
    assert!(links.contains("sealed:") && webhook.starts_with("sealed:"), "{links} {webhook}");
    let clear = links_before.split("\"secret\":\"").nth(1).unwrap().split('"').next().unwrap();
    let bytes = std::fs::read(&copy).unwrap();
    for secret in [clear, &secret, &second] {
        assert!(
            !bytes.windows(secret.len()).any(|part| part == secret.as_bytes()),
            "a secret is in the copy"
        );
    }
    let without = refusal(&copy, Options::default()).await;
    assert!(without.contains("ABIDE_MASTER_KEY"), "{without}");
    let wrong = refusal(&copy, with(OTHER, None)).await;
    assert!(wrong.contains("another master key"), "{wrong}");
    // With the one before beside it, it changes.
    for options in [with(OTHER, Some(KEY)), with(OTHER, None)] {
        let host = Host::opened(open(&copy), locked(), options).await;
        assert_eq!(host.get_as(&admin, "/webhooks").await.status, 200);
        host.stop().await;
    }
    assert!(refusal(&copy, with(KEY, None)).await.contains("another master key"));
}

#[tokio::test]
async fn webhooks_are_signed_with_what_was_sealed_and_links_outlast_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    let receiver = Receiver::start().await;
    let host = Host::opened(open(&path), Settings::default(), with(KEY, None)).await;
    let webhook = json!({ "url": receiver.url(), "events": ["workflow.completed"] });
    let secret = host.post("/webhooks", webhook).await.json["secret"].as_str().unwrap().to_owned();
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign" }])).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    host.stop().await;
    let host = Host::opened(open(&path), Settings::default(), with(OTHER, Some(KEY))).await;
    let path = url.split_once("/api").map(|(_, path)| format!("/api{path}")).unwrap();
    assert_eq!(host.post(&path, json!({})).await.status, 200);
    host.engine.told().await.unwrap();
    let called = receiver.take();
    let header = |name: &str| called[0].0.header(name).unwrap();
    let (id, at, signature) =
        (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    let keys = abide_engine::signing::Keys::new([secret.as_str()]).unwrap();
    keys.verify(&id, &at, &signature, called[0].0.body.as_bytes(), host.engine.now().as_second()).unwrap();
    host.stop().await;
}

#[tokio::test]
async fn a_session_is_good_after_a_restart_only_under_a_master_key() {
    for (key, status) in [(None, 401), (Some(KEY), 200)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abide.db");
        let options = || key.map_or_else(Options::default, |key| with(key, None));
        let host = Host::opened(open(&path), locked(), options()).await;
        let admin = first_key(&host.engine).await.unwrap().unwrap();
        let own = format!("http://{}", host.address);
        let body = Some(json!({ "key": admin }));
        let signed_in = host.send(Method::POST, "/session", &[("origin", &own)], body).await;
        let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let looks =
            async |host: &Host| host.send(Method::GET, "/keys", &[("cookie", &cookie)], None).await.status;
        assert_eq!(looks(&host).await, 200);
        host.stop().await;
        let host = Host::opened(open(&path), locked(), options()).await;
        assert_eq!(looks(&host).await, status);
        host.stop().await;
    }
}

#[tokio::test]
async fn a_paused_server_shows_everything_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abide.db");
    let host = Host::on(open(&path), Settings::default()).await;
    let receiver = Receiver::start().await;
    let webhook = json!({ "url": receiver.url(), "events": ["workflow.completed"] });
    assert_eq!(host.post("/webhooks", webhook).await.status, 201);
    let nap = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [{ "type": "webhook", "name": "sign", "allowGet": true }] })).await;
    let hook = host.start_run("hook", json!({})).await;
    let every = json!({ "name": "often", "definition": "hook", "every": "1m" });
    assert_eq!(host.post("/schedules", every).await.status, 201);
    host.stop().await;
    let options = Options { paused: true, ..Options::default() };
    let host = Host::opened(open(&path), Settings::default(), options).await;
    assert_eq!(host.raw(Method::GET, "/ready", &[], "".into()).await.json["status"], "paused");
    assert_eq!(host.get("/session").await.json["paused"], true);
    host.clock.advance(abide_core::time::Millis(2 * 3_600_000));
    host.engine.clock().settled().await.unwrap();
    let runs = host.get("/workflow-runs").await.json;
    assert_eq!(runs["data"].as_array().unwrap().len(), 2, "{runs}");
    for run in [&nap, &hook] {
        assert_eq!(host.run(run).await["status"], "WAITING");
    }
    let url = host.waitpoint(&hook).await["resumeUrl"].as_str().unwrap().to_owned();
    host.get(&url).await.is_problem(503, "PAUSED");
    host.post(&url, json!({})).await.is_problem(503, "PAUSED");
    for (path, body) in [
        ("/workflow-runs", json!({ "name": "hook" })),
        ("/events", json!({ "eventId": "x" })),
        ("/keys", json!({ "name": "x", "scopes": ["read"] })),
        (
            "/workflow-definitions",
            json!({ "name": "x", "steps": [{ "type": "wait", "name": "n", "duration": "1s" }] }),
        ),
        ("/tasks/poll", json!({ "handlers": ["x"] })),
    ] {
        host.post(path, body).await.is_problem(503, "PAUSED");
    }
    host.get("/triggers/hook").await.is_problem(503, "PAUSED");
    assert_eq!(receiver.take().len(), 0);
    host.stop().await;
    // Without it, all that is due happens.
    let host = Host::on(open(&path), Settings::default()).await;
    host.pass(2 * 3_600_000).await;
    until(async || host.run(&nap).await["status"] == json!("COMPLETED")).await;
    host.stop().await;
}
