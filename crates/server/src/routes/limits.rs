//! Limits: how much room there is, who has it and who waits for it, and what is set at run time.

mod known;
mod set;
mod shape;

use std::sync::Arc;

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::id::{LimitId, RunId};
use abide_core::limits;
use abide_engine::stored::{InLine, LimitPlace, Page, PressurePlace, Scope};
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LARGEST_PAGE, page_size};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Id, Query, cursor};
use crate::shape::{Answer, List};
use shape::{HolderBody, LimitBody, LimitDetail, SettingsBody, WaiterBody};

const READ: Access = Access::Key(&[Scope::Read]);
const LIST: &str = "limits";
const PRESSURE: &str = "limits-by-pressure";
/// How many of a line are read at most to say who waits longest: who comes with a priority is nine minutes ahead at most.
const OLDEST_OF: usize = 32;

pub(super) fn routes() -> Group {
    Group::new(
        "limits",
        "How many may be at work or begin, who has room and who waits for it. See `limits` of workflows and steps.",
    )
    .add(
        Endpoint::new(Verb::Get, "/limits", READ, "List keys of limits that somebody has room under or waits for")
            .about(
                "By name and key; with `pressure`, only those that somebody waits for, those for which most wait first. \
                 A page may be shorter than asked for while `nextCursor` goes on.",
            )
            .query::<ListQuery>()
            .ok::<List<LimitBody>>("A page.")
            .codes(&[Code::BadCursor]),
        list,
    )
    .add(
        Endpoint::new(Verb::Get, "/limits/{name}", READ, "Get a limit: its keys, who has room, who waits, what is set")
            .about(
                "`holders` and `line` are those of `key`, or of the only key there is. Without `workflow` it is the limit \
                 of this name that all workflows of the workspace share.",
            )
            .query::<OneQuery>()
            .ok::<LimitDetail>("The limit.")
            .codes(&[Code::UnknownLimit]),
        get,
    )
    .add(set::endpoint(), set::set)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// Only limits of this name.
    #[schemars(length(min = 1, max = limits::LIMIT_NAME_CHARS))]
    name: Option<String>,
    /// Only limits of this workflow.
    workflow: Option<String>,
    /// Only this key.
    key: Option<String>,
    /// Those for which most wait first, and only those that somebody waits for.
    #[serde(default)]
    pressure: bool,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    limit: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneQuery {
    /// The workflow of the limit; absent: all of the workspace that name it.
    workflow: Option<String>,
    /// Whose holders and line are shown.
    key: Option<String>,
    /// Keys, holders and waiters at most; 50 if absent.
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    limit: Option<u32>,
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<LimitBody>>, Problem> {
    let ListQuery { name, workflow, key, pressure, cursor, limit } = query;
    let size = page_size(limit);
    let all = app.engine.workspace(caller.workspace).limits();
    let (found, next_cursor) = if pressure {
        let after = cursor::read::<(u64, LimitId)>(PRESSURE, cursor.as_deref())?;
        let after = after.map(|(waiting, id)| PressurePlace { waiting, id });
        let found = all.by_pressure(name, Page { after, limit: size }).await?;
        let last = found.last().filter(|_| found.len() == size);
        let next = last.map(|last| cursor::write(PRESSURE, &(last.waiting, last.id)));
        (found, next)
    } else {
        let after = cursor::read::<(String, String, LimitId)>(LIST, cursor.as_deref())?;
        let after = after.map(|(name, key, id)| LimitPlace { name, key, id });
        let found = all.list(name, Page { after, limit: size }).await?;
        let last = found.last().filter(|_| found.len() == size);
        let next = last.map(|last| cursor::write(LIST, &(&last.name, &last.key, last.id)));
        (found, next)
    };
    let is_asked_for = |limit: &Limit| {
        !Limit::is_own(&limit.name)
            && workflow.as_deref().is_none_or(|workflow| limit.workflow.as_deref() == Some(workflow))
            && key.as_deref().is_none_or(|key| *limit.key == *key)
    };
    let found = found.into_iter().filter(is_asked_for).collect();
    Ok(Answer::ok(List { data: app.shown(&caller, found).await?, next_cursor }))
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
    Query(query): Query<OneQuery>,
) -> Result<Answer<LimitDetail>, Problem> {
    let OneQuery { workflow, key, limit } = query;
    let asked = LimitName { name: name.into(), workflow: workflow.map(Arc::from), key: key.map(Arc::from) };
    Ok(Answer::ok(app.limit_detail(&caller, &asked, page_size(limit)).await?))
}

/// Which limit is asked for.
#[derive(Debug)]
struct LimitName {
    name: Arc<str>,
    workflow: Option<Arc<str>>,
    key: Option<Arc<str>>,
}

impl App {
    /// Limits as they are shown, with since when the longest waits.
    async fn shown(&self, caller: &Caller, found: Vec<Limit>) -> Result<Vec<LimitBody>, Problem> {
        let now = self.engine.now();
        let mut shown = Vec::with_capacity(found.len());
        for limit in found {
            let oldest = if limit.waiting > 0 {
                let line = self.engine.workspace(caller.workspace).limits().next_in_line(limit.id, OLDEST_OF);
                self.waiters(caller, &line.await?).await?.into_iter().map(|waiter| waiter.since).min()
            } else {
                None
            };
            shown.push(LimitBody::of(&limit, oldest, now));
        }
        Ok(shown)
    }

    async fn settings_of(
        &self,
        caller: &Caller,
        asked: &LimitName,
    ) -> Result<Option<LimitSettings>, Problem> {
        let of_name = self.engine.workspace(caller.workspace).limits().settings(Some(asked.name.to_string()));
        Ok(of_name.await?.into_iter().find(|settings| settings.workflow == asked.workflow))
    }

    async fn limit_detail(
        &self,
        caller: &Caller,
        asked: &LimitName,
        size: usize,
    ) -> Result<LimitDetail, Problem> {
        let all = self.engine.workspace(caller.workspace).limits();
        if Limit::is_own(&asked.name) {
            return Err(Problem::new(Code::UnknownLimit, format!("there is no limit `{}`", asked.name)));
        }
        let keys = self.keys_of(caller, asked, size).await?;
        let settings = self.settings_of(caller, asked).await?;
        if keys.is_empty() && settings.is_none() && !self.is_defined(caller, asked).await? {
            return Err(self.unknown(caller, asked).await?);
        }
        let shown = match (&asked.key, &*keys) {
            (Some(key), _) => keys.iter().find(|limit| limit.key == *key),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let (holders, line) = match shown {
            Some(limit) => {
                let line = all.next_in_line(limit.id, size).await?;
                (self.holders(caller, limit, size).await?, self.waiters(caller, &line).await?)
            }
            None => (Vec::new(), Vec::new()),
        };
        Ok(LimitDetail {
            name: asked.name.to_string(),
            workflow: asked.workflow.as_ref().map(ToString::to_string),
            keys: self.shown(caller, keys).await?,
            holders,
            line,
            settings: settings.as_ref().map(SettingsBody::from),
        })
    }

    /// The keys of a limit: those that somebody waits for first.
    async fn keys_of(&self, caller: &Caller, asked: &LimitName, size: usize) -> Result<Vec<Limit>, Problem> {
        let all = self.engine.workspace(caller.workspace).limits();
        if let Some(key) = &asked.key {
            let id = LimitId::of(caller.workspace, asked.workflow.as_deref(), &asked.name, key);
            return Ok(all.get(id).await?.into_iter().collect());
        }
        let name = || Some(asked.name.to_string());
        let mut keys = all.by_pressure(name(), Page { after: None, limit: size }).await?;
        let known: std::collections::BTreeSet<LimitId> = keys.iter().map(|limit| limit.id).collect();
        let others = all.list(name(), Page { after: None, limit: size }).await?;
        keys.extend(others.into_iter().filter(|limit| !known.contains(&limit.id)));
        keys.retain(|limit| limit.workflow == asked.workflow);
        keys.truncate(size);
        Ok(keys)
    }

    async fn holders(&self, caller: &Caller, limit: &Limit, size: usize) -> Result<Vec<HolderBody>, Problem> {
        let holders = &limit.holders[..limit.holders.len().min(size)];
        let wanted: Vec<RunId> = holders.iter().map(|holder| holder.run).collect();
        let runs = self.engine.workspace(caller.workspace).runs().read(wanted).await?;
        let body = |holder: &abide_core::capacity::Holder| HolderBody {
            run_id: holder.run,
            step_name: holder.at.and_then(|at| runs.get(&holder.run).map(|run| run.step_name(at))),
            since: holder.since,
        };
        Ok(holders.iter().map(body).collect())
    }

    /// Those in line, the next one first. One that has left since is left out.
    async fn waiters(&self, caller: &Caller, line: &[InLine]) -> Result<Vec<WaiterBody>, Problem> {
        let wanted: Vec<RunId> = line.iter().map(|place| place.waitpoint.run).collect();
        let runs = self.engine.workspace(caller.workspace).runs().read(wanted).await?;
        let waiters = line.iter().zip(1_u64..).filter_map(|(place, number)| {
            let run = runs.get(&place.waitpoint.run)?;
            let wait = run.waitpoint(place.waitpoint.number)?;
            Some(WaiterBody {
                place: number,
                waitpoint_id: place.waitpoint,
                run_id: run.id,
                step_name: wait.at.map(|at| run.step_name(at)),
                priority: wait.listens_for.capacity().map_or(0, |request| request.priority),
                since: wait.created_at,
            })
        });
        Ok(waiters.collect())
    }
}

/// How many were let in or cancelled.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitEmptied")]
struct EmptiedBody {
    /// Waits that ended.
    done: usize,
    /// Waits that could not be ended: they ended otherwise meanwhile.
    refused: usize,
    /// There are more: ask again.
    more: bool,
}
