//! What can be asked of a run that exists: signals, pause, unpause, cancel, retry, pins.

use abide_core::command::{Command, PinTasks, Reply, SendSignal};
use abide_core::id::{RunId, WaitpointId};
use abide_core::limits;
use abide_core::run::Pin;
use abide_core::status::RunStatus;
use abide_engine::stored::Scope;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::moves;
use super::runs::bulk;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::idempotency::KEY_CHARS;
use crate::request::{Body, Id, IdempotencyKey, Name};
use crate::shape::{Answer, words};

const RUN: Access = Access::Key(&[Scope::Run]);

pub(super) fn routes() -> Group {
    let verb = |path, summary| {
        Endpoint::new(Verb::Post, path, RUN, summary)
            .idempotent()
            .ok::<CommandedBody>("Done, or so already.")
            .codes(&[Code::UnknownRun, Code::RunEnded])
    };
    Group::new("commands", "What can be asked of a run.")
        .add(
            Endpoint::new(Verb::Post, "/workflow-runs/{id}/resume", RUN, "Send a signal to a run")
                .about(
                    "It makes no difference whether the run waits for it already: it is kept until it does.",
                )
                .body::<SignalBody>()
                .idempotent()
                .ok::<SignalledBody>("Taken or kept.")
                .codes(&[Code::UnknownRun, Code::RunEnded, Code::LimitExceeded, Code::PayloadTooLarge]),
            signal,
        )
        .add(verb("/workflow-runs/{id}/cancel", "Cancel a run").optional_body::<CancelBody>(), cancel)
        .add(verb("/workflow-runs/{id}/pause", "Pause a run at its next step boundary"), pause)
        .add(verb("/workflow-runs/{id}/unpause", "Let a paused run go on"), unpause)
        .add(
            verb("/workflow-runs/{id}/retry", "Try the failed steps of a failed run again")
                .codes(&[Code::RunNotFailed]),
            retry,
        )
        .add(
            verb("/workflow-runs/{id}/pin", "Pin the tasks of a run to another build")
                .about(
                    "Of tasks under way whose step says `pinToBuild` and that a worker has taken: workers of this build are \
                     given them from now on, and no others. A worker that has one keeps it until it lets go.",
                )
                .body::<PinBody>()
                .codes(&[Code::LimitExceeded, Code::Malformed]),
            pin,
        )
        .add(
            verb("/workflow-runs/{id}/unpin", "Let workers of any build have the tasks of a run")
                .about("Of tasks under way that are pinned to a build. They are not pinned again.")
                .optional_body::<UnpinBody>(),
            unpin,
        )
        .add(moves::endpoint(), moves::move_run)
        .add(bulk::endpoint(), bulk::bulk)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SendSignal")]
struct SignalBody {
    signal_type: Name,
    /// Null if absent.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    payload: Value,
    /// As the header `Idempotency-Key`.
    #[schemars(length(min = 1, max = KEY_CHARS))]
    idempotency_key: Option<String>,
}

/// What became of a signal.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Signalled")]
struct SignalledBody {
    #[schemars(with = "String")]
    run_id: RunId,
    /// The wait that took it at once; null: it is kept for the next one.
    #[schemars(with = "Option<String>")]
    taken_by: Option<WaitpointId>,
}

async fn signal(
    State(app): State<Shared>,
    caller: Caller,
    Id(run_id): Id<RunId>,
    key: IdempotencyKey,
    Body(body): Body<SignalBody>,
) -> Result<Answer<SignalledBody>, Problem> {
    let SignalBody { signal_type, payload, idempotency_key } = body;
    let key = key.or(idempotency_key)?;
    let signal = SendSignal { signal_type: signal_type.into(), payload: payload.into() };
    let taken_by = match app.command(&caller, run_id, Command::SendSignal(signal), key).await? {
        Reply::Signalled { taken_by } => taken_by,
        Reply::Done
        | Reply::Started(_)
        | Reply::Collected(_)
        | Reply::Unchanged
        | Reply::Waitpoint(_)
        | Reply::Repeated(_)
        | Reply::Leased { .. }
        | Reply::EventSent { .. }
        | Reply::Voted { .. } => None,
    };
    Ok(Answer::ok(SignalledBody { run_id, taken_by }))
}

/// A run that did as it was told.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CommandedRun")]
struct CommandedBody {
    #[schemars(with = "String")]
    id: RunId,
    #[schemars(schema_with = "words::run_status")]
    status: RunStatus,
    /// A pause is asked for, or in effect.
    pausing: bool,
    /// False: what was asked for was so already.
    changed: bool,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CancelRun")]
struct CancelBody {
    /// Stands in the history.
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    reason: Option<String>,
}

async fn cancel(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
    Body(CancelBody { reason }): Body<CancelBody>,
) -> Result<Answer<CommandedBody>, Problem> {
    app.commanded(&caller, run, Command::Cancel { reason }, key).await
}

async fn pause(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
) -> Result<Answer<CommandedBody>, Problem> {
    app.commanded(&caller, run, Command::Pause, key).await
}

async fn unpause(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
) -> Result<Answer<CommandedBody>, Problem> {
    app.commanded(&caller, run, Command::Unpause, key).await
}

async fn retry(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
) -> Result<Answer<CommandedBody>, Problem> {
    app.commanded(&caller, run, Command::Retry, key).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PinRun")]
struct PinBody {
    build: Name,
    /// Only tasks of this handler; all if absent.
    handler: Option<Name>,
}

async fn pin(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
    Body(PinBody { build, handler }): Body<PinBody>,
) -> Result<Answer<CommandedBody>, Problem> {
    let pin = PinTasks { handler: handler.map(Into::into), pin: Pin::To(build.into()) };
    app.commanded(&caller, run, Command::PinTasks(pin), key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UnpinRun")]
struct UnpinBody {
    /// Only tasks of this handler; all if absent.
    handler: Option<Name>,
}

async fn unpin(
    State(app): State<Shared>,
    caller: Caller,
    Id(run): Id<RunId>,
    key: IdempotencyKey,
    Body(UnpinBody { handler }): Body<UnpinBody>,
) -> Result<Answer<CommandedBody>, Problem> {
    let pin = PinTasks { handler: handler.map(Into::into), pin: Pin::Lifted };
    app.commanded(&caller, run, Command::PinTasks(pin), key).await
}

impl App {
    async fn commanded(
        &self,
        caller: &Caller,
        id: RunId,
        command: Command,
        key: IdempotencyKey,
    ) -> Result<Answer<CommandedBody>, Problem> {
        let reply = self.command(caller, id, command, key.only()).await?;
        let run = self.run(caller, id).await?;
        let changed = reply != Reply::Unchanged;
        Ok(Answer::ok(CommandedBody { id, status: run.status, pausing: run.pausing, changed }))
    }
}
