//! Opening a file: whose it is, whether we can read it, and that nobody else writes to it.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;
use crate::sqlite::acknowledged::Count;
use crate::sqlite::header::{self, Header};
use crate::sqlite::{error, lock, migrations, private};

/// "abid": says that a file is ours.
const APPLICATION_ID: i32 = 0x6162_6964;
/// How long a lock that another connection holds for a moment is waited for.
const BUSY: Duration = Duration::from_secs(5);
/// More than there are statements, so that each is compiled once.
const STATEMENTS: usize = 128;
/// The log grows to 32 MiB before it is folded back: rarer and larger folding is cheaper, but a commit waits for it.
const CHECKPOINT_PAGES: i64 = 8_000;
/// Pages in memory, of the writer and of each reader. Behind them is the cache of the operating system.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
const READER_CACHE_KIB: i64 = 4 * 1024;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    /// A store that ends before what was acknowledged last is opened all the same.
    pub accept_loss: bool,
}

/// The connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection, Error> {
    let is_old = is_old(path)?;
    private::tighten(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(path, flags)?;
    recognize(&connection, path)?;
    if is_old {
        make_room_for_checksums(&connection).map_err(|error| refusal(path, error))?;
        connection = connect(path, flags)?;
    }
    configure(&mut connection).map_err(|error| refusal(path, error))?;
    let checks = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    if vfs(path).is_some() && connection.query_row("PRAGMA checksum_verification", [], checks)? != "1" {
        return Err(unusable(path, NO_CHECKSUMS.to_owned(), RESTORE));
    }
    Ok(connection)
}

const NO_CHECKSUMS: &str =
    "it says that its pages have no checksums, though every store has them: its first bytes are damaged";
const RESTORE: &str = "restore it from a backup, or save what can be read with `abide doctor --repair`";

/// Whether a file is of a version whose pages had no checksums. One that is damaged where SQLite would not notice is
/// refused.
fn is_old(path: &Path) -> Result<bool, Error> {
    if vfs(path).is_none() {
        return Ok(false);
    }
    match Header::of(path) {
        Header::New | Header::Foreign | Header::Sound => Ok(false),
        Header::Old => Ok(true),
        Header::Cut => {
            let why = "it is damaged: it was cut short within its first page".to_owned();
            Err(unusable(path, why, RESTORE))
        }
        Header::WithoutChecksums => Err(unusable(path, NO_CHECKSUMS.to_owned(), RESTORE)),
    }
}

/// Writes a file anew, with room for a checksum on each page.
pub(super) fn make_room_for_checksums(connection: &Connection) -> rusqlite::Result<()> {
    let journal = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    connection.query_row("PRAGMA journal_mode = DELETE", [], journal)?;
    connection.execute_batch("VACUUM")
}

/// Files have checksums on their pages; a store in memory says itself how it is kept.
fn vfs(path: &Path) -> Option<&'static str> {
    (!path.to_string_lossy().starts_with("file:")).then_some(header::VFS)
}

/// What was acknowledged and is not there.
pub(super) fn check_acknowledged(
    connection: &Connection,
    path: &Path,
    last: Option<Count>,
    opening: Opening,
) -> Result<(), Error> {
    let Some(last) = last else { return Ok(()) };
    let now = Count::of(connection)?;
    let missing = match last.store == now.store {
        true => last.number.saturating_sub(now.number),
        false => last.number,
    };
    // Another store was put in its place: it has its own count, and whoever put it there knows.
    let is_another = last.store != now.store && now.number > 0;
    if missing == 0 || is_another || opening.accept_loss {
        return Ok(());
    }
    Err(Error::Lost { path: path.display().to_string(), missing })
}

/// A connection to a new file that is to be filled and then synced as a whole.
#[cfg(feature = "postgres")]
pub(crate) fn new_file(path: &Path) -> Result<Connection, Error> {
    let connection = writer(path)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    // What it begins with has other values where it is copied from.
    connection.execute_batch("DELETE FROM workspaces")?;
    Ok(connection)
}

/// Nothing is written to a file that is not ours.
fn recognize(connection: &Connection, path: &Path) -> Result<(), Error> {
    let mark = Mark::read(connection).map_err(|error| refusal(path, error))?;
    let is_new = mark.objects == 0 && mark.application == 0 && mark.version == 0;
    if !is_new && mark.application != i64::from(APPLICATION_ID) {
        let why = "it is the database of another program".to_owned();
        return Err(unusable(path, why, "give a path of its own, where there is no file yet"));
    }
    let (version, latest) = (mark.version, migrations::latest());
    if version > latest {
        let why = format!("it has version {version}, and this program knows versions up to {latest}");
        return Err(unusable(path, why, "use the program that wrote it, or a newer one"));
    }
    Ok(())
}

/// What a file says of itself.
struct Mark {
    objects: i64,
    application: i64,
    version: i64,
}

impl Mark {
    fn read(connection: &Connection) -> rusqlite::Result<Mark> {
        Ok(Mark {
            objects: connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?,
            application: connection.pragma_query_value(None, "application_id", |row| row.get(0))?,
            version: connection.pragma_query_value(None, "user_version", |row| row.get(0))?,
        })
    }
}

fn configure(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    migrations::migrate(connection, APPLICATION_ID)
}

/// A connection that only reads. It sees what was committed when its query began, and never blocks the writer.
pub(super) fn reader(path: &Path) -> Result<Connection, Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB).map_err(|error| refusal(path, error))?;
    Ok(connection)
}

/// Opens a connection to a file that another process may have open.
pub(super) fn beside(path: &Path) -> Result<Connection, Error> {
    // Looking at it through a handle of our own would let go of SQLite's locks.
    if !lock::is_ours(path) {
        is_old(path)?;
    }
    let connection = reader(path)?;
    recognize(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = match vfs(path) {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    };
    let connection = connection.map_err(|error| refusal(path, error))?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise a statement is compiled again for many a new value, in the hope of a better plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Whether whoever had a file before closed it: then there is no log, for it was folded back and removed.
pub(super) fn ended_well(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(PathBuf::from(log)).map_or(true, |log| log.len() == 0)
}

/// The one spelling of a path, so that a link to a file does not get a lock of its own.
pub(super) fn resolve(path: &Path) -> PathBuf {
    if let Ok(resolved) = fs::canonicalize(path) {
        return resolved;
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(directory), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

fn refusal(path: &Path, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(_) if error::is_checksum(&error) => {
            unusable(path, "it is damaged (a page does not match its checksum)".to_owned(), RESTORE)
        }
        Some(ErrorCode::NotADatabase) => unusable(
            path,
            "it is not an SQLite database".to_owned(),
            "give a path of its own, where there is no file yet",
        ),
        Some(ErrorCode::DatabaseCorrupt) => unusable(path, format!("it is damaged ({error})"), RESTORE),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            unusable(path, error.to_string(), "check that its directory exists and can be written to")
        }
        Some(_) | None => Error::from(error),
    }
}

pub(super) fn denied(path: &Path, error: &io::Error) -> Error {
    unusable(path, error.to_string(), "check that its directory exists and can be written to")
}

pub(super) fn unusable(path: &Path, why: String, what_to_do: &'static str) -> Error {
    Error::Unusable { path: path.display().to_string(), why, what_to_do }
}
