//! Why the database refuses a commit, in SQLSTATEs of our own: whoever reads the server's log sees what happened, and
//! that it is nothing to mend.

use tokio_postgres::error::DbError;

/// Raised by the function `refuse_commit` of our schema. After it, nothing of the commit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Another writer was first. The commit is decided again on what that one wrote.
    Conflict,
    /// The writer gave this commit up before the server came to write it.
    Fenced,
}

impl Refusal {
    const ALL: [Refusal; 2] = [Refusal::Conflict, Refusal::Fenced];

    pub(super) fn sqlstate(self) -> &'static str {
        match self {
            Refusal::Conflict => "AB001",
            Refusal::Fenced => "AB002",
        }
    }

    /// An expression that raises it. It has the type of a number.
    pub(super) fn sql(self) -> String {
        format!("refuse_commit('{}')", self.sqlstate())
    }

    /// The refusal that an error of the server is.
    pub(super) fn of(error: &DbError) -> Option<Refusal> {
        Refusal::ALL.into_iter().find(|refusal| error.code().code() == refusal.sqlstate())
    }
}
