//! Backups of a store in use.

use abide_testkit::postgres::Server as Postgres;

use super::host::{Host, alone};

#[test]
fn a_backup_is_made_beside_a_running_server_and_can_be_served() {
    let host = Host::start();
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    host.until_waiting(&run);
    let said = host.ok(&["backup", "copy.db"]);
    assert!(said.starts_with("copy.db  ") && said.contains(" bytes in "), "{said}");
    let said = host.abide(&["backup", "copy.db"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("not overwritten"), "{said:?}");

    let copy = Host::start_with(&[
        "--store",
        &format!("sqlite:{}", host.directory.path().join("copy.db").display()),
    ]);
    assert_eq!(copy.status(&run), "WAITING");
    copy.ok(&["wake", &run]);
    copy.until_status(&run, "COMPLETED");
    assert_eq!(host.status(&run), "WAITING", "the store itself is as it was");
}

#[test]
fn a_file_is_copied_without_its_server_too() {
    let host = Host::start();
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    let said = host.ok(&["backup", "copy.db", "--store", "sqlite:abide.db"]);
    assert!(said.starts_with("copy.db  "), "{said}");
    let copy = format!("sqlite:{}", host.directory.path().join("copy.db").display());
    assert_eq!(Host::start_with(&["--store", &copy]).status(&run), "WAITING");
}

#[test]
fn a_database_is_copied_to_a_file_without_its_server_too() {
    let database = Postgres::shared().database();
    let directory = tempfile::TempDir::new().unwrap();
    let said = alone(directory.path(), &["backup", "copy.db", "--store", &database]);
    assert!(said.code == 1 && said.err.contains("there is no store in it"), "{said:?}");
    let host = Host::start_with(&["--store", &database]);
    let run = host.started("name: sleeper\nsteps:\n  - {name: nap, type: wait, duration: 10m}\n");
    let said = host.ok(&["backup", "copy.db", "--store", &database]);
    assert!(said.starts_with("copy.db  "), "{said}");
    let copy = format!("sqlite:{}", host.directory.path().join("copy.db").display());
    assert_eq!(Host::start_with(&["--store", &copy]).status(&run), "WAITING");
}

#[test]
fn a_copy_that_is_refused_leaves_nothing_behind() {
    let host = Host::start_with(&["--auth", "required"]);
    let with = |key: &str| host.abide(&["backup", "copy.db", "--key", key]);
    let said = with("abk_wrong");
    assert_eq!(said.code, 6, "{said:?}");
    for name in ["copy.db", "copy.db.partial"] {
        assert!(!host.directory.path().join(name).exists(), "{name}");
    }
    assert_eq!(with(host.key()).code, 0);
}

#[test]
fn what_is_not_a_store_is_not_copied() {
    let directory = tempfile::TempDir::new().unwrap();
    let said = alone(directory.path(), &["backup", "copy.db", "--store", "sqlite:abide.db"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("abide.db"), "{said:?}");
    std::fs::write(directory.path().join("letter.txt"), "Dear Sir or Madam, ".repeat(100)).unwrap();
    let said = alone(directory.path(), &["backup", "copy.db", "--store", "sqlite:letter.txt"]);
    assert!(said.err.contains("not an SQLite database"), "{said:?}");
    assert!(!directory.path().join("copy.db").exists());
}
