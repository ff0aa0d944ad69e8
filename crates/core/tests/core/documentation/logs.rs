//! The fields of the log: those of the source and those of `docs/operating/logs.md` are the same.

use super::Names;
use super::page::{codes, rows};
use super::tree::sources;

const LOGS: &str = include_str!("../../../../../docs/operating/logs.md");
const MACROS: [&str; 5] = ["trace!(", "debug!(", "info!(", "warn!(", "error!("];
/// Programs that nobody reads the log of.
const APART: [&str; 4] = ["crates/bench/", "crates/sim/", "crates/standin/", "sdk/"];

/// The names before the message of one call: `run = %id, %error, "it failed"`.
fn fields(arguments: &str) -> Vec<String> {
    let before = arguments.split('"').next().unwrap_or_default();
    let names = before.split(',').map(|field| field.split('=').next().unwrap_or_default().trim());
    let names = names.map(|name| name.trim_start_matches(['%', '?']).to_owned());
    names
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

#[test]
fn every_field_of_the_log_is_documented_and_no_other() {
    let mut used = Names::new();
    for source in sources().iter().filter(|source| !APART.iter().any(|apart| source.path.starts_with(apart)))
    {
        for call in source.text.split("tracing::").skip(1) {
            let Some(arguments) = MACROS.iter().find_map(|name| call.strip_prefix(name)) else { continue };
            used.extend(fields(arguments));
        }
    }
    let documented: Names = rows(LOGS, ["field"]).iter().flat_map(|[field]| codes(field)).collect();
    assert_eq!(used, documented);
}

#[test]
fn fields_are_found_in_front_of_the_message() {
    assert_eq!(
        fields("run = %id, %error, took_ms = begun.as_millis(), \"it failed, why = not\""),
        ["run", "error", "took_ms"]
    );
    assert!(fields("\"nothing but words\"").is_empty());
}
