//! Moving runs to another version of their workflow. What takes a while is done here, beside the writer: the version is
//! looked up and the input checked against its schema. Neither ever changes, so the writer need not ask again.

use std::sync::Arc;

use abide_core::command::{Command, Move, Reply};
use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::moving::{Misfit, MisfitCode};
use abide_core::refusal::Refusal;
use abide_core::run::Run;

use crate::checker;
use crate::engine::Engine;
use crate::error::Error;
use crate::request::Asker;

/// How often a run that changes in the same moment is tried.
const TRIES: usize = 20;

impl Engine {
    /// A stored version of a workflow.
    pub async fn version(
        &self,
        workspace: WorkspaceId,
        name: &str,
        version: &str,
    ) -> Result<Arc<Definition>, Error> {
        let (asked, of) = (name.to_owned(), version.to_owned());
        let stored =
            self.read_in(workspace, move |store| store.definition(workspace, &asked, Some(&of))).await?;
        let unknown =
            || Error::UnknownDefinition { name: name.to_owned(), version: Some(version.to_owned()) };
        let stored = stored.ok_or_else(unknown)?;
        Ok(Arc::new(Definition::from_stored(&stored.document)?.definition))
    }

    /// Whether a run could be moved to a definition as it is: refused as the move would be.
    pub async fn check_move(&self, run: &Run, to: &Arc<Definition>) -> Result<(), Error> {
        let mut misfits = match (Move { to: Arc::clone(to) }).check(run) {
            Ok(()) => Vec::new(),
            Err(Refusal::DoesNotFit(misfits)) => misfits,
            Err(refusal) => return Err(refusal.into()),
        };
        match checker::check_beside(to, &run.input).await {
            Ok(()) => {}
            Err(Error::Refused(Refusal::InvalidInput(errors))) => {
                let places: Vec<String> = errors.iter().map(|(at, why)| format!("{at}: {why}")).collect();
                let reason =
                    format!("its input does not satisfy the new `inputSchema`: {}", places.join("; "));
                misfits.push(Misfit::of_run(MisfitCode::InvalidInput, reason));
            }
            Err(error) => return Err(error),
        }
        if misfits.is_empty() { Ok(()) } else { Err(Refusal::DoesNotFit(misfits).into()) }
    }

    /// Moves a run to another version of its workflow, where its past fits.
    pub async fn move_run(
        &self,
        workspace: WorkspaceId,
        run: RunId,
        to: &Arc<Definition>,
        by: impl Into<Asker>,
    ) -> Result<Reply, Error> {
        let found = self.get_in(workspace, run).await?;
        if found.definition_ref.version.as_ref() != to.version() {
            self.check_move(&found, to).await?;
        }
        let asker = by.into();
        for _ in 1..TRIES {
            let command = Command::Move(Move { to: Arc::clone(to) });
            match self.command_in(workspace, run, command, asker.clone(), None).await {
                Err(Error::Busy(_)) => {}
                answer => return answer,
            }
        }
        Err(Error::Busy(run))
    }
}
