//! A run as its users hold it: commands, watching and its history.

use std::sync::Arc;

use abide_core::command::{Command, Reply, SendSignal, Vote};
use abide_core::definition::Definition;
use abide_core::history::{KnownWaits, Record};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, ListensFor};
use abide_store::{RunSummary, StoredRun};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Ended, Engine, Listener};
use crate::checker;
use crate::error::Error;
use crate::executor::TokenFollower;
use crate::followers::Follower;
use crate::known::Recorded;
use crate::moves;
use crate::reply_listener::ReplyListener;
use crate::request::{Asker, Decide, Query};

/// A handle of a run, made by [`Engine::run`] or [`WorkspaceHandle::run`](super::WorkspaceHandle::run). Whether there
/// is such a run is found out when something is asked of it.
#[derive(Clone, Debug)]
pub struct RunHandle<'e> {
    engine: &'e Engine,
    id: RunId,
    /// The workspace that the run must be in; `None`: any.
    workspace: Option<WorkspaceId>,
    asker: Asker,
    idempotency_key: Option<String>,
}

impl<'e> RunHandle<'e> {
    pub(super) fn new(engine: &'e Engine, workspace: Option<WorkspaceId>, id: RunId) -> RunHandle<'e> {
        let asker = Actor::new("host").into();
        RunHandle { engine, id, workspace, asker, idempotency_key: None }
    }

    /// The id of the run.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Sets on whose behalf something is asked of the run; the program itself unless said.
    pub fn by(self, asker: impl Into<Asker>) -> RunHandle<'e> {
        RunHandle { asker: asker.into(), ..self }
    }

