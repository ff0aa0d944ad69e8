//! Opening a database: where it is, whose it is, and whether we can use it.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Connection, Socket};

use crate::Error;
use crate::postgres::connection::{Driver, PgConnection, Session};
use crate::postgres::error::words;
use crate::postgres::migrations::{self, Mark};
use crate::postgres::tls::{self, Encrypted, Encryption};

/// The oldest server that has what looks.rs needs.
const OLDEST_SERVER: i32 = 13;
/// Unless the address says otherwise: how long a server is waited for, and after what time without an answer of the
/// other machine a connection is given up.
const CONNECTING: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(30);

const ADDRESS: &str = "give it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE";

pub(super) fn open(address: &str) -> Result<PgConnection, Error> {
    let address = Address::read(address)?;
    let name = address.to_string();
    let mut connection = PgConnection::new(Driver::start()?, address);
    connection.connect().map_err(|error| refusal(&name, error))?;
    connection.ask(async |session| {
        prepare(session, &name).await?;
        // Of writers that are gone.
        session.run("DELETE FROM commits WHERE written_at < now() - interval '1 day'").await
    })?;
    Ok(connection)
}

/// To a database with a store in it, which is left as it is; `None` if there is none.
pub(super) fn look(address: &str) -> Result<Option<PgConnection>, Error> {
    let address = Address::read(address)?;
    let name = address.to_string();
    let mut connection = PgConnection::new(Driver::start()?, address).reading();
    connection.connect().map_err(|error| refusal(&name, error))?;
    let mark = connection.ask(async |session| Mark::read(session).await)?;
    recognize(&mark, &name)?;
    if mark.is_ours && mark.version < migrations::latest() {
        let why = format!("it has version {}, which is that of an older program", mark.version);
        return Err(unusable(&name, why, "start and stop `abide serve` on it once"));
    }
    Ok(mark.is_ours.then_some(connection))
}

/// Where a database is, and how to talk to it.
#[derive(Clone, Debug)]
pub(super) struct Address {
    config: Config,
    encryption: Encryption,
}

impl Address {
    pub(super) fn read(address: &str) -> Result<Address, Error> {
        // What cannot be read may have a password in it, so it is not shown.
        let wrong = |why: String| unusable("the given address", why, ADDRESS);
        let (address, mut asked) = tls::split(address).map_err(wrong)?;
        let config: Config = address.parse().map_err(|_| wrong("it cannot be read".to_owned()))?;
        // Who says nothing about it means that nobody in between should listen or answer.
        asked.verifies |= !asked.has_mode && is_elsewhere(&config);
        let config = configure(config, asked.verifies).map_err(wrong)?;
        let encryption = Encryption::new(&asked).map_err(wrong)?;
        Ok(Address { config, encryption })
    }

    pub(super) async fn connect(
        &self,
    ) -> Result<(Client, Connection<Socket, Encrypted>), tokio_postgres::Error> {
        self.config.connect(self.encryption.clone()).await
    }
}

/// Whether some of the servers are on other machines.
fn is_elsewhere(config: &Config) -> bool {
    let is_here = |name: &str| {
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().any(|address| !address.is_loopback());
    }
    config.get_hosts().iter().any(|host| match host {
        Host::Tcp(name) => !is_here(name),
        #[cfg(unix)]
        Host::Unix(_) => false,
    })
}

fn configure(mut config: Config, verifies: bool) -> Result<Config, String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("it names no host".to_owned());
    }
    if config.get_application_name().is_none() {
        config.application_name("abide");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECTING);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_keepalives_idle() > SILENCE {
        config.keepalives_idle(SILENCE);
    }
    // Nothing is encrypted on a socket of this machine, nor where a server has no name, unless that is asked for.
    let has_name = |host: &Host| match host {
        Host::Tcp(_) => true,
        #[cfg(unix)]
        Host::Unix(_) => false,
    };
    let has_names = config.get_hosts().iter().any(has_name);
    let is_local = !config.get_hosts().is_empty() && !has_names;
    if verifies && !has_names && !is_local {
        let why = "it has no name that a certificate could be for; add `host=NAME`, or say sslmode=disable";
        return Err(why.to_owned());
    }
    if verifies && !is_local {
        config.ssl_mode(SslMode::Require);
    }
    if is_local || (!has_names && config.get_ssl_mode() == SslMode::Prefer) {
        config.ssl_mode(SslMode::Disable);
    }
    Ok(config)
}

pub(super) fn shown(address: &str) -> String {
    Address::read(address).map_or_else(|_| "postgresql://…".to_owned(), |address| address.to_string())
}

/// Without its password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        f.write_str("postgresql://")?;
        if let Some(user) = config.get_user() {
            write!(f, "{user}@")?;
        }
        for (index, host) in config.get_hosts().iter().enumerate() {
            let port = config.get_ports().get(index).or(config.get_ports().first()).copied();
            let comma = if index > 0 { "," } else { "" };
            let host = match host {
                Host::Tcp(host) => host.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            };
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            write!(f, "{comma}{host}{port}")?;
        }
        write!(f, "/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
    }
}

