//! Whether a move can begin or go on, by what the two stores say of themselves.

use super::note::{MoveId, Note};
use super::{AtWork, End, Error};

pub(super) enum Plan {
    GoOn,
    /// Under the number that the old store has noted already, if it has.
    Begin(Option<MoveId>),
}

/// What two stores that say this of themselves are to each other.
pub(super) fn plan(
    from: Option<&Note>,
    to: Option<&Note>,
    from_place: &str,
    to_place: &str,
) -> Result<Plan, Error> {
    if from_place == to_place {
        return Err(Error::SamePlace(from_place.to_owned()));
    }
    match (from, to) {
        (None, None) => Ok(Plan::Begin(None)),
        (Some(Note::Source { id, .. }), Some(Note::Target { id: theirs, .. })) if id == theirs => {
            Ok(Plan::GoOn)
        }
        // It was cut off between the two notes.
        (Some(Note::Source { id, to, ended_at: None, .. }), None) if to == to_place => {
            Ok(Plan::Begin(Some(id.clone())))
        }
        (Some(note), _) => Err(refusal(from_place, note)),
        (None, Some(Note::Target { from, .. })) => {
            Err(Error::OtherMove { place: to_place.to_owned(), from: from.clone() })
        }
        (None, Some(note @ Note::Source { .. })) => Err(refusal(to_place, note)),
    }
}

fn refusal(place: &str, note: &Note) -> Error {
    let place = place.to_owned();
    match note {
        Note::Target { from, .. } => Error::IsTarget { place, from: from.clone() },
        Note::Source { to, ended_at, .. } => {
            Error::IsMoved { place, to: to.clone(), is_over: ended_at.is_some() }
        }
    }
}

pub(super) fn check_rests(end: &mut dyn End) -> Result<(), Error> {
    rests(&end.place(), end.at_work()?)
}

pub(super) fn rests(place: &str, at_work: AtWork) -> Result<(), Error> {
    match at_work.nodes {
        0 => Ok(()),
        nodes => Err(Error::Served { place: place.to_owned(), nodes }),
    }
}

/// A new store has its default workspace and nothing else.
pub(super) fn check_empty(place: &str, tables: &[(&'static str, u64)], tasks: u64) -> Result<(), Error> {
    let rows = tables.iter().copied().chain([("tasks", tasks)]);
    let is_new = |name, rows| rows == 0 || (name == "workspaces" && rows == 1);
    let found: Vec<String> = rows
        .filter(|(name, rows)| !is_new(*name, *rows))
        .map(|(name, rows)| format!("{name}: {rows}"))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::NotEmpty { place: place.to_owned(), found: found.join(", ") }),
    }
}
