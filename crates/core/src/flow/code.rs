//! Code that does not fit what its handler has recorded (R20): the step waits for other code. Nothing that was recorded is
//! lost, and no wait of the handler ends or begins for it.

use std::sync::Arc;

use crate::command::Mismatch;
use crate::definition::OnCodeChange;
use crate::effect::AfterCommit;
use crate::flow::wait::{NewWait, new_waitpoint, next_number};
use crate::history::{Change, WakeOn, shortened};
use crate::id::{StepAddress, WaitpointId};
use crate::limits;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::turn::Turn;
use crate::waitpoint::{CODE, CodeMismatch, Kind, ListensFor};

/// The mismatch on which a task waits for other code: code of none of the builds that are known not to fit. `None`
/// where the step fails for it.
pub(crate) fn code_to_wait_for(run: &Run, at: StepAddress, mismatch: Mismatch) -> Option<CodeMismatch> {
    let work = run.defined(at).action.work().filter(|work| work.on_code_change == OnCodeChange::Wait)?;
    let task = run.step(at).and_then(|step| step.task.as_deref());
    let build: Arc<str> = task.and_then(|task| task.build.clone()).unwrap_or_else(|| "".into());
    let known = task.and_then(|task| task.unfit.as_deref()).map_or(&[][..], |unfit| &unfit.builds);
    let mut builds: Vec<Arc<str>> = known.iter().filter(|known| **known != build).cloned().collect();
    builds.push(build);
    builds.drain(..builds.len().saturating_sub(limits::UNFIT_BUILDS));
    let Mismatch { recorded, found } = mismatch;
    let [recorded, found] = [recorded, found].map(|side| shortened(&side, limits::MISMATCH_CHARS));
    let pinned_to = task.and_then(|task| task.pinned_to()).cloned();
    Some(CodeMismatch { handler: Arc::clone(&work.handler), builds, pinned_to, recorded, found })
}

/// Opens the wait for other code: it ends when a worker comes whose build is not known to mismatch, or an operator
/// decides.
pub(crate) fn wait_for_code(
    turn: &mut Turn<'_>,
    at: StepAddress,
    mismatch: CodeMismatch,
) -> Result<WaitpointId, Refusal> {
    let number = next_number(turn.run);
    let listens_for = ListensFor::Code(mismatch);
    let wait = NewWait { kind: Kind::Code, resume_at: None, listens_for, response: None };
    let opens = new_waitpoint(turn, Some(at), format!("{CODE}{number}").into(), wait);
    turn.emit(Change::StepWaiting { at, opens: vec![opens], awaits: vec![number], wake: WakeOn::All })?;
    turn.after_commit(AfterCommit::WantCode { at });
    Ok(turn.run.waitpoint_id(number))
}
