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

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        match error.sqlite_error_code() {
            Some(code) if PASSING.contains(&code) => Error::Unavailable(error.to_string()),
            Some(_) | None => Error::Corrupt(error.to_string()),
        }
    }
}
