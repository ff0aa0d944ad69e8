//! What SQLite's errors mean for the caller.

use rusqlite::ErrorCode;

use crate::Error;

/// Trouble that may end without anybody mending the file: a full disk, a failing device, a lock.
const PASSING: [ErrorCode; 10] = [
    ErrorCode::DatabaseBusy,
    ErrorCode::DatabaseLocked,
    ErrorCode::OutOfMemory,
    ErrorCode::ReadOnly,
    ErrorCode::PermissionDenied,
    ErrorCode::OperationInterrupted,
    ErrorCode::SystemIoFailure,
    ErrorCode::DiskFull,
    ErrorCode::CannotOpen,
    ErrorCode::FileLockingProtocolFailed,
];

/// SQLITE_IOERR_DATA: what the checksum VFS says of a page that is not as it was written.
const CHECKSUM: i32 = 10 | (32 << 8);

pub(super) fn is_checksum(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == CHECKSUM)
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        match error.sqlite_error_code() {
            Some(_) if is_checksum(&error) => {
                Error::Corrupt("a page of the store does not match its checksum".to_owned())
            }
            Some(code) if PASSING.contains(&code) => Error::Unavailable(error.to_string()),
            Some(_) | None => Error::Corrupt(error.to_string()),
        }
    }
}
