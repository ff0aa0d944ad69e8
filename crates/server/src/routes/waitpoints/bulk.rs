//! The same steering of every waitpoint that a filter finds, with a dry run that only counts (R9).

use abide_core::command::{Command, Steer, Steering};
use abide_core::id::WaitpointId;
use abide_core::limits;
use abide_core::status::WaitStatus;
use abide_engine::stored::{Page, Scope};
use axum::extract::State;
use futures_util::future::join_all;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{After, FilterBody, present};
use crate::app::Shared;
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, ProblemBody};
use crate::request::{Body, cursor, instant_if_given};
use crate::routes::bulk::{REACHED, Tally, reached};
use crate::shape::{Answer, words};

const LIST: &str = "waitpoints-bulk";

pub(super) fn endpoint() -> Endpoint {
    let access = Access::Key(&[Scope::Run]);
    Endpoint::new(Verb::Post, "/waitpoints/bulk", access, "Steer many pending waits by a filter")
        .about(
            "With `dryRun` nothing is changed, and the answer says how many waits the filter finds. An APPROVAL among \
             them needs the right to decide it, as it does alone.",
        )
        .body::<BulkBody>()
        .ok::<BulkDone>("What became of them.")
        .codes(&[Code::BadCursor])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "BulkSteering")]
pub(super) struct BulkBody {
    action: Action,
    /// Only pending waits are found.
    filter: FilterBody,
    /// With `reschedule`: the new instant.
    #[serde(default, deserialize_with = "instant_if_given")]
    resume_at: Option<Timestamp>,
    /// With `complete`: as if this had come.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    payload: Option<Value>,
    /// With `skip`: the output of the steps; null if absent.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    output: Option<Value>,
    /// With `skip`: stands in the histories.
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    reason: Option<String>,
    /// Only count.
    #[serde(default)]
    dry_run: bool,
    /// Waits at most; 10000 if absent.
    #[schemars(range(min = 1, max = REACHED))]
    limit: Option<u32>,
    /// The `nextCursor` of the request before.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum Action {
    Complete,
    Skip,
    Reschedule,
    Timeout,
    Cancel,
}

/// What became of many waits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BulkSteered")]
pub(super) struct BulkDone {
    dry_run: bool,
    /// Waits that the filter found.
    matched: usize,
    done: usize,
    refused: usize,
    /// The first of those that could not be steered, and why.
    refusals: Vec<Refused>,
    /// There may be more: give it as `cursor`.
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RefusedWaitpoint")]
struct Refused {
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
    problem: ProblemBody,
}

pub(super) async fn bulk(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<BulkBody>,
) -> Result<Noted<Answer<BulkDone>>, Problem> {
    let BulkBody { action, filter, resume_at, payload, output, reason, dry_run, limit, cursor } = body;
    let steering = action.steering(resume_at, payload, (output, reason))?;
    let mut filter = filter.of(&caller)?;
    if filter.status.is_some_and(|status| status != WaitStatus::Pending) {
        return Err(Problem::malformed(
            "/filter/status",
            "/filter/status: only PENDING waits can be steered",
        ));
    }
    filter.status = Some(WaitStatus::Pending);
    let most = reached(limit);
    let page = Page { after: cursor::read::<After>(LIST, cursor.as_deref())?, limit: most };
    let found = app.engine.workspace(caller.workspace).waitpoints().list(filter, page).await?;
    let last = found.last().filter(|_| found.len() == most);
    let next_cursor = last.map(|last| cursor::write(LIST, &(last.resume_at, last.id)));
    let matched = found.len();
    let waits: Vec<WaitpointId> = found.into_iter().filter(|_| !dry_run).map(|wait| wait.id).collect();
    let (app, caller, steering) = (&app, &caller, &steering);
    let steer = |some: Vec<WaitpointId>| async move {
        let steered = some.iter().map(|wait| {
            let (steering, scopes) = (steering.clone(), caller.scopes_to_decide());
            let steer = Steer { number: wait.number, steering, scopes };
            app.command(caller, wait.run, Command::Steer(steer), None)
        });
        Ok(join_all(steered).await.into_iter().map(|result| result.map(drop)).collect())
    };
    let Tally { done, refused, refusals } = Tally::of(&waits, steer).await?;
    let detail = json!({
        "action": action, "matched": matched, "done": done, "refused": refused, "dryRun": dry_run,
    });
    let refusals = refusals.into_iter().map(|(waitpoint_id, problem)| Refused { waitpoint_id, problem });
    let refusals = refusals.collect();
    Ok(noted(detail, Answer::ok(BulkDone { dry_run, matched, done, refused, refusals, next_cursor })))
}

impl Action {
    fn steering(
        self,
        resume_at: Option<Timestamp>,
        payload: Option<Value>,
        (output, reason): (Option<Value>, Option<String>),
    ) -> Result<Steering, Problem> {
        let stray = |pointer: &'static str| {
            Err(Problem::malformed(pointer, format!("{pointer}: not with this action")))
        };
        let skips = matches!(self, Action::Skip);
        match (&output, &reason) {
            (Some(output), _) if !skips && !output.is_null() => return stray("/output"),
            (_, Some(_)) if !skips => return stray("/reason"),
            (Some(_) | None, Some(_) | None) => {}
        }
        let payload = payload.filter(|payload| matches!(self, Action::Complete) || !payload.is_null());
        match (self, resume_at, payload) {
            (Action::Reschedule, Some(resume_at), None) => Ok(Steering::Reschedule { resume_at }),
            (Action::Reschedule, None, _) => {
                Err(Problem::malformed("/resumeAt", "/resumeAt: `reschedule` needs the new instant"))
            }
            (Action::Complete, None, payload) => Ok(Steering::Complete { payload: payload.map(Into::into) }),
            (Action::Skip, None, None) => {
                Ok(Steering::Skip { output: output.unwrap_or_default().into(), reason })
            }
            (Action::Timeout, None, None) => Ok(Steering::TimeOut),
            (Action::Cancel, None, None) => Ok(Steering::Cancel),
            (Action::Reschedule | Action::Skip | Action::Timeout | Action::Cancel, _, Some(_)) => {
                stray("/payload")
            }
            (Action::Complete | Action::Skip | Action::Timeout | Action::Cancel, Some(_), _) => {
                stray("/resumeAt")
            }
        }
    }
}
