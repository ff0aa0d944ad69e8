//! `onFailure` and `onCancel`: the end of a run starts a run that calls the handler, in the same decision, so that neither
//! can be there without the other. What the handler gets is as the run was when it ended, bounded; what is too large is
//! left out, and named.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::definition::Hook;
use crate::effect::ChildInput;
use crate::flow::child::{NewChild, ParentWaits, start_child_run};
use crate::history::{Failure, FailureDetail};
use crate::id::RunId;
use crate::json::Json;
use crate::limits;
use crate::run::Run;
use crate::scope;
use crate::turn::Turn;

/// How a run has ended, where a handler may be called for it.
pub(super) enum Ending<'e> {
    Failed(&'e Failure),
    Cancelled { reason: Option<&'e str> },
}

/// Starts the run that calls the handler for this end, if the workflow names one.
pub(super) fn start(turn: &mut Turn<'_>, ending: &Ending<'_>) -> Option<RunId> {
    let hook = match ending {
        Ending::Failed(_) => Hook::OnFailure,
        Ending::Cancelled { .. } => Hook::OnCancel,
    };
    let definition = Arc::clone(turn.run.definition.hook(hook)?);
    let input = input(turn, ending);
    let run_id = RunId::new(turn.now, turn.random.draw_u128());
    let (name, version) = (definition.name().into(), definition.version().into());
    let (input, tags) = (ChildInput::Given(input), Vec::new());
    let child = NewChild { definition: name, version: Some(version), input, tags, started_on: None };
    start_child_run(turn, run_id, ParentWaits::NoLonger, child);
    Some(run_id)
}

fn input(turn: &Turn<'_>, ending: &Ending<'_>) -> Json {
    let run = &*turn.run;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put(
        "run",
        json!({
            "id": run.id,
            "name": run.definition_ref.name,
            "version": run.definition_ref.version,
            "tags": run.tags,
            "createdAt": run.created_at,
            "endedAt": turn.now,
        }),
    );
    let mut left_out = Vec::new();
    let mut bounded = |name: &'static str, bytes: usize, value: &dyn Fn() -> Value| {
        if bytes > limits::HOOK_VALUE_BYTES {
            left_out.push(name);
        } else {
            put(name, value());
        }
    };
    bounded("input", run.input.bytes(), &|| Value::clone(&run.input));
    bounded("state", run.state_bytes, &|| scope::state(run));
    match ending {
        Ending::Failed(failure) => put("error", json!(told(run, failure))),
        Ending::Cancelled { reason } => {
            put("error", Value::Null);
            put("reason", json!(reason));
            put("by", json!(turn.by));
        }
    }
    if !left_out.is_empty() {
        put("leftOut", json!(left_out));
    }
    Json::new(Value::Object(fields))
}

/// The failure with the stack that its step has kept.
fn told(run: &Run, failure: &Failure) -> Failure {
    let step = failure.step.as_deref().and_then(|step| run.step(run.find_step(step)?));
    let kept = step.and_then(|step| step.error.as_ref()?.detail.as_ref()?.stack.clone());
    let detail = failure.detail.clone().map(|detail| {
        let stack = detail.stack.clone().or(kept);
        Box::new(FailureDetail { stack, ..*detail })
    });
    Failure { detail, ..failure.clone() }.shortened(limits::HOOK_MESSAGE_CHARS)
}
