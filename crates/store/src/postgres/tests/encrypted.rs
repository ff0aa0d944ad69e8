//! Encrypted connections, to a server with a certificate that nobody knows.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use super::*;
use crate::sqlite::Sqlite;

struct Encrypting {
    server: Server,
    directory: TempDir,
}

impl Encrypting {
    fn start() -> Encrypting {
        let made = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let CertifiedKey { cert, signing_key } = made;
        let server = Server::start_encrypted(&cert.pem(), &signing_key.serialize_pem());
        let directory = TempDir::new().unwrap();
        std::fs::write(directory.path().join("ca.pem"), cert.pem()).unwrap();
        std::fs::write(directory.path().join("empty.pem"), "").unwrap();
        let other = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(directory.path().join("other.pem"), other.cert.pem()).unwrap();
        Encrypting { server, directory }
    }

    fn address(&self, host: &str, settings: &str) -> String {
        let settings = settings.replace("DIR", &self.directory.path().display().to_string());
        format!("postgresql://postgres@{host}:{}/postgres?{settings}", self.server.port())
    }

    fn is_encrypted(&self, host: &str, settings: &str) -> bool {
        let mut store = Postgres::open(&self.address(host, settings)).unwrap();
        let sql = "SELECT ssl::int::bigint FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let row = store.connection.ask(async |session| session.one(sql, &[]).await).unwrap();
        row.try_get::<_, i64>(0).unwrap() == 1
    }

    fn refused(&self, host: &str, settings: &str) -> String {
        Postgres::open(&self.address(host, settings)).unwrap_err().to_string()
    }
}

#[test]
fn a_connection_is_encrypted_as_its_address_says_and_goes_nowhere_else() {
    let on = Encrypting::start();
    assert!(!on.is_encrypted("127.0.0.1", "sslmode=disable"));
    assert!(on.is_encrypted("127.0.0.1", "sslmode=prefer"));
    assert!(on.is_encrypted("localhost", ""));
    assert!(on.is_encrypted("localhost", "sslmode=require"));
    assert!(on.is_encrypted("localhost", "sslmode=verify-full&sslrootcert=DIR/ca.pem"));

    let said = on.refused("localhost", "sslmode=verify-full&sslrootcert=DIR/other.pem");
    assert!(said.contains("invalid peer certificate") && said.contains("sslrootcert=FILE"), "{said}");
    let said = on.refused("127.0.0.1", "sslmode=verify-full&sslrootcert=DIR/ca.pem");
    assert!(said.contains("not valid for name"), "the certificate is for another name: {said}");
    let said = on.refused("localhost", "sslmode=verify-full&sslrootcert=DIR/none.pem");
    assert!(said.contains("none.pem"), "{said}");
    let said = on.refused("localhost", "sslmode=verify-full&sslrootcert=DIR/empty.pem");
    assert!(said.contains("no certificate"), "{said}");
    let said = on.refused("localhost", "sslmode=verify-ca");
    assert!(said.contains("verify-full"), "{said}");
}

#[test]
fn a_password_is_shown_where_nobody_can_listen() {
    let on = Encrypting::start();
    let mut hand = Hand::on(&on.server.address("postgres"));
    hand.run("SET password_encryption = 'scram-sha-256'; CREATE ROLE ann LOGIN PASSWORD 'secret'; GRANT CREATE ON DATABASE postgres TO ann");
    hand.run("DROP SCHEMA abide CASCADE");
    let address = |password: &str, mode: &str| {
        format!("postgresql://ann:{password}@localhost:{}/postgres?sslmode={mode}", on.server.port())
    };
    drop(Postgres::open(&address("secret", "require")).unwrap());
    let said = Postgres::open(&address("wrong", "require")).unwrap_err().to_string();
    assert!(said.contains("check user and password") && !said.contains("wrong"), "{said}");
    assert!(Postgres::open(&address("secret", "disable")).is_err());
}

#[test]
fn much_goes_through_an_encrypted_connection() {
    let on = Encrypting::start();
    let address = on.address("localhost", "sslmode=verify-full&sslrootcert=DIR/ca.pem");
    let mut store = Postgres::open(&address).unwrap();
    let mut world = World::new();
    let text = "x".repeat(100_000);
    let mut stories: Vec<story::Story> =
        (0..4).map(|_| world.start(&story::nap(), json!({ "sleep": "1h", "text": text }))).collect();
    story::save(&mut store, &mut stories);
    stories.iter().for_each(|story| story.check(&mut store));
    let mut cluster = store.cluster().unwrap().unwrap();
    cluster.listen(Box::new(|_| {})).unwrap();
    let copy = on.directory.path().join("copy.db");
    store.reader().backup(&copy).unwrap();
    let mut copy = Sqlite::open(copy).unwrap();
    stories.iter().for_each(|story| story.check(&mut copy));
}

#[test]
fn a_server_that_does_not_encrypt_is_refused_where_that_is_asked_for() {
    let plain = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let server = Server::start_encrypted(&plain.cert.pem(), &plain.signing_key.serialize_pem());
    let mut hand = Hand::on(&server.address("postgres"));
    hand.run("ALTER SYSTEM SET ssl = off");
    hand.run("SELECT pg_reload_conf()");
    let address = |mode| format!("postgresql://postgres@localhost:{}/postgres?sslmode={mode}", server.port());
    let begun = Instant::now();
    while Postgres::open(&address("require")).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(300), "the server does not hear");
    }
    let said = Postgres::open(&address("require")).unwrap_err().to_string();
    assert!(said.contains("does not support TLS") && said.contains("sslmode=prefer"), "{said}");
    drop(Postgres::open(&address("prefer")).unwrap());
}
