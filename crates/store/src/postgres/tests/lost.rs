//! Connections that are lost, and servers that go away.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use super::*;

#[test]
fn a_lost_connection_refuses_the_batch_and_the_next_one_is_written() {
    let address = Server::shared().database();
    let mut store = Postgres::open(&address).unwrap();
    let mut world = World::new();
    let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    nap.save(&mut store);
    world.wake(&mut nap);
    let mut hand = Hand::on(&address);
    hand.run("BEGIN; SELECT FROM runs FOR UPDATE");
    thread::scope(|scope| {
        let waits = scope.spawn(|| nap.try_save(&mut store));
        hand.wait_for_a_waiter();
        hand.run(&format!("SELECT pg_terminate_backend(pid) {WAITING}"));
        let refused = waits.join().unwrap();
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    });
    hand.run("COMMIT");
    nap.save(&mut store);
    nap.check(&mut store);
}

#[test]
fn what_was_acknowledged_is_there_after_a_crash_of_the_server() {
    let mut server = Server::start();
    let address = server.database();
    let mut store = Postgres::open(&address).unwrap();
    let mut reader = store.reader();
    let mut world = World::new();
    let mut naps = Vec::new();
    for _ in 0..3 {
        for _ in 0..5 {
            let mut nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
            nap.save(&mut store);
            naps.push(nap);
        }
        assert!(reader.load(naps[0].id()).unwrap().is_some());
        server.crash();
        // The first call may be the one that notices.
        let _ = store.workspaces();
        let _ = reader.workspaces();
        for nap in &naps {
            nap.check(&mut store);
        }
        assert!(reader.load(naps[0].id()).unwrap().is_some());
    }
}

/// Between a store and its server: when the end of the first commit comes by, it is lost on its way there, or its answer
/// on the way back.
struct Between {
    directory: tempfile::TempDir,
}

#[derive(Clone)]
enum Loses {
    /// This happens at a commit, before anybody notices.
    Commit(Arc<dyn Fn() + Send + Sync>),
    /// When the server has given it.
    Answer,
    /// The commit comes to the server when whoever sent it has given it up.
    Late(Arc<Late>),
}

struct Late {
    given_up: Barrier,
    answered: Barrier,
}

/// How a commit ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// The commit is one statement.
    WithItsStatement,
    WithCommit,
}

/// What a client has sent, which comes in pieces of any length.
#[derive(Default)]
struct Heard {
    /// Of a request that is not whole yet.
    request: Vec<u8>,
    /// The statement was sent to be compiled; the next request carries it out.
    is_compiled: bool,
}

/// The last message of a request.
const SYNC: &[u8] = b"S\0\0\0\x04";

impl Ends {
    /// Whether the end is whole with these bytes.
    fn is_in(self, bytes: &[u8], heard: &mut Heard) -> bool {
        heard.request.extend_from_slice(bytes);
        let has = |word: &[u8]| heard.request.windows(word.len()).any(|part| part == word);
        let is_end = match self {
            Ends::WithItsStatement if heard.request.ends_with(SYNC) => {
                let is_compiled = has(b"INSERT INTO commits");
                std::mem::replace(&mut heard.is_compiled, is_compiled)
            }
            Ends::WithItsStatement => false,
            Ends::WithCommit => has(b"COMMIT\0"),
        };
        if heard.request.ends_with(SYNC) {
            heard.request.clear();
        }
        is_end
    }
}

impl Between {
    fn stand(socket: PathBuf, loses: Loses, ends: Ends) -> Between {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let is_armed = Arc::new(AtomicBool::new(true));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, loses) = (client.unwrap(), loses.clone());
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let is_unheard = Arc::new(AtomicBool::new(false));
                let (is_lost, late) = (Arc::clone(&is_unheard), loses.clone());
                thread::spawn(move || {
                    let nobody = to.try_clone().unwrap();
                    pass(from, to, |_| !is_lost.load(Ordering::SeqCst));
                    let _ = nobody.shutdown(Shutdown::Both);
                    if let (true, Loses::Late(late)) = (is_lost.load(Ordering::SeqCst), late) {
                        late.answered.wait();
                    }
                });
                let is_armed = Arc::clone(&is_armed);
                let (wire, answers) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let mut heard = Heard::default();
                    pass(client, server, |bytes| {
                        if !ends.is_in(bytes, &mut heard) || !is_armed.swap(false, Ordering::SeqCst) {
                            return true;
                        }
                        // Nobody hears what the server has to say from here on.
                        is_unheard.store(true, Ordering::SeqCst);
                        match &loses {
                            Loses::Commit(meanwhile) => {
                                meanwhile();
                                let _ = answers.shutdown(Shutdown::Both);
                            }
                            Loses::Answer => (&wire).write_all(bytes).unwrap(),
                            Loses::Late(late) => {
                                let _ = answers.shutdown(Shutdown::Both);
                                late.given_up.wait();
                                (&wire).write_all(bytes).unwrap();
                            }
                        }
                        false
                    });
                });
            }
        });
        Between { directory }
    }
}