    /// Sets an idempotency key: the same key and the same request are carried out once and get the same answer.
    pub fn idempotency_key(self, key: impl Into<Option<String>>) -> RunHandle<'e> {
        RunHandle { idempotency_key: key.into(), ..self }
    }

    /// The run as it is now.
    pub async fn get(self) -> Result<Run, Error> {
        self.load().await
    }

    async fn load(&self) -> Result<Run, Error> {
        let run = self.id;
        let found = self.engine.ask(|answer| Query::Get { run, answer }).await.map(|run| *run);
        let Some(workspace) = self.workspace else { return found };
        match found {
            Ok(found) if found.workspace == workspace => Ok(found),
            Ok(_) => Err(Error::UnknownRun(run)),
            Err(error) if error.passes() => Err(error),
            // What is wrong with a run is for its own workspace to know.
            Err(error) => match self.engine.readers.read(None, move |store| store.workspace_of(run)).await {
                Ok(Some(found)) if found == workspace => Err(error),
                Ok(_) | Err(_) => Err(Error::UnknownRun(run)),
            },
        }
    }

    /// Waits for the run to end.
    pub async fn wait(self) -> Result<Ended, Error> {
        if self.workspace.is_some() {
            self.load().await?;
        }
        let run = self.id;
        self.engine.ask(|answer| Query::Watch { run, answer }).await
    }

    /// Follows the version of the run, which grows with each record.
    pub fn follow(&self) -> Follower {
        self.engine.followers.follow(self.id)
    }

    /// Follows the tokens that models stream to the run. A call that begins while somebody follows is streamed.
    pub fn tokens(&self) -> TokenFollower {
        self.engine.executors.tokens.follow(self.id)
    }

    /// Sends a command to the run.
    pub async fn command(self, command: Command) -> Result<Reply, Error> {
        self.ask(command, None).await
    }

    /// Sends a command to the run, and listens for its next reply.
    pub async fn command_and_listen(self, command: Command) -> Result<(Reply, Listener), Error> {
        let (listener, heard) = oneshot::channel();
        let reply = self.ask(command, Some(ReplyListener::new(listener))).await?;
        Ok((reply, Listener::new(heard)))
    }

    /// Sends a signal to the run, whether it already waits for it or not.
    pub async fn signal(self, signal_type: &str, payload: Value) -> Result<Reply, Error> {
        let signal = SendSignal { signal_type: signal_type.into(), payload: payload.into() };
        self.command(Command::SendSignal(signal)).await
    }

    /// Cancels the run, in whatever state it is unless it has ended. What it waits for is cancelled with it.
    pub async fn cancel(self, reason: Option<&str>) -> Result<Reply, Error> {
        self.command(Command::Cancel { reason: reason.map(str::to_owned) }).await
    }

    /// Pauses the run at its next step boundary.
    pub async fn pause(self) -> Result<Reply, Error> {
        self.command(Command::Pause).await
    }

    /// Lifts a pause of the run.
    pub async fn unpause(self) -> Result<Reply, Error> {
        self.command(Command::Unpause).await
    }

    /// Retries a FAILED run from the steps that failed.
    pub async fn retry(self) -> Result<Reply, Error> {
        self.command(Command::Retry).await
    }

    /// Moves the run to another version of its workflow, where its past fits.
    pub async fn move_to(self, to: &Arc<Definition>) -> Result<Reply, Error> {
        moves::move_run(self, to).await
    }

    async fn ask(self, command: Command, listener: Option<ReplyListener>) -> Result<Reply, Error> {
        self.check_edit(&command).await?;
        let RunHandle { engine, id: run, workspace, asker, idempotency_key: key } = self;
        let command = Box::new(command);
        let request = |answer| Decide::Command { workspace, run, command, asker, key, listener, answer };
        match workspace {
            Some(workspace) => engine.ask_in(workspace, request).await,
            None => engine.ask(request).await,
        }
    }

    /// Checks content that a voter has edited against the schema of the approval. A schema never changes, so the
    /// writer need not check it again; and what takes long is done beside it.
    pub(super) async fn check_edit(&self, command: &Command) -> Result<(), Error> {
        let Command::Vote(Vote { number, edited_content: Some(content), .. }) = command else {
            return Ok(());
        };
        let run = self.load().await?;
        match run.waitpoint(*number).map(|wait| &wait.listens_for) {
            Some(ListensFor::Approval(asked)) => checker::check_edit(asked, content).await,
            Some(_) | None => Ok(()),
        }
    }

    /// The run as lists show it; `None` if there is no such run.
    pub async fn summary(self) -> Result<Option<RunSummary>, Error> {
        let run = self.id;
        let found = self.engine.readers.read(self.workspace, move |store| store.run(run)).await?;
        Ok(found.filter(|found| self.workspace.is_none_or(|own| own == found.workspace)))
    }

    /// The whole history of the run; `None` if there is no such run.
    pub async fn history(self) -> Result<Option<StoredRun>, Error> {
        let run = self.id;
        let found = self.engine.readers.read(self.workspace, move |store| store.load(run)).await?;
        Ok(found.filter(|found| self.workspace.is_none_or(|own| own == found.workspace)))
    }

    /// The history of the run, and the versions of its workflow that its records are of; `None` if there is no such
    /// run.
    pub async fn recorded(self) -> Result<Option<Recorded>, Error> {
        let (run, workspace, known) = (self.id, self.workspace, Arc::clone(&self.engine.readers.known));
        let read = self.engine.readers.read(workspace, move |store| known.recorded(store, run));
        let found = read.await?;
        Ok(found.filter(|found| workspace.is_none_or(|own| own == found.workspace)))
    }

    /// The records after number `after` in the history of the run: at most `limit`, and none after those whose
    /// payloads have `bytes` together. Does not check the run's workspace.
    pub async fn records_after(self, after: u64, limit: usize, bytes: usize) -> Result<Vec<Record>, Error> {
        let run = self.id;
        let read = move |store: &mut dyn abide_store::Read| store.records_after(run, after, limit, bytes);
        self.engine.readers.read(self.workspace, read).await
    }

    /// The waits that the run had opened before a record. Does not check the run's workspace.
    pub async fn waits_before(self, record: u64) -> Result<KnownWaits, Error> {
        let run = self.id;
        let read = move |store: &mut dyn abide_store::Read| {
            let history = store.load(run)?.map(|stored| stored.history).unwrap_or_default();
            let mut waits = KnownWaits::default();
            let earlier = history.iter().take_while(|earlier| earlier.seq < record);
            earlier.for_each(|earlier| waits.read(&earlier.change));
            Ok(waits)
        };
        self.engine.readers.read(self.workspace, read).await
    }
}
