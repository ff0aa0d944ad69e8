//! A store that is damaged, and what is held: told, held and mended without a server.

use std::path::Path;

use serde_json::Value;

use super::host::{Host, Said, alone};

const STORE: &str = "sqlite:abide.db";

/// A store with a run that sleeps, and nobody who serves it.
fn sleeper() -> (tempfile::TempDir, String) {
    let mut host = Host::start();
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    host.until_waiting(&run);
    (host.end(), run)
}

fn doctor(directory: &Path, flags: &[&str]) -> Said {
    let arguments: Vec<&str> = ["doctor", "--store", STORE].iter().chain(flags).copied().collect();
    alone(directory, &arguments)
}

/// Flips a bit of the last page of the file on which something stands.
fn damage(directory: &Path, wanted: &[u8]) {
    const PAGE: usize = 4_096;
    let path = directory.join("abide.db");
    let mut content = std::fs::read(&path).unwrap();
    let place = content.windows(wanted.len()).rposition(|window| window == wanted).unwrap();
    let page = place / PAGE * PAGE;
    content[page + PAGE - 50] ^= 1;
    std::fs::write(path, content).unwrap();
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_sound_store_beside_its_server_too() {
    let mut host = Host::start();
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    host.until_waiting(&run);
    let said = doctor(host.directory.path(), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("Nothing is wrong with 1 run,"), "{said:?}");
    let said = doctor(host.directory.path(), &["--repair"]);
    assert_eq!(said.code, 2, "somebody serves it: {said:?}");
    let directory = host.end();
    let said = doctor(directory.path(), &["--repair", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&found["examined"]["runs"], &found["findings"]), (&1.into(), &Value::Array(Vec::new())));
}

#[test]
fn a_damaged_page_is_told_and_what_it_concerns_is_held_so_that_the_rest_is_served() {
    let (directory, run) = sleeper();
    let directory = directory.path();
    damage(directory, b"sleeper");
    let said = doctor(directory, &[]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("checksum"), "{said:?}");
    let held = alone(directory, &["hold", &run, "--store", STORE, "--reason", "to be looked into"]);
    assert_eq!(held.code, 0, "{held:?}");
    let listed = alone(directory, &["held", "--store", STORE]);
    assert!(listed.out.contains(&run) && listed.out.contains("to be looked into"), "{listed:?}");
    let released = alone(directory, &["release", &run, "--store", STORE]);
    assert_eq!(released.code, 0, "{released:?}");
}

#[test]
fn a_store_that_is_not_there_cannot_be_looked_at() {
    let directory = tempfile::TempDir::new().unwrap();
    let said = doctor(directory.path(), &[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("abide.db"), "{said:?}");
}
