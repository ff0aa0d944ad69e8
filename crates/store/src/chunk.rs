//! Chunks: the records that one commit adds to one run, as compact JSON. What the row of the chunk says, or what
//! follows from its place, is not written: sequence numbers, the run's id, and instant, actor and trace of records that
//! share them.
//!
//! ```text
//!   [["2026-03-01T09:00:00.000001Z","api",{change},{change}],["2026-03-01T09:00:00.2Z","worker-1",{change}]]
//! ```
//!
//! An actor whose request came with a trace is written as `["api","00-…"]`. The first change of a run is its creation, and is written without `type` and `runId`. What is stored is the
//! [short form](short) of this text, and after it a checksum over it and the run's id, so that damage is noticed and
//! not replayed.

mod history;
pub(crate) mod short;

use std::fmt;
use std::sync::Arc;

use abide_core::history::{Change, Creation, DefinitionRef, Parent, Record, Scheduled, StartedOn};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;
use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use history::{History, RowVersion};

/// Makes chunks, and keeps the room it needs for that.
#[derive(Default)]
pub(crate) struct Encoder {
    plain: Vec<u8>,
    chunk: Vec<u8>,
}

impl Encoder {
    pub(crate) fn encode(&mut self, run: RunId, records: &[Record]) -> &[u8] {
        self.plain.clear();
        write_moments(records, &mut self.plain);
        self.chunk.clear();
        short::shorten(&self.plain, &mut self.chunk);
        let checksum = checksum(run, &self.chunk);
        self.chunk.extend(checksum);
        &self.chunk
    }
}

fn write_moments(records: &[Record], plain: &mut Vec<u8>) {
    plain.push(b'[');
    for (index, moment) in
        records.chunk_by(|a, b| (a.at, &a.by, a.traceparent) == (b.at, &b.by, b.traceparent)).enumerate()
    {
        if index > 0 {
            plain.push(b',');
        }
        plain.push(b'[');
        write(plain, &moment[0].at);
        plain.push(b',');
        match &moment[0].traceparent {
            None => write(plain, &moment[0].by),
            Some(traceparent) => write(plain, &(&moment[0].by, traceparent)),
        }
        for record in moment {
            plain.push(b',');
            if let Change::WorkflowCreated(creation) = &record.change
                && record.seq == 1
            {
                write(plain, &Origin::of(creation));
            } else {
                write(plain, &record.change);
            }
        }
        plain.push(b']');
    }
    plain.push(b']');
}

fn write(plain: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(plain, value).expect("records are JSON");
}

/// Reads the records of a chunk and appends them to a history that begins after record `before`. After an error the
/// history is of no use.
pub(crate) fn decode(run: RunId, before: u64, chunk: &[u8], history: &mut Vec<Record>) -> Result<(), Damage> {
    let plain = expand(run, chunk)?;
    let mut deserializer = serde_json::Deserializer::from_slice(&plain);
    // A payload that was as deep as a reader lets it be lies a little deeper here.
    deserializer.disable_recursion_limit();
    Moments { run, before, history }.deserialize(&mut deserializer)?;
    Ok(deserializer.end()?)
}

/// The text of what is stored of a run, if its checksum is right.
pub(crate) fn expand(run: RunId, stored: &[u8]) -> Result<Vec<u8>, Damage> {
    let (short, sum) = stored.split_last_chunk().ok_or(Damage::Checksum)?;
    if *sum != checksum(run, short) {
        return Err(Damage::Checksum);
    }
    let mut plain = Vec::with_capacity(short.len() * 3);
    short::expand(short, &mut plain);
    Ok(plain)
}

/// How many of the records have so many bytes of payloads together; the one that goes beyond is the last of them.
pub(crate) fn within(records: &[Record], bytes: usize) -> usize {
    let mut seen = 0;
    let has_room = |record: &&Record| {
        let has_room = seen < bytes;
        seen += record.change.payload_bytes();
        has_room
    };
    records.iter().take_while(has_room).count().max(records.len().min(1))
}

/// A running sum over the chunks of a history: the sum so far, and the next chunk. Made so that a database can reckon it
/// from the sum it has and the [tail](tail) of the chunk.
pub(crate) fn add_up(sum: u32, chunk: &[u8]) -> u32 {
    add_up_tail(sum, tail(chunk))
}

pub(crate) fn add_up_tail(sum: u32, tail: u32) -> u32 {
    let next = (u64::from(sum) * SUM_FACTOR + u64::from(tail) + 1) % SUM_MODULUS;
    u32::try_from(next).expect("it is less than the modulus")
}

