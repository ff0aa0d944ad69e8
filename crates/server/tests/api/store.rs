//! The store that a test runs on: SQLite in memory, or PostgreSQL.

use abide_store::Store;
use abide_store::postgres::Postgres;
use abide_store::sqlite::Sqlite;
use abide_testkit::postgres::{self, Server};

/// A store with nothing in it: in PostgreSQL where `ABIDE_TEST_STORE=postgres` says so, else in memory.
pub(crate) fn fresh_store() -> Box<dyn Store> {
    match postgres::is_asked_for() {
        true => Box::new(Postgres::open(&Server::shared().database()).expect("the server is there")),
        false => Box::new(Sqlite::open_in_memory().expect("there is memory")),
    }
}
