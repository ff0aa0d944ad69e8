//! How much one workspace may have, so that it takes nothing from the others. What the server's settings say holds for
//! every workspace that has no figure of its own.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use abide_core::id::WorkspaceId;
use abide_engine::{Engine, LARGEST_SHARE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::problem::{Code, Problem};
use crate::rate::Rates;

/// The store's setting that holds the figures of workspaces that have their own.
const SETTING: &str = "quotas";
/// How often figures that other nodes were told are looked for.
const FOLLOW: Duration = Duration::from_secs(1);

/// What a workspace may have; an absent figure is that of the server, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Quotas {
    /// Runs that have not ended, when one more is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_runs: Option<u64>,
    /// Bytes that histories and events take. With more, no run is started and no event is taken; runs that are under way
    /// go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes: Option<u64>,
    /// Runs started by requests in a second; as many may be started at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_per_second: Option<u32>,
    /// Calls of one kind (`http` steps, models, handlers at URLs) under way at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<u32>,
    /// How many turns in a row the workspace has where several wait: for calls, reads, requests and tasks of the engine. 1 if
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = LARGEST_SHARE))]
    pub share: Option<u32>,
}

impl Quotas {
    /// The workspace's own quotas, and the server's where it has none.
    fn or(self, server: Quotas) -> Quotas {
        Quotas {
            open_runs: self.open_runs.or(server.open_runs),
            stored_bytes: self.stored_bytes.or(server.stored_bytes),
            starts_per_second: self.starts_per_second.or(server.starts_per_second),
            calls: self.calls.or(server.calls),
            schedules: self.schedules.or(server.schedules),
            webhooks: self.webhooks.or(server.webhooks),
            share: self.share,
        }
    }
}

/// By the number of the workspace.
type Own = BTreeMap<u32, Quotas>;

pub(crate) struct AllQuotas {
    server: Quotas,
    own: RwLock<HashMap<WorkspaceId, Quotas>>,
    starts: Rates<WorkspaceId>,
}

impl AllQuotas {
    pub(crate) async fn open(engine: &Engine, server: Quotas) -> Result<AllQuotas, Problem> {
        let quotas = AllQuotas { server, own: RwLock::default(), starts: Rates::new(0) };
        quotas.know(engine, stored(engine).await?);
        Ok(quotas)
    }

    pub(crate) fn of(&self, workspace: WorkspaceId) -> Quotas {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner).get(&workspace).copied();
        own.unwrap_or_default().or(self.server)
    }

    fn know(&self, engine: &Engine, own: Own) {
        let own: HashMap<_, _> = own.into_iter().map(|(id, quotas)| (WorkspaceId(id), quotas)).collect();
        let calls = |quotas: &Quotas| quotas.calls.and_then(|calls| usize::try_from(calls).ok());
        let of_workspaces = own.iter().filter_map(|(id, quotas)| Some((*id, calls(quotas)?)));
        engine.limit_calls(calls(&self.server), of_workspaces.collect());
        let of_workspaces = own.iter().filter_map(|(id, quotas)| Some((*id, quotas.open_runs?)));
        engine.limit_open_runs(self.server.open_runs, of_workspaces.collect());
        let shares =
            own.iter().filter_map(|(id, quotas)| Some((*id, quotas.share.filter(|share| *share > 1)?)));
        engine.set_shares(shares.collect());
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = own;
    }

    /// Where other nodes are told, too: heeds what they were told, for as long as it is asked to.
    pub(crate) async fn follow(&self, engine: &Engine) {
        while engine.is_shared() {
            tokio::time::sleep(FOLLOW).await;
            // If the store is away, the next time will do.
            if let Ok(own) = stored(engine).await {
                self.know(engine, own);
            }
        }
    }

    /// Gives a workspace figures of its own, in place of those it had.
    pub(crate) async fn set(
        &self,
        engine: &Engine,
        workspace: WorkspaceId,
        quotas: Quotas,
    ) -> Result<(), Problem> {
        let own = loop {
            let was = engine.admin().setting(SETTING).await?;
            let mut own = read(was.as_deref()).map_err(|_| unreadable())?;
            own.insert(workspace.0, quotas);
            let written = serde_json::to_vec(&own).expect("figures are JSON");
            if engine.admin().change_setting(SETTING, was, written).await? {
                break own;
            }
        };
        self.know(engine, own);
        Ok(())
    }
}

async fn stored(engine: &Engine) -> Result<Own, Problem> {
    let bytes = engine.admin().setting(SETTING).await?;
    read(bytes.as_deref()).map_err(|_| unreadable())
}

fn read(setting: Option<&[u8]>) -> Result<Own, serde_json::Error> {
    setting.map_or_else(|| Ok(Own::new()), serde_json::from_slice)
}

fn unreadable() -> Problem {
    Problem::new(Code::StoreUnavailable, "the store's quotas cannot be read")
}

/// What is refused because a workspace has as much as it may.
pub(crate) fn exceeded(quota: &str, limit: u64, actual: u64) -> Problem {
    let detail = format!("the workspace's quota `{quota}` is {limit}, and it would have {actual}");
    Problem::new(Code::QuotaExceeded, detail)
        .current(json!({ "quota": quota, "limit": limit, "actual": actual }))
}

impl App {
    /// Whether the workspace may start one more run.
    pub(crate) async fn may_start(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        self.may_start_now(workspace)?;
        self.may_store(workspace).await
    }

    /// Whether the workspace may start one more run in this second.
    pub(crate) fn may_start_now(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        let quotas = self.quotas.of(workspace);
        if let Some(limit) = quotas.starts_per_second {
            let taken = self.quotas.starts.take_of(workspace, limit, Instant::now());
            taken.map_err(|delay| {
                exceeded("startsPerSecond", limit.into(), u64::from(limit) + 1).retry_after(delay)
            })?;
        }
        Ok(())
    }

    /// Whether the workspace may have more stored.
    pub(crate) async fn may_store(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        let Some(limit) = self.quotas.of(workspace).stored_bytes else { return Ok(()) };
        let stored = self.stored_bytes(workspace).await?;
        if stored >= limit { Err(exceeded("storedBytes", limit, stored)) } else { Ok(()) }
    }

    /// What the histories and events of a workspace take.
    pub(crate) async fn stored_bytes(&self, workspace: WorkspaceId) -> Result<u64, Problem> {
        Ok(self.engine.workspace(workspace).stored_bytes().await?)
    }

    /// Runs of a workspace that have not ended.
    pub(crate) async fn open_runs(&self, workspace: WorkspaceId) -> Result<u64, Problem> {
        let counts = self.engine.workspace(workspace).runs().count_by_status().await?;
        Ok(counts.iter().filter(|(status, _)| !status.has_ended()).map(|(_, count)| count).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_its_own_comes_before_that_of_the_server() {
        let server = Quotas { calls: Some(8), schedules: Some(10), ..Quotas::default() };
        let own = Quotas { calls: Some(2), open_runs: Some(5), ..Quotas::default() };
        let both = own.or(server);
        assert_eq!(
            (both.calls, both.schedules, both.open_runs, both.webhooks),
            (Some(2), Some(10), Some(5), None)
        );
    }
}
