//! Why a move cannot begin, or cannot go on.

use std::fmt;

use crate::table::Sum;

const START_OVER: &str = "the old store is as it was: empty the new place, give up the move with \
    `abide migrate --reopen`, and begin again";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is both where it is moved from and where it is moved to; give another place to move to")]
    SamePlace(String),
    #[error(
        "{place} is being served: {nodes} {} seen in the last ten seconds; stop every server on it, and begin again",
        if *nodes == 1 { "node was" } else { "nodes were" }
    )]
    Served { place: String, nodes: u64 },
    #[error("there is no store at {0}; check the spelling")]
    Nothing(String),
    #[error(
        "{place} is not empty ({found}); give a place with nothing in it: a file that is not there, or a database without a \
         schema `abide`"
    )]
    NotEmpty { place: String, found: String },
    #[error(
        "{place} holds a part of another move, from {from}, and cannot go on with this one; remove what is there (the file, \
         or the schema `abide`), and begin again"
    )]
    OtherMove { place: String, from: String },
    #[error(
        "{place} holds a part of a move from {from} that is not finished; finish that one first, or move from {from}"
    )]
    IsTarget { place: String, from: String },
    #[error(
        "{place} {} {to}; {}",
        if *is_over { "was moved to" } else { "is being moved to" },
        if *is_over {
            "move from there, or take it back with `abide migrate --reopen` if what happened there is to be given up"
        } else {
            "go on with that move, or give it up with `abide migrate --reopen`"
        }
    )]
    IsMoved { place: String, to: String, is_over: bool },
    #[error("somebody else has written to {0} meanwhile; see that nobody uses it, and begin again")]
    Interfered(String),
    #[error("after the move, {0}; {START_OVER}")]
    Differs(Box<Difference>),
    #[error("after the move, {to} has other numbers of runs by status than {from}; {START_OVER}")]
    Miscounted { from: String, to: String },
    #[error(transparent)]
    Store(#[from] crate::Error),
}

/// A table that does not hold the same at both places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub table: &'static str,
    pub from_place: String,
    pub from: Sum,
    pub to_place: String,
    pub to: Sum,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { table, from_place, from, to_place, to } = self;
        write!(
            f,
            "the table `{table}` of {to_place} ({} rows, checksum {:032x}) is not that of {from_place} ({} rows, checksum \
             {:032x})",
            to.rows, to.checksum, from.rows, from.checksum
        )
    }
}