/// The checksum at the end of a chunk, which says what is in it.
pub(crate) fn tail(chunk: &[u8]) -> u32 {
    chunk.last_chunk().map_or(0, |tail| u32::from_be_bytes(*tail))
}

/// Of the sum over chunks; a statement of PostgreSQL's commit has the same. The product has room in 63 bits.
const SUM_FACTOR: u64 = 16_777_619;
/// The largest prime below 2^32.
const SUM_MODULUS: u64 = 4_294_967_291;

/// Why a chunk cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("a chunk of its history does not match its checksum: it is damaged, or another run's")]
    Checksum,
    #[error(
        "a chunk of its history cannot be read: {0}; if a newer version of abide wrote it, use that one, or a newer one"
    )]
    Records(#[from] serde_json::Error),
}

const CHECKSUM_BYTES: usize = 4;

pub(crate) fn checksum(run: RunId, short: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&run.0.to_be_bytes());
    hasher.update(short);
    hasher.finalize().to_be_bytes()
}

/// A [`Creation`] without the run's id.
#[derive(Serialize)]
struct Origin<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceId>,
    definition: &'a DefinitionRef,
    input: &'a Json,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [Arc<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a Parent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled: Option<&'a Scheduled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_on: Option<&'a StartedOn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_by: Option<&'a Actor>,
}

impl<'a> Origin<'a> {
    fn of(creation: &'a Creation) -> Origin<'a> {
        let Creation {
            run_id: _,
            workspace,
            definition,
            input,
            tags,
            parent,
            scheduled,
            started_on,
            started_by,
        } = creation;
        let workspace = Some(*workspace).filter(|workspace| *workspace != WorkspaceId::DEFAULT);
        Origin {
            workspace,
            definition,
            input,
            tags,
            parent: parent.as_ref(),
            scheduled: scheduled.as_ref(),
            started_on: started_on.as_ref(),
            started_by: started_by.as_ref(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredOrigin {
    #[serde(default)]
    workspace: WorkspaceId,
    definition: DefinitionRef,
    input: Json,
    #[serde(default)]
    tags: Vec<Arc<str>>,
    #[serde(default)]
    parent: Option<Parent>,
    #[serde(default)]
    scheduled: Option<Scheduled>,
    #[serde(default)]
    started_on: Option<StartedOn>,
    #[serde(default)]
    started_by: Option<Actor>,
}

/// Reads a list of moments.
struct Moments<'h> {
    run: RunId,
    before: u64,
    history: &'h mut Vec<Record>,
}

impl<'de> DeserializeSeed<'de> for Moments<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Moments<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of moments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut moments: A) -> Result<(), A::Error> {
        let Moments { run, before, history } = self;
        while moments.next_element_seed(Moment { run, before, history })?.is_some() {}
        Ok(())
    }
}

/// Reads an instant, an actor, and the changes they share.
struct Moment<'h> {
    run: RunId,
    before: u64,
    history: &'h mut Vec<Record>,
}

impl<'de> DeserializeSeed<'de> for Moment<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Moment<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an instant, an actor and changes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut moment: A) -> Result<(), A::Error> {
        let at: Timestamp = moment.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let By(by, traceparent) = moment.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        let Moment { run, before, history } = self;
        loop {
            let seq = history.last().map_or(before, |record| record.seq) + 1;
            let change = if seq == 1 {
                moment.next_element::<StoredOrigin>()?.map(|origin| created(run, origin))
            } else {
                moment.next_element::<Change>()?
            };
            let Some(change) = change else { return Ok(()) };
            history.push(Record { seq, at, by: by.clone(), traceparent, change });
        }
    }
}

/// An actor, and the trace it was in.
struct By(Actor, Option<Traceparent>);

impl<'de> Deserialize<'de> for By {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<By, D::Error> {
        deserializer.deserialize_any(ByVisitor)
    }
}

struct ByVisitor;

impl<'de> Visitor<'de> for ByVisitor {
    type Value = By;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an actor, or an actor and a trace")
    }

    fn visit_str<E: serde::de::Error>(self, actor: &str) -> Result<By, E> {
        Ok(By(Actor::new(actor), None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut both: A) -> Result<By, A::Error> {
        let actor = both.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let traceparent = both.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        Ok(By(actor, Some(traceparent)))
    }
}

fn created(run_id: RunId, origin: StoredOrigin) -> Change {
    let StoredOrigin { workspace, definition, input, tags, parent, scheduled, started_on, started_by } =
        origin;
    Change::WorkflowCreated(Box::new(Creation {
        run_id,
        workspace,
        definition,
        input,
        tags,
        parent,
        scheduled,
        started_on,
        started_by,
    }))
}

#[cfg(test)]
mod tests;
