//! Durable code: what was recorded stays, code that does not fit it is not tried again, and progress renews the budget.

use std::sync::Arc;

use abide_core::definition::{Action, Executor};
use abide_core::history::JournalResult;
use abide_core::id::StepAddress;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::task::JournalWhat;
use abide_core::waitpoint::{Kind, Waitpoint};

use super::Watched;
use crate::world::Check;

impl Watched {
    /// R21: a handler that records something new has all its attempts again.
    fn makes_progress(&mut self, run: &Run, at: StepAddress) {
        let is_handler =
            matches!(&run.defined(at).action, Action::Work(work) if work.executor == Executor::Handler);
        if let Some((_, since_progress)) = self.failed_attempts.get_mut(&at).filter(|_| is_handler) {
            *since_progress = 0;
        }
    }

    pub(super) fn records(&mut self, run: &Run, at: StepAddress, entries: &[JournalResult]) -> Check {
        self.makes_progress(run, at);
        for JournalResult { name, result } in entries {
            let before = self.recorded.entry(at).or_default().insert(name.clone(), result.clone());
            if before.is_some_and(|before| before != *result) {
                return Err(format!("R19: {}: `{name}` was recorded as something else", run.id));
            }
        }
        Ok(())
    }

    pub(super) fn opens_code(&mut self, run: &Run, wait: &Waitpoint) {
        let Some(at) = wait.at else { return };
        if let Some(mismatch) = wait.code_mismatch() {
            self.unfit.insert(at, mismatch.builds.clone());
        } else if wait.kind != Kind::Retry {
            self.makes_progress(run, at);
        }
    }

    /// R20: a worker ends a wait for other code only with code that has not been tried; an operator lets any try.
    pub(super) fn resolves_code(
        &mut self,
        run: &Run,
        number: u32,
        status: WaitStatus,
        payload: Option<&Json>,
    ) -> Check {
        let wait = run.waitpoint(number).ok_or("a wait that is not there")?;
        let (Some(at), Some(mismatch)) = (wait.at, wait.code_mismatch()) else { return Ok(()) };
        let build = payload.and_then(|payload| payload["build"].as_str().map(str::to_owned));
        match (build, status) {
            (Some(build), _) if mismatch.excludes(&build) => {
                Err(format!("R20: {}: {build} was tried before", run.waitpoint_id(number)))
            }
            (None, WaitStatus::Completed) if Self::is_skipped(payload) => Ok(()),
            (None, WaitStatus::Completed) => {
                self.unfit.remove(&at);
                Ok(())
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    pub(super) fn pins(&mut self, at: StepAddress, build: &Arc<str>) -> Check {
        match self.pinned.insert(at, Some(Arc::clone(build))) {
            Some(Some(before)) if before == *build => Err(format!("{at:?} was pinned to {build} twice")),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn unpins(&mut self, at: StepAddress) -> Check {
        match self.pinned.insert(at, None) {
            Some(Some(_)) => Ok(()),
            Some(None) | None => Err(format!("{at:?} was unpinned, and was not pinned")),
        }
    }

    /// A step that an operator completes has waited for other code.
    fn is_skipped(payload: Option<&Json>) -> bool {
        payload.is_some_and(|payload| payload["skipped"] == true)
    }

    /// A task in somebody's hands: whose code may fit, and with everything that was recorded.
    pub(super) fn takes(&self, run: &Run, at: StepAddress, build: Option<&str>) -> Check {
        if let Some(Some(pinned)) = self.pinned.get(&at)
            && Some(&**pinned) != build
        {
            return Err(format!("{}: {build:?} at {at:?}, which is pinned to {pinned}", run.id));
        }
        let build = build.unwrap_or("");
        if self.unfit.get(&at).is_some_and(|builds| builds.iter().any(|unfit| **unfit == *build)) {
            return Err(format!("R20: {}: `{build}` at {at:?}, which does not fit", run.id));
        }
        let Some(Ok(task)) = run.task(at) else { return Ok(()) };
        for (name, result) in self.recorded.get(&at).into_iter().flatten() {
            let kept = task.journal.iter().find(|item| item.name == *name).map(|item| &item.what);
            if kept != Some(&JournalWhat::Result(result.clone())) {
                return Err(format!("R19: {}: `{name}` at {at:?} was lost", run.id));
            }
        }
        Ok(())
    }
}
