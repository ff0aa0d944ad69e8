//! Pending waits, steered: moved, ended as if what they wait for had come, skipped, timed out, cancelled (R9).

use abide_core::command::{Command, Steer, Steering};
use abide_core::id::WaitpointId;
use abide_core::limits;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::request::{Body, Id, IdempotencyKey, instant};
use crate::shape::waitpoint::WaitpointBody;
use crate::shape::{Answer, words};

impl App {
    async fn steer(
        &self,
        caller: &Caller,
        id: WaitpointId,
        steering: Steering,
        key: IdempotencyKey,
    ) -> Result<Answer<WaitpointBody>, Problem> {
        let scopes = caller.scopes_to_decide();
        let command = Command::Steer(Steer { number: id.number, steering, scopes });
        self.command(caller, id.run, command, key.only()).await?;
        self.waitpoint_body(caller, id).await.map(Answer::ok)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "RescheduleWaitpoint")]
pub(super) struct RescheduleBody {
    #[serde(deserialize_with = "instant")]
    resume_at: Timestamp,
}

pub(super) async fn reschedule(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(RescheduleBody { resume_at }): Body<RescheduleBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Reschedule { resume_at }, key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CompleteWaitpoint")]
pub(super) struct CompleteBody {
    /// As if this had come.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    payload: Option<Value>,
}

/// A payload of `null` is not the same as none.
pub(in crate::routes) fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

pub(super) async fn complete(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(CompleteBody { payload }): Body<CompleteBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Complete { payload: payload.map(Into::into) }, key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SkipWaitpoint")]
pub(super) struct SkipBody {
    /// The step's output; null if absent.
    #[schemars(schema_with = "words::any")]
    output: Value,
    /// Stands in the history.
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    reason: Option<String>,
}

pub(super) async fn skip(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(SkipBody { output, reason }): Body<SkipBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Skip { output: output.into(), reason }, key).await
}

pub(super) async fn time_out(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::TimeOut, key).await
}

pub(super) async fn cancel(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Cancel, key).await
}