async fn prepare(session: &mut Session, name: &str) -> Result<(), Error> {
    let row = session
        .one("SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_encoding')", &[])
        .await?;
    let (version, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    if version < OLDEST_SERVER {
        let why =
            format!("its server is PostgreSQL {version}, and {OLDEST_SERVER} is the oldest that will do");
        return Err(unusable(name, why, "use a newer server"));
    }
    if encoding != "UTF8" {
        let why = format!("its encoding is {encoding}, which cannot hold every text");
        return Err(unusable(name, why, "make a database with ENCODING 'UTF8'"));
    }
    migrations::migrate(session, |mark| {
        recognize(mark, name)?;
        leave_none_behind(mark, name)
    })
    .await
}

/// Nodes that could not work on what would be made of the database are stopped first.
fn leave_none_behind(mark: &Mark, name: &str) -> Result<(), Error> {
    let Mark { version, nodes, .. } = mark;
    if *nodes == 0 || !migrations::leave_behind(*version) {
        return Ok(());
    }
    let latest = migrations::latest();
    let why = format!(
        "it has version {version}, and {nodes} seen in the last ten seconds could not work on version {latest}, which this \
         program would make of it",
        nodes = if *nodes == 1 { "a node that was".to_owned() } else { format!("{nodes} nodes that were") }
    );
    Err(unusable(name, why, "stop every server on it, and begin again"))
}

/// Nothing is written to a database that is not ours.
fn recognize(mark: &Mark, name: &str) -> Result<(), Error> {
    if mark.is_taken && !mark.is_ours {
        let why = "another program has a schema `abide` in it".to_owned();
        return Err(unusable(name, why, "give it a database of its own"));
    }
    let (version, latest) = (mark.version, migrations::latest());
    if mark.oldest > latest {
        let why = format!("it has version {version}, and this program knows versions up to {latest}");
        return Err(unusable(name, why, "use the program that wrote it, or a newer one"));
    }
    Ok(())
}

fn refusal(name: &str, error: tokio_postgres::Error) -> Error {
    if tls::is_distrusted(&error) {
        return unusable(name, words(&error), "name the certificate of its authority with sslrootcert=FILE");
    }
    if tls::is_not_offered(&error) {
        return unusable(name, words(&error), "turn on `ssl` in it, or do without with sslmode=prefer");
    }
    let Some(code) = error.code() else { return Error::Unavailable(format!("{name}: {}", words(&error))) };
    let said = error.as_db_error().map_or_else(|| words(&error), |said| said.message().to_owned());
    match *code {
        SqlState::INVALID_CATALOG_NAME => unusable(name, said, "make it with `createdb`"),
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            unusable(name, said, "check user and password")
        }
        _ => Error::from(error),
    }
}

fn unusable(name: &str, why: String, what_to_do: &'static str) -> Error {
    Error::Unusable { path: name.to_owned(), why, what_to_do }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address =
            Address::read("postgresql://ann:secret@db.example:5433/flows?application_name=x").unwrap();
        assert_eq!(address.to_string(), "postgresql://ann@db.example:5433/flows");
        assert_eq!(address.config.get_application_name(), Some("x"));
        let address = Address::read("host=/run/pg user=ann password=secret").unwrap();
        assert_eq!(address.to_string(), "postgresql://ann@/run/pg/ann");
    }

    #[test]
    fn sockets_of_this_machine_are_not_encrypted() {
        let mode = |address| Address::read(address).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgresql:///db?host=/run/pg&sslmode=require"), SslMode::Disable);
        assert_eq!(mode("postgresql://localhost/db"), SslMode::Prefer);
        assert_eq!(mode("postgresql://127.0.0.1/db"), SslMode::Prefer);
        assert_eq!(mode("postgresql://h/db?sslmode=prefer"), SslMode::Prefer);
        assert_eq!(mode("host=h sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("host=localhost hostaddr=127.0.0.1"), SslMode::Prefer);
        assert_eq!(mode("postgresql://h/db?sslmode=verify-full"), SslMode::Require);
        assert_eq!(mode("hostaddr=127.0.0.1"), SslMode::Disable);
    }

    #[test]
    fn a_server_elsewhere_must_show_its_certificate_unless_the_address_says_otherwise() {
        for address in [
            "postgresql://h/db",
            "host=h dbname=db",
            "postgresql://localhost,h/db",
            "host=h hostaddr=10.0.0.1",
        ] {
            let (_, asked) = tls::split(address).unwrap();
            assert!(!asked.has_mode && is_elsewhere(&address.parse().unwrap()), "{address}");
            assert_eq!(Address::read(address).unwrap().config.get_ssl_mode(), SslMode::Require, "{address}");
        }
        assert!(Address::read("hostaddr=10.0.0.1").is_err(), "there is no name to check");
        assert!(Address::read("hostaddr=10.0.0.1 sslmode=disable").is_ok());
    }

    #[test]
    fn an_address_that_cannot_be_read_is_refused_and_not_repeated() {
        for address in ["secret", "postgresql://ann:secret@host:port/db", "user=ann password=secret", ""] {
            let Err(error) = Address::read(address) else { panic!("{address:?} was taken") };
            let said = error.to_string();
            assert!(said.contains("postgresql://USER:PASSWORD@HOST") && !said.contains("secret"), "{said}");
        }
    }
}
