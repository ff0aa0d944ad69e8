//! A `notify` step, which the engine does itself: the event and the step's completion are one decision.

use abide_core::command::{Command, TaskCompleted, TaskFailed};
use abide_core::definition::document::FanOut;
use abide_core::history::Failure;
use abide_core::id::{RunId, StepAddress};
use abide_core::json::Json;
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Actor;

use crate::error::Error;
use crate::round::Decider;
use crate::send_event::SendEvent;
use crate::tasks::TaskKey;

/// A task whose input cannot be rendered when it is handed out has failed.
pub(crate) fn not_rendered(at: StepAddress, lease_epoch: u32, failure: Failure) -> Command {
    let Failure { code, message, step: _, detail } = failure;
    let (code, retryable, retry_after) = (Some(code), false, None);
    Command::TaskFailed(TaskFailed {
        at,
        lease_epoch,
        message,
        code,
        retryable,
        retry_after,
        detail,
        mismatch: None,
    })
}

pub(crate) fn perform(round: &mut Decider<'_>, task: TaskKey) {
    let TaskKey { run, at, lease_epoch } = task;
    let Ok((workspace, Some(asked))) = round.run(run).map(|run| (run.workspace, run.task(at))) else {
        return;
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(failure) => {
            return drop(round.decide(
                run,
                not_rendered(at, lease_epoch, failure),
                Actor::new("engine"),
                None,
            ));
        }
    };
    // Another delivery of it is somebody else's, and the event is sent once.
    if asked.lease_epoch != lease_epoch {
        return;
    }
    let text = |key: &str| asked.input.get(key).and_then(|value| value.as_str().map(str::to_owned));
    let only = text("runId").map(|id| id.parse::<RunId>());
    let notified = match only {
        Some(Err(error)) => {
            Err(Error::Refused(Refusal::Malformed { pointer: "/runId", message: error.to_string() }))
        }
        Some(Ok(_)) | None => round.send_event(&SendEvent {
            workspace,
            event_id: text("eventId").unwrap_or_default().into(),
            data: asked.input.get("data").cloned().unwrap_or_default().into(),
            only: only.and_then(Result::ok),
            fan_out: if text("delivery").as_deref() == Some("one") { FanOut::One } else { FanOut::All },
            key: None,
            traceparent: asked.traceparent,
            dry_run: false,
            sender: None,
            from: Some(run),
        }),
    };
    let command = match notified {
        Ok(notified) => {
            let mut output = serde_json::json!({ "id": notified.id, "waiters": notified.waiters.len() });
            if notified.delivering {
                output["delivering"] = true.into();
            }
            let output = Json::from(output);
            Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates: None })
        }
        Err(error) => {
            let (message, code) = (error.to_string(), Some("NOTIFY_FAILED".into()));
            Command::TaskFailed(TaskFailed {
                at,
                lease_epoch,
                message,
                code,
                retryable: false,
                retry_after: None,
                detail: None,
                mismatch: None,
            })
        }
    };
    drop(round.decide(run, command, Actor::new("engine"), None));
}
