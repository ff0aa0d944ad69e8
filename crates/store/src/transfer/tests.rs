mod filled;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use abide_testkit::postgres::Server;
use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::cluster::NodeId;
use filled::Filled;

/// A place for a store, of either kind.
#[derive(Clone, Debug)]
enum Spot {
    File(PathBuf),
    Database(String),
}

impl Spot {
    fn open(&self) -> Result<Box<dyn Store>, crate::Error> {
        Ok(match self {
            Spot::File(path) => Box::new(Sqlite::open(path)?),
            Spot::Database(address) => Box::new(Postgres::open(address)?),
        })
    }

    fn source(&self) -> Result<Source, Error> {
        match self {
            Spot::File(path) => Source::file(path),
            Spot::Database(address) => Source::database(address),
        }
    }

    fn target(&self) -> Result<Target, Error> {
        match self {
            Spot::File(path) => Target::file(path),
            Spot::Database(address) => Target::database(address),
        }
    }

    fn contents(&self) -> Contents {
        match self {
            Spot::File(path) => Contents::of_file(path).unwrap(),
            Spot::Database(address) => Contents::of_database(address).unwrap(),
        }
    }

    /// What is in it, whoever may open it.
    fn sums(&self) -> Vec<(&'static str, Sum)> {
        let Source(mut end) = self.source().unwrap();
        TABLES.iter().map(|table| (table.name, sum(&mut *end, table, 0, 0, &mut |_| {}).unwrap())).collect()
    }

    fn run(&self, sql: &str) {
        match self {
            Spot::File(path) => {
                let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
                let file = rusqlite::Connection::open_with_flags_and_vfs(path, flags, "cksmvfs").unwrap();
                file.execute_batch(sql).unwrap();
            }
            Spot::Database(address) => crate::postgres::tests::Hand::on(address).run(sql),
        }
    }
}

struct Spots {
    directory: TempDir,
    made: u32,
}

impl Spots {
    fn new() -> Spots {
        Spots { directory: TempDir::new().unwrap(), made: 0 }
    }

    fn file(&mut self) -> Spot {
        self.made += 1;
        Spot::File(self.directory.path().join(format!("{}.db", self.made)))
    }

    fn database(&mut self) -> Spot {
        Spot::Database(Server::shared().database())
    }

