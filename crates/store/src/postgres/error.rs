//! What PostgreSQL's errors mean for the caller.

use std::io;

use tokio_postgres::error::SqlState;

use crate::Error;
use crate::postgres::tls;

/// Classes of trouble that may end without anybody mending the database: a lost connection, a transaction that was
/// rolled back for another's sake, a full disk, a server that shuts down, a device that fails.
const PASSING: [&str; 5] = ["08", "40", "53", "57", "58"];

/// States that may pass although others of their class mean a mistake.
const PASSING_TOO: [SqlState; 4] = [
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::READ_ONLY_SQL_TRANSACTION,
    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    SqlState::INSUFFICIENT_PRIVILEGE,
];

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Error {
        match error.as_db_error() {
            Some(said) => {
                let code = said.code();
                let passes = PASSING.iter().any(|class| code.code().starts_with(class));
                let message = format!("{} ({})", said.message(), code.code());
                match passes || PASSING_TOO.contains(code) {
                    true => Error::Unavailable(message),
                    false => Error::Corrupt(message),
                }
            }
            None if is_about_the_connection(&error) || tls::is_not_offered(&error) => {
                Error::Unavailable(words(&error))
            }
            None => Error::Corrupt(words(&error)),
        }
    }
}

/// What is not has a cause of its own: a value that could not be read or written.
fn is_about_the_connection(error: &tokio_postgres::Error) -> bool {
    let cause = std::error::Error::source(error);
    error.is_closed() || cause.is_none_or(|cause| cause.is::<io::Error>())
}

/// The error and what led to it.
pub(super) fn words(error: &tokio_postgres::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let next_words = next.to_string();
        if !words.contains(&next_words) {
            words = format!("{words}: {next_words}");
        }
        cause = next.source();
    }
    words
}
