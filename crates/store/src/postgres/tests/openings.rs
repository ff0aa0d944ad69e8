//! A database that is not ours, or that we cannot use, is refused with a reason and left as it was.

use super::*;
use crate::cluster::NodeId;

fn refused(address: &str) -> (String, &'static str) {
    match Postgres::open(address) {
        Err(Error::Unusable { path, why, what_to_do }) => {
            assert!(path.starts_with("postgresql://"), "{path}");
            (why, what_to_do)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn ten_that_open_a_new_database_at_once_can_all_use_it() {
    let address = Server::shared().database();
    thread::scope(|scope| {
        for number in 0..10 {
            let address = &address;
            scope.spawn(move || {
                let mut store = Postgres::open(address).unwrap();
                let mut nap = World::of(number).start(&story::nap(), json!({ "sleep": "1h" }));
                nap.save(&mut store);
            });
        }
    });
    let mut store = Postgres::open(&address).unwrap();
    assert_eq!(store.runs(&RunFilter::default(), &Page { after: None, limit: 20 }).unwrap().len(), 10);
    assert_eq!(Hand::on(&address).number("SELECT count(*) FROM migrations"), migrations::latest());
}

#[test]
fn a_database_in_which_another_program_has_our_name_is_refused() {
    let server = Server::shared();
    let (taken, address) = (server.database(), server.database());
    // Its own schema does not matter.
    Hand::on(&taken).run("DROP SCHEMA abide CASCADE; CREATE SCHEMA abide; CREATE TABLE abide.runs (id text)");
    let (why, what_to_do) = refused(&taken);
    assert!(why.contains("another program"), "{why}");
    assert!(what_to_do.contains("of its own"), "{what_to_do}");
    Hand::on(&address).run("CREATE TABLE public.runs (id text)");
    Postgres::open(&address).unwrap();
}

#[test]
fn a_database_of_a_newer_version_is_refused_unless_it_says_that_we_can_work_on_it() {
    let address = Server::shared().database();
    // One that says that we can work on it, as while nodes are replaced one by one.
    Hand::on(&address).run("INSERT INTO migrations VALUES (9998, now(), 1)");
    Postgres::open(&address).unwrap();
    Hand::on(&address).run("INSERT INTO migrations VALUES (9999, now(), 9999)");
    let (why, what_to_do) = refused(&address);
    assert!(why.contains("version 9999"), "{why}");
    assert!(what_to_do.contains("newer"), "{what_to_do}");
}

#[test]
fn a_database_is_not_brought_up_to_date_under_a_node_that_could_not_go_on() {
    let address = Server::shared().database();
    let mut node = Postgres::open(&address).unwrap().cluster().unwrap().unwrap();
    let (this, latest) = (NodeId(7), migrations::latest());
    Hand::on(&address).run("DELETE FROM migrations WHERE version > 1");
    node.heartbeat(this).unwrap();
    let (why, what_to_do) = refused(&address);
    assert!(why.contains("version 1") && why.contains("a node that was seen"), "{why}");
    assert!(why.contains(&format!("version {latest}")) && what_to_do.contains("stop every server"), "{why}");
    node.leave(this).unwrap();
    let Err(error) = Postgres::open(&address) else { panic!("its tables are there already") };
    assert!(!matches!(error, Error::Unusable { .. }), "nobody is in the way: {error}");
}

#[test]
fn a_database_that_is_not_there_or_cannot_hold_every_text_is_refused() {
    let server = Server::shared();
    let (why, what_to_do) = refused(&server.address("nowhere"));
    assert!(why.contains("does not exist") && what_to_do.contains("createdb"), "{why}");
    let (why, what_to_do) = refused(&server.database_with("ENCODING 'SQL_ASCII'"));
    assert!(why.contains("SQL_ASCII") && what_to_do.contains("UTF8"), "{why}");
}

#[test]
fn a_server_that_is_not_there_may_come() {
    let directory = tempfile::tempdir().unwrap();
    let refused = Postgres::open(&abide_testkit::postgres::address(directory.path(), "test"));
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}
