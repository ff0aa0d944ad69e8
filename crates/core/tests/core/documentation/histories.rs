//! `docs/reference/histories.md`

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use abide_core::history::Change;
use abide_core::status::{LifeCycle, RunStatus, StepStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::documentation::page::{codes, only_code, rows, table};
use crate::documentation::source::{fields_of_struct, variants, variants_with_fields};
use crate::documentation::{HISTORIES, Names};

#[test]
fn the_tables_of_states_are_the_transition_tables() {
    fn check<S: LifeCycle + DeserializeOwned>(heading: &str) {
        let mut moves = BTreeSet::new();
        for from in variants::<S>(json!("?")) {
            let status: S = serde_json::from_value(json!(from)).unwrap();
            moves.extend(status.next().iter().map(|to| [from.clone(), to.to_string()]));
        }
        let told = table(HISTORIES, heading).rows(["from", "to"]).into_iter();
        let told: BTreeSet<[String; 2]> = told.map(|[from, to]| [only_code(&from), only_code(&to)]).collect();
        assert_eq!(told, moves);
    }
    check::<RunStatus>("Of a run");
    check::<StepStatus>("Of a step");
    check::<WaitStatus>("Of a waitpoint");
}

#[test]
fn every_record_is_listed_with_its_fields() {
    let source = include_str!("../../../src/history.rs");
    let mut declared = variants_with_fields(source, "pub enum Change {");
    declared.insert("WORKFLOW_CREATED".to_owned(), fields_of_struct(source, "pub struct Creation {"));
    assert_eq!(declared.keys().cloned().collect::<Names>(), variants::<Change>(json!({"type": "?"})));
    let told: BTreeMap<String, Vec<String>> = rows(HISTORIES, ["record", "fields"])
        .into_iter()
        .map(|[record, fields]| {
            let fields = fields.split(", ").map(|field| field.replace('`', ""));
            (only_code(&record), fields.filter(|field| !field.is_empty()).collect())
        })
        .collect();
    assert_eq!(told, declared);
}

#[test]
fn every_part_of_a_waitpoint_is_described() {
    let table = table(HISTORIES, "Parts that recur");
    let fields = fields_of_struct(include_str!("../../../src/waitpoint.rs"), "pub struct Waitpoint {");
    assert_eq!(
        table.names("field"),
        fields.iter().map(|field| field.replace(['[', ']'], "")).collect::<Names>()
    );
    let [_, kinds] =
        table.rows(["field", "what it is"]).into_iter().find(|[name, _]| name == "`kind`").unwrap();
    assert_eq!(codes(&kinds).into_iter().collect::<Names>(), variants::<Kind>(json!("?")));
}

#[test]
fn every_refusal_is_listed() {
    let source = include_str!("../../../src/refusal.rs");
    let codes: Names =
        source.split("=> \"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(table(HISTORIES, "Refusals").names("code"), codes);
}

#[test]
fn every_failure_of_the_engine_is_listed() {
    let mut codes = Names::new();
    for file in ["apply", "command", "flow"].iter().flat_map(|module| files_of(module)) {
        let source = fs::read_to_string(file).unwrap();
        let is_code = |text: &&str| {
            text.contains('_') && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase())
        };
        let lines = source.lines().filter(|line| !line.trim_start().starts_with("#["));
        codes.extend(lines.flat_map(|line| line.split('"')).filter(is_code).map(str::to_owned));
    }
    assert_eq!(table(HISTORIES, "Failures").names("code"), codes);
}

/// A module's own file and those below it.
fn files_of(module: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(module);
    let below = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    below.chain([folder.with_extension("rs")]).collect()
}
