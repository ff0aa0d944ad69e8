//! The clock of a server that was started with one for tests: days pass when somebody says so.

use abide_engine::ClockStatus;
use abide_engine::stored::Scope;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Body, instant_if_given, length};
use crate::shape::Answer;

pub(super) fn routes() -> Group {
    Group::new("test", "Time, in tests: with `abide serve --test-clock` it stands still until it is moved.")
        .add(
            Endpoint::new(Verb::Get, "/test/clock", Access::Key(&[Scope::Read]), "Get the time of a test clock")
                .about("The answer comes when all that can be done at this time is done.")
                .ok::<ClockBody>("The time, and what it would bring next.")
                .codes(&[Code::NoTestClock]),
            get,
        )
        .add(
            Endpoint::new(Verb::Post, "/test/clock", Access::Key(&[Scope::Admin]), "Let time pass")
                .about(
                    "Up to the given instant, or to the next timer if that is due before: what is due happens in its \
                     order, and workers can have their say in between. Ask again until `now` is the `target`. \
                     Without an instant, up to the next timer. Time does not go back. It is the same for all \
                     workspaces: only an admin of the default one may move it.",
                )
                .body::<MoveBody>()
                .ok::<ClockBody>("The time, once all that can be done then is done.")
                .codes(&[Code::NoTestClock]),
            advance,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "MoveClock")]
struct MoveBody {
    /// At most to this instant.
    #[serde(default, deserialize_with = "instant_if_given")]
    to: Option<Timestamp>,
    /// At most by this time.
    advance_ms: Option<u64>,
    /// `advanceMs` as text: `2d 4h`.
    advance: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TestClock")]
struct ClockBody {
    now: Timestamp,
    /// Where it was to go. It is there when `now` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Timestamp>,
    /// When the next timer is due; null: time alone brings nothing more.
    next_timer: Option<Timestamp>,
    /// Tasks that workers have, or could take. While there are some, time should not pass.
    tasks: usize,
}

async fn get(State(app): State<Shared>) -> Result<Answer<ClockBody>, Problem> {
    answer(app.engine.clock().clock_status().await?, None)
}

async fn advance(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<MoveBody>,
) -> Result<Answer<ClockBody>, Problem> {
    // It is everybody's time.
    caller.need_default_workspace()?;
    let by = length("advance", body.advance_ms, body.advance.as_deref())?;
    let to = match (body.to, by) {
        (Some(_), Some(_)) => {
            return Err(Problem::malformed("/to", "/to: give `to` or `advance`, not both"));
        }
        (to, None) => to,
        (None, Some(by)) => Some(by.after(app.engine.now())),
    };
    answer(app.engine.clock().move_to(to).await?, to)
}

fn answer(
    clock_status: Option<ClockStatus>,
    target: Option<Timestamp>,
) -> Result<Answer<ClockBody>, Problem> {
    let Some(ClockStatus { now, next_timer, tasks }) = clock_status else {
        let detail = "the server goes by the machine's clock; start it with `--test-clock` to set the time";
        return Err(Problem::new(Code::NoTestClock, detail));
    };
    Ok(Answer::ok(ClockBody { now, target, next_timer, tasks }))
}
