//! What stores say of a move that they are part of. Both ends note it before anything is carried over: the one is not
//! served any more, the other not yet. The note at the new place says how far it is, in the commit that got it there.

use jiff::Timestamp;
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use crate::Error;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "part")]
pub(crate) enum Note {
    #[serde(rename_all = "camelCase")]
    Source { id: MoveId, to: String, begun_at: Timestamp, ended_at: Option<Timestamp> },
    #[serde(rename_all = "camelCase")]
    Target { id: MoveId, from: String, begun_at: Timestamp, reached: Option<Reached> },
}

/// Tells one move from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MoveId(pub(crate) String);

impl MoveId {
    pub(crate) fn of(number: u128) -> MoveId {
        MoveId(format!("{number:032x}"))
    }
}

/// The last row that was carried over. All tables before this one are there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reached {
    pub(crate) table: String,
    key: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Part {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Reached {
    /// `None` for what is no key.
    pub(crate) fn new(table: &str, key: Vec<Value>) -> Option<Reached> {
        let part = |value| match value {
            Value::Integer(number) => Some(Part::Number(number)),
            Value::Text(text) => Some(Part::Text(text)),
            Value::Blob(bytes) => Some(Part::Bytes(bytes)),
            Value::Null | Value::Real(_) => None,
        };
        let key = key.into_iter().map(part).collect::<Option<_>>()?;
        Some(Reached { table: table.to_owned(), key })
    }

    pub(crate) fn key(&self) -> Vec<Value> {
        let value = |part: &Part| match part {
            Part::Number(number) => Value::Integer(*number),
            Part::Text(text) => Value::Text(text.clone()),
            Part::Bytes(bytes) => Value::Blob(bytes.clone()),
        };
        self.key.iter().map(value).collect()
    }
}

impl Note {
    pub(crate) fn read(stored: Option<&[u8]>) -> Result<Option<Note>, Error> {
        let unreadable = |error| Error::Corrupt(format!("the note of a move: {error}"));
        stored.map(serde_json::from_slice).transpose().map_err(unreadable)
    }

    pub(crate) fn written(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a note is JSON")
    }
}

/// A store that is part of a move is not worked with.
pub(crate) fn check(place: &str, stored: Option<&[u8]>) -> Result<(), Error> {
    let (why, what_to_do) = match Note::read(stored)? {
        None => return Ok(()),
        Some(Note::Target { from, .. }) => (
            format!("a move from {from} into it is not finished"),
            "go on with `abide migrate`, or remove what is there and begin again",
        ),
        Some(Note::Source { to, begun_at, ended_at: None, .. }) => (
            format!("a move to {to} was begun at {begun_at:.0} and is not finished"),
            "go on with `abide migrate`, or give it up with `abide migrate --reopen STORE`",
        ),
        Some(Note::Source { to, ended_at: Some(ended_at), .. }) => (
            format!("it was moved to {to} at {ended_at:.0}"),
            "use it there; if what happened there is to be given up, `abide migrate --reopen STORE`",
        ),
    };
    Err(Error::Unusable { path: place.to_owned(), why, what_to_do })
}

/// Refuses a store that a reader cannot use: what is whole can be read, wherever it was moved to.
pub(crate) fn check_whole(place: &str, stored: Option<&[u8]>) -> Result<(), Error> {
    match Note::read(stored)? {
        Some(Note::Target { .. }) => check(place, stored),
        Some(Note::Source { .. }) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let key = vec![Value::Integer(-1), Value::Text("a\0".to_owned()), Value::Blob(vec![0, 255])];
        let reached = Reached::new("runs", key.clone()).unwrap();
        assert_eq!(reached.key(), key);
        let begun_at = "2026-03-01T09:00:00Z".parse().unwrap();
        let (id, from) = (MoveId::of(7), "sqlite:a.db".to_owned());
        let note = Note::Target { id, from, begun_at, reached: Some(reached) };
        assert_eq!(Note::read(Some(&note.written())).unwrap(), Some(note));
        assert_eq!(Note::read(None).unwrap(), None);
        assert!(matches!(Note::read(Some(b"{}")), Err(Error::Corrupt(_))));
    }
}
