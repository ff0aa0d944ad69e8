//! What every handler shares: the engine, the settings, the links, and who may come in.

use std::sync::Arc;

use abide_core::command::{Command, Reply};
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_engine::{Engine, Listener, RunHandle};
use tokio::sync::{Mutex, watch};

use crate::activity::Activity;
use crate::caller::{Caller, Callers};
use crate::endpoint::PREFIXES;
use crate::links::Links;
use crate::metrics::Sampler;
use crate::problem::Problem;
use crate::quotas::AllQuotas;
use crate::routes::Sessions;
use crate::settings::Settings;
use crate::traces::Traces;
use crate::traffic::Traffic;

pub(crate) type Shared = Arc<App>;

pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    /// The beginning of every URL that is given out.
    pub(crate) base_url: String,
    pub(crate) links: Links,
    pub(crate) sessions: Sessions,
    pub(crate) callers: Callers,
    pub(crate) traffic: Traffic,
    /// Where spans go, if anywhere.
    pub(crate) traces: Option<Traces>,
    /// Whose turn it is to make a copy of the store.
    pub(crate) backups: Mutex<()>,
    pub(crate) activity: Activity,
    pub(crate) sampler: Sampler,
    pub(crate) quotas: AllQuotas,
    /// True once the server shuts down: whoever waits is answered.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl App {
    /// The run as it is now, if it is in the caller's workspace.
    pub(crate) async fn run(&self, caller: &Caller, run: RunId) -> Result<Run, Problem> {
        Ok(self.engine.workspace(caller.workspace).run(run).get().await?)
    }

    /// A run of the caller's workspace, asked on the caller's behalf.
    pub(crate) fn asked(&self, caller: &Caller, run: RunId, key: Option<String>) -> RunHandle<'_> {
        self.engine.workspace(caller.workspace).run(run).by(caller.asker()).idempotency_key(key)
    }

    pub(crate) async fn command(
        &self,
        caller: &Caller,
        run: RunId,
        command: Command,
        key: Option<String>,
    ) -> Result<Reply, Problem> {
        Ok(self.asked(caller, run, key).command(command).await?)
    }

    pub(crate) async fn command_and_listen(
        &self,
        caller: &Caller,
        run: RunId,
        command: Command,
        key: Option<String>,
    ) -> Result<(Reply, Listener), Problem> {
        Ok(self.asked(caller, run, key).command_and_listen(command).await?)
    }

    /// Where a path of the API is for those who come through the public URL.
    pub(crate) fn path_to(&self, path: &str) -> String {
        format!("{}{}{path}", self.base_path(), PREFIXES[0])
    }

    /// The path of the public URL: what comes before every path, without a slash at its end.
    pub(crate) fn base_path(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or("", |at| &rest[at..])
    }

    /// Returns when the server shuts down.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // It fails only when the server is gone, which is the same.
        drop(stopping.wait_for(|stopping| *stopping).await);
    }
}
