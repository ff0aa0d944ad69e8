//! A workspace as its users hold it: the way to everything that belongs to it. What belongs to another workspace is
//! unknown here.

use std::collections::BTreeMap;

use abide_core::command::{Command, Reply};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::waitpoint::Actor;
use abide_store::CostRow;
use jiff::civil::Date;
use tokio::sync::oneshot;

use super::{
    ApiKeys, Definitions, Engine, Events, Listener, RunHandle, Runs, Schedules, Tasks, Waitpoints, Webhooks,
};
use crate::error::Error;
use crate::reply_listener::ReplyListener;
use crate::request::Decide;
use crate::start::{StartRun, Started};

/// How many runs are started in one round, and how large their inputs are together: others wait for a round no longer
/// than they would for as many single starts.
const STARTS_AT_ONCE: usize = 256;
const STARTED_BYTES: usize = 4 * 1024 * 1024;

/// A handle of a workspace. Made by [`Engine::workspace`]; copies are the same workspace.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceHandle<'e> {
    pub(super) engine: &'e Engine,
    pub(super) id: WorkspaceId,
}

impl<'e> WorkspaceHandle<'e> {
    /// The id of the workspace.
    pub fn id(self) -> WorkspaceId {
        self.id
    }

    /// A run of this workspace. One of another workspace is answered as [`Error::UnknownRun`].
    pub fn run(self, run: RunId) -> RunHandle<'e> {
        RunHandle::new(self.engine, Some(self.id), run)
    }

    /// The runs of this workspace: lists, counts, many at once.
    pub fn runs(self) -> Runs<'e> {
        Runs(self)
    }

    /// The workflows that are deployed in this workspace.
    pub fn definitions(self) -> Definitions<'e> {
        Definitions(self)
    }

    /// The events of this workspace: sent, listed, and who waits for them.
    pub fn events(self) -> Events<'e> {
        Events(self)
    }

    /// The limits of this workspace.
    pub fn limits(self) -> super::LimitsHandle<'e> {
        super::LimitsHandle(self)
    }

    /// The schedules of this workspace.
    pub fn schedules(self) -> Schedules<'e> {
        Schedules(self)
    }

    /// The tasks of this workspace, for workers.
    pub fn tasks(self) -> Tasks<'e> {
        Tasks(self)
    }

    /// The waitpoints of this workspace, and which of their links are valid.
    pub fn waitpoints(self) -> Waitpoints<'e> {
        Waitpoints(self)
    }

    /// The webhooks of this workspace, and their deliveries.
    pub fn webhooks(self) -> Webhooks<'e> {
        Webhooks(self)
    }

    /// The API keys of this workspace.
    pub fn keys(self) -> ApiKeys<'e> {
        ApiKeys(self)
    }

    /// Starts a run. When it returns, the run is on disk.
    pub async fn start(self, start: impl Into<StartRun>) -> Result<RunId, Error> {
        self.start_told(start).await.map(|started| started.run)
    }

    /// Starts a run, and says whether it is a new one. When it returns, the start is on disk.
    pub async fn start_told(self, start: impl Into<StartRun>) -> Result<Started, Error> {
        self.begin(start.into(), None).await
    }

    /// Starts a run, and listens for its first reply.
    pub async fn start_and_listen(self, start: impl Into<StartRun>) -> Result<(RunId, Listener), Error> {
        let (listener, heard) = oneshot::channel();
        let started = self.begin(start.into(), Some(ReplyListener::new(listener))).await?;
        Ok((started.run, Listener::new(heard)))
    }

    /// Starts many runs, hundreds in one commit. Each has its own answer, in the same order; one that is refused hinders
    /// no other. When it returns, the runs are on disk.
    pub async fn start_many(self, starts: Vec<StartRun>) -> Vec<Result<Started, Error>> {
        let workspace = self.id;
        let mut answers = Vec::with_capacity(starts.len());
        let mut starts = starts.into_iter().map(|start| start.in_workspace(workspace)).peekable();
        while starts.peek().is_some() {
            let (mut some, mut bytes) = (Vec::new(), 0);
            while let Some(start) = starts.next_if(|start| {
                some.is_empty()
                    || (some.len() < STARTS_AT_ONCE && bytes + start.input.bytes() <= STARTED_BYTES)
            }) {
                bytes += start.input.bytes();
                some.push(Ok(start));
            }
            let count = some.len();
            let request = |answer| Decide::StartMany { workspace, starts: some, checking: 0, answer };
            match self.engine.ask_in(workspace, request).await {
                Ok(some) => answers.extend(some),
                Err(error) => answers.extend(std::iter::repeat_with(|| Err(error.clone())).take(count)),
            }
        }
        answers
    }

    async fn begin(self, start: StartRun, listener: Option<ReplyListener>) -> Result<Started, Error> {
        let start = Box::new(start.in_workspace(self.id));
        self.engine.ask_in(self.id, |answer| Decide::Start { start, listener, answer }).await
    }

    /// Sends commands to many runs at once. One that is refused hinders no other; the answers are in the same order.
    pub async fn commands(
        self,
        commands: Vec<(RunId, Command)>,
        by: Actor,
    ) -> Result<Vec<Result<Reply, Error>>, Error> {
        let mut refused = BTreeMap::new();
        for (index, (run, command)) in commands.iter().enumerate() {
            if let Err(error) = self.run(*run).check_edit(command).await {
                refused.insert(index, error);
            }
        }
        let commands = commands.into_iter().enumerate().filter(|(index, _)| !refused.contains_key(index));
        let (workspace, commands) = (self.id, commands.map(|(_, command)| command).collect());
        let request = |answer| Decide::Commands { workspace, commands, by, answer };
        let mut replies = self.engine.ask_in(workspace, request).await?;
        for (index, error) in refused {
            replies.insert(index, Err(error));
        }
        Ok(replies)
    }

    /// The tokens and cost of calls to models on these days of UTC, both included: by day, workflow and model.
    pub async fn costs(self, from: Date, until: Date) -> Result<Vec<CostRow>, Error> {
        let id = self.id;
        self.engine.readers.read(Some(id), move |store| store.costs(id, from, until)).await
    }

    /// The size of the histories and events of this workspace, in bytes.
    pub async fn stored_bytes(self) -> Result<u64, Error> {
        let id = self.id;
        self.engine.readers.look_up(move |store| store.stored_bytes(id)).await
    }
}
