//! Opening a file: whose it is, whether we can read it, and that nobody else writes to it.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;
use crate::sqlite::acknowledged::Count;
use crate::sqlite::header::{self, APPLICATION_ID, Header, UNCHECKED_ID};
use crate::sqlite::{error, lock, migrations, private};

/// How long a lock that another connection holds for a moment is waited for.
const BUSY: Duration = Duration::from_secs(5);
/// More than there are statements, so that each is compiled once.
const STATEMENTS: usize = 128;
/// The log grows to 32 MiB before it is folded back: rarer and larger folding is cheaper, but a commit waits for it.
const CHECKPOINT_PAGES: i64 = 8_000;
const PAGE_BYTES: u64 = 4_096;
/// Pages in memory, of the writer and of each reader. Behind them is the cache of the operating system.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
const READER_CACHE_KIB: i64 = 4 * 1024;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    /// A store that ends before what was acknowledged last is opened all the same.
    pub accept_loss: bool,
    /// A new file has no checksums on its pages, so that another program may write pages, too. Of a file that is there, it is
    /// only asked whether it is so.
    pub without_page_checksums: bool,
}

/// Whether the pages of a file have checksums, which are checked as they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    Checked,
    Unchecked,
    /// A store in memory says itself how it is kept.
    InMemory,
}

impl Pages {
    /// Of a file that this process does not have open: looking at it would let go of SQLite's locks.
    pub(super) fn of(path: &Path) -> Pages {
        if path.to_string_lossy().starts_with("file:") {
            return Pages::InMemory;
        }
        match Header::of(path) {
            Header::Unchecked => Pages::Unchecked,
            Header::New
            | Header::Foreign
            | Header::Cut
            | Header::WithoutChecksums
            | Header::Old
            | Header::Sound => Pages::Checked,
        }
    }

    /// Of a file that this process may have open: through SQLite, which knows of its own locks.
    fn of_ours(path: &Path) -> Result<Pages, Error> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, Pages::Unchecked)?;
        let application: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|error| refusal(path, error))?;
        Ok(if application == UNCHECKED_ID { Pages::Unchecked } else { Pages::Checked })
    }

    fn vfs(self) -> Option<&'static str> {
        match self {
            Pages::Checked => Some(header::VFS),
            Pages::Unchecked | Pages::InMemory => None,
        }
    }

    fn application_id(self) -> i32 {
        match self {
            Pages::Checked | Pages::InMemory => APPLICATION_ID,
            Pages::Unchecked => UNCHECKED_ID,
        }
    }
}

/// The connection that writes, and whether the pages of its file have checksums.
pub(super) fn writer(path: &Path, opening: Opening) -> Result<(Connection, Pages), Error> {
    let is_old = is_old(path)?;
    private::tighten(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let pages = wanted(path, opening)?;
    let mut connection = connect(path, flags, pages)?;
    recognize(&connection, path)?;
    if is_old {
        make_room_for_checksums(&connection).map_err(|error| refusal(path, error))?;
        connection = connect(path, flags, pages)?;
    }
    if pages == Pages::Unchecked {
        // Before there is a log: the file itself has to say it, to whoever opens it next.
        connection
            .pragma_update(None, "application_id", UNCHECKED_ID)
            .map_err(|error| refusal(path, error))?;
    }
    configure(&mut connection, pages).map_err(|error| refusal(path, error))?;
    let checks = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    if pages == Pages::Checked && connection.query_row("PRAGMA checksum_verification", [], checks)? != "1" {
        return Err(unusable(path, NO_CHECKSUMS.to_owned(), RESTORE));
    }
    Ok((connection, pages))
}

/// What a file is, or is to be where there is none.
fn wanted(path: &Path, opening: Opening) -> Result<Pages, Error> {
    let pages = Pages::of(path);
    if !opening.without_page_checksums || pages != Pages::Checked {
        return Ok(pages);
    }
    match Header::of(path) {
        Header::New => Ok(Pages::Unchecked),
        Header::Foreign
        | Header::Cut
        | Header::WithoutChecksums
        | Header::Unchecked
        | Header::Old
        | Header::Sound => Err(unusable(
            path,
            "its pages have checksums, and it is to be without".to_owned(),
            "make a copy without them: `abide backup --store sqlite:FILE --without-page-checksums COPY`",
        )),
    }
}

const NO_CHECKSUMS: &str =
    "it says that its pages have no checksums, though every store has them: its first bytes are damaged";
const RESTORE: &str = "restore it from a backup, or save what can be read with `abide doctor --repair`";

/// Whether a file is of a version whose pages had no checksums. One that is damaged where SQLite would not notice is
/// refused.
fn is_old(path: &Path) -> Result<bool, Error> {
    if path.to_string_lossy().starts_with("file:") {
        return Ok(false);
    }
    match Header::of(path) {
        Header::New | Header::Foreign | Header::Sound | Header::Unchecked => Ok(false),
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
    let (connection, _) = writer(path, Opening::default())?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    // What it begins with has other values where it is copied from.
    connection.execute_batch("DELETE FROM workspaces")?;
    Ok(connection)
}

/// Nothing is written to a file that is not ours.
fn recognize(connection: &Connection, path: &Path) -> Result<(), Error> {
    let mark = Mark::read(connection).map_err(|error| refusal(path, error))?;
    let is_new = mark.objects == 0 && mark.application == 0 && mark.version == 0;
    let is_ours = [APPLICATION_ID, UNCHECKED_ID].map(i64::from).contains(&mark.application);
    if !is_new && !is_ours {
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

fn configure(connection: &mut Connection, pages: Pages) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    migrations::migrate(connection, pages.application_id())
}

/// A connection that only reads. It sees what was committed when its query began, and never blocks the writer.
pub(super) fn reader(path: &Path, pages: Pages) -> Result<Connection, Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, pages)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB).map_err(|error| refusal(path, error))?;
    Ok(connection)
}

/// Opens a connection to a file that another process may have open.
pub(super) fn beside(path: &Path) -> Result<Connection, Error> {
    // Looking at it through a handle of our own would let go of SQLite's locks.
    let pages = if lock::is_ours(path) {
        Pages::of_ours(path)?
    } else {
        is_old(path)?;
        Pages::of(path)
    };
    let connection = reader(path, pages)?;
    recognize(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags, pages: Pages) -> Result<Connection, Error> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = match pages.vfs() {
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
    log_bytes(path) == 0
}

fn log_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(PathBuf::from(log)).map_or(0, |log| log.len())
}

/// Folds a log back that is longer than it should be. Every start has to read all of it, and the first commit would fold it: a
/// process that is killed before it comes to that each time would leave a longer one each time, and never get on.
pub(super) fn fold_long_log(connection: &Connection, path: &Path) -> Result<(), Error> {
    if log_bytes(path) <= CHECKPOINT_PAGES.unsigned_abs() * PAGE_BYTES {
        return Ok(());
    }
    // Somebody who reads it is not waited for: then it is folded as far as it can be.
    connection.busy_timeout(Duration::ZERO)?;
    let folded = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(BUSY)?;
    folded.map_err(|error| refusal(path, error))
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
