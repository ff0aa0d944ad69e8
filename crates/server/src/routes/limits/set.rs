//! Setting a limit at run time, and emptying its line.

use std::sync::Arc;

use abide_core::capacity::{Limit, SettingChange};
use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::Rate;
use abide_core::id::WaitpointId;
use abide_core::limits;
use abide_engine::LimitOrder;
use abide_engine::stored::Scope;
use axum::extract::State;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::{EmptiedBody, LimitName};
use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Body, Id, length};
use crate::routes::bulk::{REACHED, Tally};
use crate::routes::{LARGEST_PAGE, page_size};
use crate::shape::Answer;

use super::shape::LimitDetail;

const ADMIN: Access = Access::Key(&[Scope::Admin]);
/// Waits of one line that are read at a time.
const SOME: usize = 500;

pub(super) fn endpoint() -> Endpoint {
    Endpoint::new(Verb::Put, "/limits/{name}", ADMIN, "Change, pause, resume or empty a limit at run time")
        .about(
            "What is set stands above what definitions say, on all nodes from the answer on, until it is removed (null). What \
             is not named stays. Who has room keeps it. A rate cannot be given to a limit that its definition gives none, \
             nor a concurrency: whoever asks for room asks for what the definition has. `empty` ends the waits of those who \
             stand in line, at most 10000 at once.",
        )
        .body::<SetBody>()
        .ok::<SetDone>("The limit after it.")
        .codes(&[Code::UnknownLimit, Code::LimitExceeded])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SetLimit")]
pub(super) struct SetBody {
    /// The workflow of the limit; absent: all of the workspace that name it.
    #[schemars(length(min = 1, max = limits::WORKFLOW_NAME_CHARS))]
    workflow: Option<String>,
    /// Only this key; absent: all of them.
    #[schemars(length(max = limits::LIMIT_KEY_CHARS))]
    key: Option<String>,
    /// How many may have room at the same time; null: as the definition says.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 1, max = limits::LIMIT_CONCURRENCY))]
    concurrency: Option<Option<u32>>,
    /// How many may begin in the time of `per`; null: as the definition says.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 1, max = limits::LIMIT_RATE))]
    rate: Option<Option<u32>>,
    /// With `rate`: the time that it is about, such as `1m`.
    per: Option<String>,
    /// `per` as a number of milliseconds.
    #[schemars(range(min = 1))]
    per_ms: Option<u64>,
    /// With `rate`: how many may begin at once after a quiet time; 1 if absent.
    #[schemars(range(min = 1, max = limits::LIMIT_RATE))]
    burst: Option<u32>,
    /// Nobody is let in, or somebody is again.
    paused: Option<bool>,
    /// Also if no workflow has a limit of this name that is shared: one that only durable code names, or that is to come.
    /// Without it, a name that nobody knows is refused.
    create: Option<bool>,
    /// Ends the waits of those who stand in line: `letIn` past the line, or `cancel` (a run is cancelled, a step fails).
    #[serde(default)]
    #[schemars(with = "Empty")]
    empty: Option<Empty>,
}

fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Empty {
    LetIn,
    Cancel,
}

/// A limit after something was set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitSet")]
pub(super) struct SetDone {
    limit: LimitDetail,
    /// With `empty`: how many waits ended.
    emptied: Option<EmptiedBody>,
}

impl SetBody {
    fn change(&self) -> Result<SettingChange, Problem> {
        let per = length("per", self.per_ms, self.per.as_deref())?;
        let rate = match (self.rate, per) {
            (Some(Some(count)), Some(per)) => Some(Some(Rate { count, per, burst: self.burst.unwrap_or(1) })),
            (Some(Some(_)), None) => {
                return Err(Problem::malformed(
                    "/per",
                    "/per: in which time so many may begin, such as `1m`",
                ));
            }
            (Some(None) | None, Some(_)) => {
                return Err(Problem::malformed("/per", "/per: belongs to `rate`, which is not given"));
            }
            (Some(None), None) => Some(None),
            (None, None) if self.burst.is_some() => {
                return Err(Problem::malformed("/burst", "/burst: belongs to `rate`, which is not given"));
            }
            (None, None) => None,
        };
        Ok(SettingChange { concurrency: self.concurrency, rate, paused: self.paused })
    }
}

pub(super) async fn set(
    State(app): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
    Body(body): Body<SetBody>,
) -> Result<Noted<Answer<SetDone>>, Problem> {
    let change = body.change()?;
    if change == SettingChange::default() && body.empty.is_none() {
        let detail = "nothing to do: `concurrency`, `rate`, `paused` or `empty` says what";
        return Err(Problem::malformed("", detail));
    }
    if name.is_empty() || name.chars().count() > limits::LIMIT_NAME_CHARS {
        let detail = format!("a name has 1 to {} characters", limits::LIMIT_NAME_CHARS);
        return Err(Problem::malformed("/name", detail));
    }
    if Limit::is_own(&name) {
        return Err(Problem::new(Code::UnknownLimit, format!("there is no limit `{name}`")));
    }
    let asked = LimitName {
        name: name.into(),
        workflow: body.workflow.clone().map(Arc::from),
        key: body.key.clone().map(Arc::from),
    };
    let is_created = body.create == Some(true) && asked.workflow.is_none();
    if !is_created && change != SettingChange::default() {
        // A name that nobody has would be set in vain.
        app.limit_detail(
            &caller,
            &LimitName { key: None, name: Arc::clone(&asked.name), workflow: asked.workflow.clone() },
            1,
        )
        .await?;
    }
    if change != SettingChange::default() {
        let (name, workflow, key) = (Arc::clone(&asked.name), asked.workflow.clone(), asked.key.clone());
        let order = LimitOrder { workflow, name, key, change };
        app.engine.workspace(caller.workspace).limits().set(order, caller.actor.clone()).await?;
    }
    let emptied = match body.empty {
        Some(empty) => Some(app.empty(&caller, &asked, empty).await?),
        None => None,
    };
    let limit = match app.limit_detail(&caller, &asked, page_size(None)).await {
        // Nothing is left of it: what was set is removed, and nobody has room or waits.
        Err(problem) if problem.code == Code::UnknownLimit => {
            LimitDetail::nothing(&asked.name, asked.workflow.as_deref())
        }
        found => found?,
    };
    let done = emptied.as_ref().map(|emptied| emptied.done);
    let detail = json!({
        "workflow": body.workflow, "key": body.key, "concurrency": body.concurrency, "rate": body.rate,
        "paused": body.paused, "empty": body.empty, "emptied": done,
    });
    Ok(noted(detail, Answer::ok(SetDone { limit, emptied })))
}

impl App {
    /// Ends the waits of those who stand in line now.
    async fn empty(&self, caller: &Caller, asked: &LimitName, how: Empty) -> Result<EmptiedBody, Problem> {
        let all = self.engine.workspace(caller.workspace).limits();
        let keys = usize::try_from(LARGEST_PAGE).unwrap_or(usize::MAX);
        let most = usize::try_from(REACHED).unwrap_or(usize::MAX);
        let mut waits: Vec<WaitpointId> = Vec::new();
        let limits = self.keys_of(caller, asked, keys).await?;
        for limit in limits.iter().filter(|limit| limit.waiting > 0) {
            let mut after = None;
            while waits.len() < most {
                let some = all.line(limit.id, after, SOME.min(most - waits.len())).await?;
                waits.extend(some.iter().map(|place| place.waitpoint));
                after = some.last().copied();
                if some.len() < SOME {
                    break;
                }
            }
        }
        let more = waits.len() >= most || limits.len() >= keys;
        let steering = match how {
            Empty::LetIn => Steering::Complete { payload: None },
            Empty::Cancel => Steering::Cancel,
        };
        let ask = |some: Vec<WaitpointId>| {
            let steering = steering.clone();
            async move {
                let commands = some.into_iter().map(|wait| {
                    let command = Command::Steer(Steer::new(wait.number, steering.clone()));
                    self.command(caller, wait.run, command, None)
                });
                Ok(join_all(commands).await.into_iter().map(|result| result.map(drop)).collect())
            }
        };
        let Tally { done, refused, .. } = Tally::of(&waits, ask).await?;
        Ok(EmptiedBody { done, refused, more })
    }
}
