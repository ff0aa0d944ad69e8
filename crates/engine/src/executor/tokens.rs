//! Tokens of models as they are streamed, for followers of a run. They are not durable: a late follower has missed
//! them, and finds the whole answer in the journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::id::RunId;
use serde::Serialize;
use tokio::sync::broadcast;

/// How many pieces a slow follower may be behind; after that it misses some.
const BEHIND: usize = 1_024;

/// A piece of a model's answer, as it is streamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// The name of the step that called the model.
    pub step_name: String,
    /// The journal entry that will hold the whole answer.
    pub entry: String,
    /// The text of the piece.
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens(Arc<Mutex<HashMap<RunId, broadcast::Sender<Token>>>>);

impl Tokens {
    fn by_run(&self) -> MutexGuard<'_, HashMap<RunId, broadcast::Sender<Token>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn follow(&self, run: RunId) -> TokenFollower {
        let pieces = self.by_run().entry(run).or_insert_with(|| broadcast::channel(BEHIND).0).subscribe();
        TokenFollower { run, pieces, tokens: self.clone() }
    }

    /// Where the tokens of a run go, if somebody follows it.
    pub(super) fn wanted(&self, run: RunId) -> Option<broadcast::Sender<Token>> {
        self.by_run().get(&run).cloned()
    }
}

/// Receives the tokens that models stream to one run.
#[derive(Debug)]
pub struct TokenFollower {
    run: RunId,
    pieces: broadcast::Receiver<Token>,
    tokens: Tokens,
}

impl TokenFollower {
    /// The next piece, if one has come already.
    pub fn ready(&mut self) -> Option<Token> {
        loop {
            match self.pieces.try_recv() {
                Ok(token) => return Some(token),
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => {
                    return None;
                }
            }
        }
    }

    /// Waits for the next piece. What was missed is left out.
    pub async fn next(&mut self) -> Token {
        loop {
            match self.pieces.recv().await {
                Ok(token) => return token,
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

impl Drop for TokenFollower {
    fn drop(&mut self) {
        let mut by_run = self.tokens.by_run();
        if by_run.get(&self.run).is_some_and(|pieces| pieces.receiver_count() <= 1) {
            by_run.remove(&self.run);
        }
    }
}
