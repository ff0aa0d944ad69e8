//! Moving runs to another version of their workflow. What takes a while is done here, beside the writer: the version is
//! looked up and the input checked against its schema. Neither ever changes, so the writer need not ask again.

use std::sync::Arc;

use abide_core::command::{Command, Move, Reply};
use abide_core::definition::Definition;
use abide_core::moving::{Misfit, MisfitCode};
use abide_core::refusal::Refusal;
use abide_core::run::Run;

use crate::checker;
use crate::engine::RunHandle;
use crate::error::Error;

/// How often a run that changes in the same moment is tried.
const TRIES: usize = 20;

/// Whether a run could be moved to a definition as it is: refused as the move would be.
pub(crate) async fn check_move(run: &Run, to: &Arc<Definition>) -> Result<(), Error> {
    let mut misfits = match (Move { to: Arc::clone(to) }).check(run) {
        Ok(()) => Vec::new(),
        Err(Refusal::DoesNotFit(misfits)) => misfits,
        Err(refusal) => return Err(refusal.into()),
    };
    match checker::check_beside(to, &run.input).await {
        Ok(()) => {}
        Err(Error::Refused(Refusal::InvalidInput(errors))) => {
            let places: Vec<String> = errors.iter().map(|(at, why)| format!("{at}: {why}")).collect();
            let reason = format!("its input does not satisfy the new `inputSchema`: {}", places.join("; "));
            misfits.push(Misfit::of_run(MisfitCode::InvalidInput, reason));
        }
        Err(error) => return Err(error),
    }
    if misfits.is_empty() { Ok(()) } else { Err(Refusal::DoesNotFit(misfits).into()) }
}

/// Moves a run to another version of its workflow, where its past fits.
pub(crate) async fn move_run(run: RunHandle<'_>, to: &Arc<Definition>) -> Result<Reply, Error> {
    let found = run.clone().get().await?;
    if found.definition_ref.version.as_ref() != to.version() {
        check_move(&found, to).await?;
    }
    for _ in 1..TRIES {
        let command = Command::Move(Move { to: Arc::clone(to) });
        match run.clone().command(command).await {
            Err(Error::Busy(_)) => {}
            answer => return answer,
        }
    }
    Err(Error::Busy(run.id()))
}
