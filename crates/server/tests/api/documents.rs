use std::fs;
use std::path::Path;

use abide_server::Code;
use serde_json::Value;

/// What is generated is compared; `ABIDE_BLESS=1` rewrites it.
fn is_as_generated(file: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("ABIDE_BLESS").is_some() {
        fs::write(&path, generated).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == generated, "{file} is not what the code says; ABIDE_BLESS=1 rewrites it");
}

#[test]
fn the_page_of_errors_lists_every_code() {
    let mut page = String::from(
        "# Errors\n\nWhat cannot be done is answered with `application/problem+json` (RFC 9457):\n\n```json\n\
         {\n  \"type\": \"/docs#ALREADY_RESOLVED\",\n  \"title\": \"Conflict\",\n  \"status\": 409,\n  \
         \"code\": \"ALREADY_RESOLVED\",\n  \"detail\": \"waitpoint wp_… is already COMPLETED, by link\",\n  \
         \"current\": { \"status\": \"COMPLETED\" },\n  \
         \"outcome\": { \"waitpointId\": \"wp_…\", \"status\": \"COMPLETED\", \"resolvedBy\": \"link\", \"resolvedAt\": \"…\" }\n}\n```\n\n\
         A program may rely on `code`; the words may change. `pointer` is the place in the body. `problems` lists\n\
         everything that was wrong, each with its own place, what would be right and the nearest name. `current` is the\n\
         state that stands against the request. `outcome` is how a waitpoint was resolved.\n\n\
         429 and 503 come with `Retry-After`, in seconds. Nothing was changed then.\n\n\
         This table is written by a test; change the code, not the page.\n\n\
         | code | status | what it means |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        page.push_str(&format!("| `{}` | {} | {} |\n", code.name(), code.status().as_u16(), code.meaning()));
    }
    is_as_generated("docs/reference/errors.md", &page);
}

#[test]
fn the_openapi_document_is_the_one_in_the_repository() {
    let document = serde_json::to_string_pretty(&abide_server::openapi()).unwrap() + "\n";
    is_as_generated("schema/openapi.json", &document);
}

#[test]
fn every_reference_of_the_openapi_document_leads_somewhere_and_every_operation_has_its_own_id() {
    let document = abide_server::openapi();
    assert_eq!(document["openapi"], "3.1.0");
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let found = document.pointer(reference.strip_prefix('#').unwrap());
                    assert!(found.is_some(), "{reference}");
                }
                open.extend(fields.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let methods =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let mut ids: Vec<&str> = methods.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
