//! Idempotency keys (R14): the same key and the same body get the same answer, another body is refused. The caller
//! loads the record of the key with the run, and stores a new one in the same commit as the records of the run.

use std::hash::Hasher;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Context, Outcome, Reply, decide};
use crate::id::RunId;
use crate::refusal::Refusal;
use crate::run::Run;

/// The record of a request that was carried out under an idempotency key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// The key that the caller gave.
    pub key: String,
    /// The [`digest`] of the request.
    pub digest: u64,
    /// The answer that the same request gets again.
    pub reply: Reply,
    /// The run that the request started, or was asked of; as long as it is open, the key is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// When the request was carried out.
    pub at: Timestamp,
}

/// Decides a command that came with an idempotency key. A refused command leaves no record: trying it again may
/// succeed.
pub fn decide_with_key(
    run: &mut Run,
    command: Command,
    context: &Context,
    key: &str,
    idempotency: Option<&IdempotencyRecord>,
) -> Result<(Outcome, Option<IdempotencyRecord>), Refusal> {
    let digest = digest(&command);
    let is_call = matches!(command, Command::ResumeWaitpoint(_));
    if let Some(reply) = replay(key, digest, idempotency)? {
        let reply =
            if let (true, Reply::Waitpoint(id)) = (is_call, &reply) { Reply::Repeated(*id) } else { reply };
        return Ok((
            Outcome { records: Vec::new(), in_round: Vec::new(), after_commit: Vec::new(), reply },
            None,
        ));
    }
    let outcome = decide(run, command, context)?;
    let (key, reply, at) = (key.to_owned(), outcome.reply.clone(), context.now);
    let idempotency = IdempotencyRecord { key, digest, reply, run: Some(run.id), at };
    Ok((outcome, Some(idempotency)))
}

/// The answer that a request under this key has already been given, if any; refuses another request under the same
/// key.
pub fn replay(
    key: &str,
    digest: u64,
    idempotency: Option<&IdempotencyRecord>,
) -> Result<Option<Reply>, Refusal> {
    match idempotency {
        Some(earlier) if earlier.digest == digest => Ok(Some(earlier.reply.clone())),
        Some(_) => Err(Refusal::KeyReused(key.to_owned())),
        None => Ok(None),
    }
}

/// A fixed hash of a request: object keys are sorted, so that spelling does not matter.
pub fn digest(request: &impl Serialize) -> u64 {
    let body = serde_json::to_vec(request).expect("a request is JSON");
    let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
    hasher.write(&body);
    hasher.finish()
}

/// FNV-1a, 64 bits: the standard library's hasher may change between releases, and these are stored.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
