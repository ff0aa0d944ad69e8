//! The pages of `docs/` are true: their examples run, and their tables leave nothing out and hold nothing else.
//! Prose is not checked: what can be checked is said in a table or an example.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod definitions;
mod expressions;
mod histories;
mod map;
mod page;
mod source;
mod tree;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DEFINITIONS: &str = include_str!("../../../../docs/definitions.md");
const EXPRESSIONS: &str = include_str!("../../../../docs/expressions.md");
const HISTORIES: &str = include_str!("../../../../docs/histories.md");
const STEPS_OR_CODE: &str = include_str!("../../../../docs/steps-or-code.md");

type Names = BTreeSet<String>;

#[test]
fn every_link_leads_somewhere() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (own, page) in [
        ("definitions.md", DEFINITIONS),
        ("expressions.md", EXPRESSIONS),
        ("histories.md", HISTORIES),
        ("steps-or-code.md", STEPS_OR_CODE),
    ] {
        for target in page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { own } else { file };
            let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|_| panic!("{own}: {target}"));
            assert!(anchor.is_empty() || anchors(&text).contains(anchor), "{own}: {target}");
        }
    }
}

fn anchors(page: &str) -> Names {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let slug = |heading: &str| {
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        let text: String = heading.trim_start_matches('#').trim().chars().filter(kept).collect();
        text.to_lowercase().replace(' ', "-")
    };
    headings.map(slug).collect()
}
