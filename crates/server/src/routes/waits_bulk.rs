//! The same steering of every waitpoint that a filter finds, with a dry run that only counts (R9).

use abide_core::command::{Command, Steer, Steering};
use abide_core::id::WaitpointId;
use abide_core::limits;
use abide_core::status::WaitStatus;
use abide_store::{Page, Scope};
use axum::extract::State;
use futures_util::future::join_all;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::waitpoints::{After, FilterBody, present};
use crate::app::Shared;
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, ProblemBody};
use crate::request::{Body, cursor, instant_if_given};
use crate::shape::{Answer, words};

/// Waitpoints that one request reaches; the rest with its cursor.
const BULK_WAITPOINTS: u32 = 10_000;
/// Waitpoints steered at the same time: as many as a round takes well.
const AT_ONCE: usize = 256;
/// Refusals that are listed; the rest is only counted.
const LISTED: usize = 100;
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
    #[schemars(range(min = 1, max = BULK_WAITPOINTS))]
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
    let most = usize::try_from(limit.unwrap_or(BULK_WAITPOINTS)).unwrap_or(usize::MAX);
    let page = Page { after: cursor::read::<After>(LIST, cursor.as_deref())?, limit: most };
    let found = app.engine.read_in(caller.workspace, move |store| store.waitpoints(&filter, &page)).await?;
    let last = found.last().filter(|_| found.len() == most);
    let next_cursor = last.map(|last| cursor::write(LIST, &(last.resume_at, last.id)));
    let mut done =
        BulkDone { dry_run, matched: found.len(), done: 0, refused: 0, refusals: Vec::new(), next_cursor };
    for waits in found.chunks(AT_ONCE).filter(|_| !dry_run) {
        let commands = waits.iter().map(|wait| {
            let (steering, scopes) = (steering.clone(), caller.scopes_to_decide());
            let steer = Steer { number: wait.id.number, steering, scopes };
            app.command(&caller, wait.id.run, Command::Steer(steer), None)
        });
        for (wait, result) in waits.iter().zip(join_all(commands).await) {
            match result {
                Ok(_) => done.done += 1,
                Err(problem) => {
                    done.refused += 1;
                    if done.refusals.len() < LISTED {
                        let problem = problem.into_body();
                        done.refusals.push(Refused { waitpoint_id: wait.id, problem });
                    }
                }
            }
        }
    }
    let detail = json!({
        "action": action, "matched": done.matched, "done": done.done, "refused": done.refused,
        "dryRun": dry_run,
    });
    Ok(noted(detail, Answer::ok(done)))
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