    /// From each kind to each kind.
    fn pairs(&mut self) -> [(Spot, Spot); 4] {
        [
            (self.file(), self.database()),
            (self.database(), self.file()),
            (self.file(), self.file()),
            (self.database(), self.database()),
        ]
    }
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn begin(from: &Spot, to: &Spot) -> Result<Move, Error> {
    Move::begin(from.source()?, to.target()?, NOW, 7)
}

fn move_all(from: &Spot, to: &Spot) -> Vec<(&'static str, Sum)> {
    let mut whole = begin(from, to).unwrap();
    whole.copy(&mut |_| {}).unwrap();
    let sums = whole.verify(&mut |_| {}).unwrap();
    whole.finish(NOW).unwrap();
    sums
}

#[test]
fn everything_is_moved_from_each_kind_of_store_to_each_kind() {
    for (from, to) in Spots::new().pairs() {
        let mut filled = Filled::new(&mut *from.open().unwrap());
        let before = from.sums();
        for (name, sum) in &before {
            assert!(sum.rows > 0, "{name} is tried with something in it");
        }
        let sums = move_all(&from, &to);
        assert_eq!(sums, before, "{from:?} to {to:?}");
        assert_eq!(to.sums(), before);
        assert_eq!(from.sums(), before, "the old store is as it was");
        filled.check(&mut *to.open().unwrap());
    }
}

#[test]
fn a_move_that_is_cut_off_anywhere_goes_on() {
    for (from, to) in Spots::new().pairs() {
        drop(Filled::new(&mut *from.open().unwrap()));
        let before = from.sums();
        // After each batch of three rows, as if the process were gone.
        let mut cuts = 0;
        loop {
            let mut part = begin(&from, &to).unwrap();
            assert_eq!(part.goes_on(), cuts > 0);
            part.batch_rows = 3;
            let mut told = 0;
            let cut = catch_unwind(AssertUnwindSafe(|| {
                part.copy(&mut |progress| {
                    told += usize::from(progress.rows > 0);
                    if told > 2 {
                        resume_unwind(Box::new(()));
                    }
                })
            }));
            drop(part);
            match cut {
                Ok(copied) => break copied.unwrap(),
                Err(_) => cuts += 1,
            }
            for spot in [&from, &to] {
                let refused = spot.open().map(drop).unwrap_err().to_string();
                assert!(refused.contains("is not finished"), "{refused}");
            }
        }
        assert!(cuts > 20, "{cuts}");
        assert_eq!(move_all(&from, &to), before, "{from:?} to {to:?}");
        drop(to.open().unwrap());
    }
}

#[test]
fn a_move_that_is_cut_off_at_its_ends_goes_on() {
    let mut spots = Spots::new();
    let (from, to) = (spots.file(), spots.database());
    drop(Filled::new(&mut *from.open().unwrap()));
    // Between the two notes at the beginning.
    let Source(mut end) = from.source().unwrap();
    let note = Note::Source { id: MoveId::of(1), to: to.contents().place, begun_at: NOW, ended_at: None };
    assert!(end.write(None, Some(&note.written()), &Work::Nothing).unwrap());
    drop(end);
    assert!(matches!(begin(&from, &spots.file()), Err(Error::IsMoved { is_over: false, .. })));
    let mut whole = begin(&from, &to).unwrap();
    whole.copy(&mut |_| {}).unwrap();
    // Between the two notes at the end.
    let note = Note::read(Some(&whole.from_note)).unwrap().unwrap();
    let Note::Source { id, to: place, begun_at, .. } = note else { panic!("{note:?}") };
    let note = Note::Source { id, to: place, begun_at, ended_at: Some(NOW) };
    assert!(whole.from.write(Some(&whole.from_note), Some(&note.written()), &Work::Nothing).unwrap());
    drop(whole);
    move_all(&from, &to);
    drop(to.open().unwrap());
}

#[test]
fn a_store_that_was_moved_is_not_opened_until_that_is_taken_back() {
    for (from, to) in Spots::new().pairs() {
        drop(Filled::new(&mut *from.open().unwrap()));
        move_all(&from, &to);
        let refused = from.open().map(drop).unwrap_err().to_string();
        assert!(refused.contains("it was moved to") && refused.contains("--reopen"), "{refused}");
        assert!(matches!(begin(&from, &to), Err(Error::IsMoved { is_over: true, .. })));
        let place = to.contents().place;
        assert_eq!(from.source().unwrap().reopen().unwrap(), Some(place));
        drop(from.open().unwrap());
        assert_eq!(from.source().unwrap().reopen().unwrap(), None);
        assert!(matches!(begin(&from, &to), Err(Error::NotEmpty { .. })));
    }
}

#[test]
fn a_move_that_was_given_up_does_not_go_on() {
    for (from, to) in Spots::new().pairs() {
        drop(Filled::new(&mut *from.open().unwrap()));
        drop(begin(&from, &to).unwrap());
        from.source().unwrap().reopen().unwrap();
        let refused = begin(&from, &to).unwrap_err();
        assert!(matches!(refused, Error::OtherMove { .. }), "{refused}");
        let refused = to.source().unwrap().reopen().unwrap_err();
        assert!(matches!(refused, Error::IsTarget { .. }), "{refused}");
        assert!(matches!(begin(&to, &from), Err(Error::IsTarget { .. })));
    }
}

#[test]
fn what_is_served_is_not_moved_and_nothing_is_moved_to_it() {
    let mut spots = Spots::new();
    let (from, to) = (spots.database(), spots.file());
    let store = from.open().unwrap();
    let mut cluster = store.cluster().unwrap().unwrap();
    cluster.heartbeat(NodeId(1)).unwrap();
    cluster.heartbeat(NodeId(2)).unwrap();
    let said = begin(&from, &to).unwrap_err().to_string();
    assert!(said.contains("2 nodes were seen") && said.contains("stop every server"), "{said}");
    assert!(matches!(from.contents().check(&to.contents()), Err(Error::Served { nodes: 2, .. })));
    cluster.leave(NodeId(1)).unwrap();
    let other = spots.file();
    drop(other.open().unwrap());
    let said = begin(&other, &from).unwrap_err().to_string();
    assert!(said.contains("1 node was seen"), "{said}");
    cluster.leave(NodeId(2)).unwrap();
    drop(store);
    move_all(&from, &to);

    let store = to.open().unwrap();
    let refused = begin(&to, &spots.database()).unwrap_err();
    assert!(matches!(refused, Error::Store(crate::Error::InUse(_))), "{refused}");
    drop(store);
}

#[test]
fn a_node_that_slips_in_is_noticed_before_the_end() {
    let mut spots = Spots::new();
    let (from, to) = (spots.database(), spots.file());
    let store = from.open().unwrap();
    let mut whole = begin(&from, &to).unwrap();
    whole.copy(&mut |_| {}).unwrap();
    whole.verify(&mut |_| {}).unwrap();
    let mut cluster = store.cluster().unwrap().unwrap();
    cluster.heartbeat(NodeId(1)).unwrap();
    assert!(matches!(whole.finish(NOW), Err(Error::Served { nodes: 1, .. })));
    assert!(to.open().is_err(), "the move is not finished");
}

#[test]
fn a_place_with_something_in_it_is_left_alone() {
    for (from, to) in Spots::new().pairs() {
        drop(from.open().unwrap());
        to.open().unwrap().put_setting("link-secrets", b"[]").unwrap();
        let before = to.sums();
        let refused = begin(&from, &to).unwrap_err();
        assert!(refused.to_string().contains("(settings: 1)"), "{refused}");
        assert!(matches!(from.contents().check(&to.contents()), Err(Error::NotEmpty { .. })));
        assert_eq!(to.sums(), before);
        drop((from.open().unwrap(), to.open().unwrap()));
    }
}

#[test]
fn a_move_begins_where_there_is_a_store_and_ends_elsewhere() {
    let mut spots = Spots::new();
    for from in [spots.file(), spots.database()] {
        let to = spots.file();
        let refused = begin(&from, &to).unwrap_err();
        assert!(matches!(refused, Error::Nothing(_)), "{refused}");
        assert!(matches!(from.contents().check(&to.contents()), Err(Error::Nothing(_))));
        assert!(!to.contents().is_there && !from.contents().is_there, "nothing was made");
    }
    let same = spots.database();
    drop(same.open().unwrap());
    assert!(matches!(begin(&same, &same), Err(Error::SamePlace(_))));
    let same = spots.file();
    drop(same.open().unwrap());
    assert!(matches!(same.contents().check(&same.contents()), Err(Error::SamePlace(_))));
}

#[test]
fn looking_changes_nothing() {
    for (from, to) in Spots::new().pairs() {
        drop(Filled::new(&mut *from.open().unwrap()));
        let contents = from.contents();
        assert!(!contents.check(&to.contents()).unwrap());
        let counted: Vec<(&str, u64)> = from.sums().iter().map(|(name, sum)| (*name, sum.rows)).collect();
        assert_eq!(contents.tables, counted);
        drop((from.open().unwrap(), to.open().unwrap()));
        drop(begin(&from, &to).unwrap());
        assert!(from.contents().check(&to.contents()).unwrap(), "it would go on");
    }
}

#[test]
fn whatever_is_not_the_same_in_the_end_is_noticed() {
    let changes = [
        ("runs", "UPDATE runs SET status = 6 WHERE status = 2"),
        ("settings", "DELETE FROM settings WHERE name = 'link-secrets'"),
        ("waitpoints", "UPDATE waitpoints SET resume_at = resume_at + 1"),
        (
            "idempotency_records",
            "INSERT INTO idempotency_records (key, digest, reply, written_at) VALUES ('x', 1, '1', 1)",
        ),
        ("history", "DELETE FROM history WHERE seq > 3"),
    ];
    for (table, change) in changes {
        for (from, to) in Spots::new().pairs() {
            drop(Filled::new(&mut *from.open().unwrap()));
            let mut whole = begin(&from, &to).unwrap();
            whole.copy(&mut |_| {}).unwrap();
            to.run(change);
            let differs = whole.verify(&mut |_| {}).unwrap_err();
            assert!(matches!(&differs, Error::Differs(found) if found.table == table), "{differs}");
            drop(whole);
            assert!(to.open().is_err(), "it is not opened");
        }
    }
}

#[test]
fn a_run_without_a_history_is_not_moved_to_a_database_and_is_named() {
    let mut spots = Spots::new();
    for (from, to) in [(spots.file(), spots.database()), (spots.database(), spots.database())] {
        let filled = Filled::new(&mut *from.open().unwrap());
        let run = filled.first_run();
        let id = match &from {
            Spot::File(_) => format!("X'{:032x}'", run.0),
            Spot::Database(_) => format!("'{:032x}'", run.0),
        };
        from.run(&format!("DELETE FROM history WHERE run = {id}"));
        let refused = begin(&from, &to).unwrap().copy(&mut |_| {}).unwrap_err().to_string();
        assert!(refused.contains(&run.to_string()) && refused.contains("no history"), "{refused}");
    }
}

#[test]
fn of_two_who_move_the_same_one_is_refused() {
    let mut spots = Spots::new();
    let (from, to) = (spots.database(), spots.database());
    drop(Filled::new(&mut *from.open().unwrap()));
    let (mut one, mut other) = (begin(&from, &to).unwrap(), begin(&from, &to).unwrap());
    one.copy(&mut |_| {}).unwrap();
    assert!(matches!(other.copy(&mut |_| {}), Err(Error::Interfered(_))));
    one.verify(&mut |_| {}).unwrap();
    one.finish(NOW).unwrap();
    assert!(matches!(other.finish(NOW), Err(Error::Interfered(_))));
}
