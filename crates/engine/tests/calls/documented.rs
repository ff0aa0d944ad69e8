//! Every code that a call can fail with stands on the page of its step.

use std::collections::BTreeSet;
use std::path::Path;

/// Words in quotes that look like a code of one of these families.
fn codes(folder: &Path, families: &[&str], found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes(&path, families, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let is_code = |word: &&str| {
            families.iter().any(|family| word.starts_with(family))
                && word.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase())
        };
        found.extend(source.split('"').filter(is_code).map(str::to_owned));
    }
}

#[test]
fn every_code_of_a_call_is_on_the_page_of_its_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    let families = ["HTTP_", "LLM_", "HANDLER_", "SIGNING_", "SECRET_UNKNOWN"];
    for folder in [
        "crates/engine/src/executor",
        "crates/calls/src/http",
        "crates/calls/src/models",
        "crates/calls/src/tool_loop",
    ] {
        codes(&root.join(folder), &families, &mut found);
    }
    assert!(found.len() > 35, "{found:?}");
    let pages: String = ["http", "llm", "tasks"]
        .map(|page| std::fs::read_to_string(root.join(format!("docs/reference/steps/{page}.md"))).unwrap())
        .concat();
    let missing: Vec<&String> = found.iter().filter(|code| !pages.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