/// Passes on what comes, until one of both is gone or it may not.
fn pass(mut from: UnixStream, mut to: UnixStream, mut may: impl FnMut(&[u8]) -> bool) {
    let mut bytes = [0; 65536];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if !may(&bytes[..length]) || to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// A run that is written through it, the outcome, and the database without anything in between.
fn commit_through(
    socket: PathBuf,
    address: &str,
    loses: Loses,
    ends: Ends,
) -> (Result<(), Error>, Postgres, story::Story) {
    drop(Postgres::open(address).unwrap());
    let name = address.rsplit_once('?').unwrap().0.trim_start_matches("postgresql:///");
    let between = Between::stand(socket, loses, ends);
    let mut store =
        Postgres::open(&abide_testkit::postgres::address(between.directory.path(), name)).unwrap();
    let mut world = World::new();
    let nap = world.start(&story::nap(), json!({ "sleep": "1h" }));
    let key =
        IdempotencyRecord { key: "key".to_owned(), digest: 1, reply: Reply::Done, run: None, at: world.now };
    let idempotency = if ends == Ends::WithCommit { vec![&key] } else { Vec::new() };
    let result = store.commit(&Batch { runs: vec![nap.write()], idempotency, ..Batch::default() });
    let _ = store.workspaces();
    (result, Postgres::open(address).unwrap(), nap)
}

#[test]
fn a_commit_whose_answer_was_lost_is_known_to_be_written() {
    let server = Server::shared();
    for ends in [Ends::WithItsStatement, Ends::WithCommit] {
        let (result, mut store, nap) =
            commit_through(server.socket(), &server.database(), Loses::Answer, ends);
        result.unwrap();
        nap.check(&mut store);
    }
}

#[test]
fn a_commit_that_never_arrived_is_known_not_to_be_written() {
    let server = Server::shared();
    for ends in [Ends::WithItsStatement, Ends::WithCommit] {
        let nothing = Loses::Commit(Arc::new(|| {}));
        let (result, mut store, nap) = commit_through(server.socket(), &server.database(), nothing, ends);
        assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
        assert_eq!(store.load(nap.id()).unwrap(), None);
    }
}

#[test]
fn a_commit_that_arrives_when_it_is_given_up_is_not_written_any_more() {
    let server = Server::shared();
    let late = Arc::new(Late { given_up: Barrier::new(2), answered: Barrier::new(2) });
    let loses = Loses::Late(Arc::clone(&late));
    let (result, mut store, nap) =
        commit_through(server.socket(), &server.database(), loses, Ends::WithItsStatement);
    assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    late.given_up.wait();
    late.answered.wait();
    assert_eq!(store.load(nap.id()).unwrap(), None);
}

/// A server that crashes forgets the numbers of transactions that it had not written down, and gives them to others.
#[test]
fn a_commit_that_a_crash_undid_is_known_not_to_be_written_although_others_get_its_number() {
    let server = Server::start();
    let (socket, address) = (server.socket(), server.database());
    let server = Mutex::new(server);
    let crash = Loses::Commit(Arc::new({
        let address = address.clone();
        move || {
            server.lock().unwrap().crash();
            let mut others = Hand::on(&address);
            for number in 0..50 {
                others.run(&format!("INSERT INTO settings (name, value) VALUES ('{number}', '')"));
            }
        }
    }));
    let (result, mut store, nap) = commit_through(socket, &address, crash, Ends::WithCommit);
    assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
    assert_eq!(store.load(nap.id()).unwrap(), None);
}
