//! What clients of the API rely on, a line each, in `schema/api-surface.txt`. A change that would break them is named;
//! `ABIDE_BLESS=1` accepts it, and the lines that go are in the commit for everybody to see.

#[path = "surface/changes.rs"]
mod changes;
#[path = "surface/lines.rs"]
mod lines;

use std::fs;
use std::path::Path;

use serde_json::json;

use changes::breaking;
use lines::Surface;

const FILE: &str = "schema/api-surface.txt";

#[test]
fn a_change_of_the_api_that_breaks_its_clients_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
    let served = Surface::of(&abide_server::openapi());
    if std::env::var_os("ABIDE_BLESS").is_some() {
        fs::write(&path, served.to_string()).unwrap();
    }
    let promised: Surface = fs::read_to_string(&path).unwrap().parse().unwrap();
    let breaking = breaking(&promised, &served);
    assert!(breaking.is_empty(), "clients would break; ABIDE_BLESS=1 accepts it:\n{}", breaking.join("\n"));
    let added = served.lines.keys().filter(|place| !promised.lines.contains_key(*place)).count();
    assert_eq!(added, 0, "{added} places are new and break nobody; ABIDE_BLESS=1 adds them to {FILE}");
}

/// A document of one operation, whose bodies are these.
fn document(asked: serde_json::Value, answered: serde_json::Value) -> Surface {
    let asked = json!({ "required": true, "content": { "application/json": { "schema": asked } } });
    let answered = json!({ "200": { "content": { "application/json": { "schema": answered } } } });
    Surface::of(&json!({ "paths": { "/runs": { "post": { "requestBody": asked, "responses": answered } } } }))
}

fn object(properties: serde_json::Value, required: &[&str]) -> serde_json::Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn between(before: &Surface, after: &Surface) -> Vec<String> {
    // As the file holds it.
    breaking(&before.to_string().parse().unwrap(), after)
}

#[test]
fn what_is_added_breaks_nobody() {
    let status = |values: &[&str]| json!({ "type": "string", "enum": values });
    let before = document(object(json!({}), &[]), object(json!({ "status": status(&["OPEN"]) }), &[]));
    let asked = object(json!({ "note": { "type": "string" } }), &[]);
    let answered = json!({ "status": status(&["OPEN", "DONE"]), "id": { "type": "string" } });
    let after = document(asked, object(answered, &["id"]));
    assert_eq!(between(&before, &after), [] as [&str; 0]);
    assert_eq!(between(&Surface::of(&json!({ "paths": {} })), &after), [] as [&str; 0]);
}

#[test]
fn what_is_removed_changed_or_asked_for_is_named() {
    let asked = json!({ "name": { "type": "string" }, "limit": { "type": "integer" } });
    let answered = json!({ "id": { "type": "string" }, "status": { "enum": ["OPEN", "DONE"] } });
    let before = document(object(asked, &[]), object(answered, &["id"]));
    let asked =
        json!({ "name": { "type": "string" }, "limit": { "type": "string" }, "by": { "type": "string" } });
    let answered = json!({ "id": { "type": ["string", "null"] }, "status": { "enum": ["OPEN"] } });
    let after = document(object(asked, &["name", "by"]), object(answered, &[]));
    let named = [
        "POST /runs 200.id: was `string`, is `null|string`",
        "POST /runs 200.id: was always there, may be absent",
        "POST /runs 200.status = \"DONE\": is gone",
        "POST /runs body.by: is new, and required",
        "POST /runs body.limit: was `integer`, is `string`",
        "POST /runs body.name: is required now",
    ];
    assert_eq!(between(&before, &after), named);
    let gone = between(&before, &Surface::of(&json!({ "paths": {} })));
    assert_eq!(gone, ["POST /runs: is gone"]);
}
