//! Approvals, keys and workspaces.

use serde_json::json;

use super::host::Host;

const REVIEW: &str = "name: review
steps:
  - {name: draft, type: external_event, signalType: draft, saveAs: letter}
  - {name: look, type: approval, contentKey: letter, prompt: Send it?, timeout: 2d}
";

/// A run that asks for an approval of a letter.
fn asking(host: &Host) -> String {
    let run = host.started(REVIEW);
    host.ok(&["signal", &run, "draft", "--payload", "\"Dear Ana\""]);
    super::host::until("the question", || !host.json(&["approvals"])["data"].as_array().unwrap().is_empty());
    run
}

#[test]
fn a_request_is_listed_with_its_link_and_approved() {
    let host = Host::start();
    let run = asking(&host);
    let listed = host.ok(&["approvals"]);
    assert!(
        listed.contains("  look  PENDING  until in 1d 23h") && listed.contains("\n  Send it?\n  Dear Ana\n"),
        "{listed}"
    );
    let link = host.ok(&["approvals", "--links"]);
    assert!(link.starts_with(&host.url) && link.contains("?token="), "{link}");
    assert!(host.ok(&["approve", &run, "--comment", "good"]).ends_with(": decided; the run goes on"));
    host.until_status(&run, "COMPLETED");
    assert_eq!(host.abide(&["approvals"]).err, "Nobody is asked anything.\n");
    assert!(host.ok(&["approvals", "--decided"]).contains("approve by "));
}

#[test]
fn the_second_decision_is_told_the_first() {
    let host = Host::start();
    let run = asking(&host);
    host.ok(&["reject", &run]);
    let request = format!("{}_2", run.replace("run_", "wp_"));
    let said = host.abide(&["approve", &request]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("[ALREADY_RESOLVED]") && said.err.contains("COMPLETED by "), "{said:?}");
}

#[test]
fn an_edit_takes_the_place_of_the_content() {
    let host = Host::start();
    let run = asking(&host);
    host.ok(&["edit", &run, "--content", "\"Dear Ben\""]);
    host.until_status(&run, "COMPLETED");
    assert_eq!(host.json(&["show", &run])["state"]["letter"], json!("Dear Ben"));
}

#[test]
fn keys_are_made_listed_used_and_revoked() {
    let host = Host::start_with(&["--auth", "required"]);
    let said = host.abide(&["runs"]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains("[UNAUTHENTICATED]") && said.err.contains("ABIDE_API_KEY"), "{said:?}");
    let admin = host.key().to_owned();
    let reader = host.ok(&["keys", "make", "ana", "--scope", "read", "--key", &admin]);
    assert!(reader.starts_with("abk_"), "{reader}");
    host.ok(&["runs", "--key", &reader]);
    let said = host.abide(&["keys", "--key", &reader]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains("[FORBIDDEN]"), "{said:?}");
    let keys = host.json(&["keys", "--key", &admin]);
    let ana = keys["data"].as_array().unwrap().iter().find(|key| key["name"] == "ana").unwrap();
    host.ok(&["keys", "revoke", ana["id"].as_str().unwrap(), "--key", &admin]);
    assert_eq!(host.abide(&["runs", "--key", &reader]).code, 6);
    let listed = host.ok(&["keys", "--key", &admin]);
    assert!(listed.lines().any(|line| line.contains("ana") && line.contains("revoked")), "{listed}");
}

#[test]
fn a_workspace_does_not_know_the_runs_of_another() {
    let host = Host::start_with(&["--auth", "required"]);
    let admin = host.key().to_owned();
    let workspace = host.ok(&["workspaces", "make", "shop", "--key", &admin]);
    let listed = host.ok(&["workspaces", "--key", &admin]);
    assert!(listed.contains(&workspace) && listed.contains("shop"), "{listed}");
    let shop = host.ok(&[
        "keys",
        "make",
        "shop",
        "--scope",
        "deploy,run",
        "--workspace",
        &workspace,
        "--key",
        &admin,
    ]);
    host.file("w.yaml", REVIEW);
    host.ok(&["deploy", "w.yaml", "--key", &shop]);
    let run = host.ok(&["start", "review", "--key", &shop]);
    host.ok(&["show", &run, "--key", &shop]);
    assert_eq!(host.abide(&["show", &run, "--key", &admin]).code, 3);
}
