//! Deploying: a workflow is stored under its name and version, once and for all.

use std::sync::Arc;

use abide_core::definition::Definition;
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_store::{Batch, NewDefinition, Store};
use jiff::Timestamp;

use crate::error::Error;

pub(crate) struct Deploy {
    pub(crate) workspace: WorkspaceId,
    pub(crate) definition: Arc<Definition>,
    /// If it is not there yet.
    pub(crate) id: DefinitionId,
    pub(crate) now: Timestamp,
}

/// A workflow that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deployed {
    pub id: DefinitionId,
    /// False when the very same was there already.
    pub created: bool,
}

impl Deploy {
    pub(crate) fn perform(self, store: &mut dyn Store) -> Result<Deployed, Error> {
        let Deploy { workspace, definition, id, now } = self;
        let (name, version) = (definition.name(), definition.version());
        let document = serde_json::to_string(&definition.document).expect("a document is JSON");
        match store.definition(workspace, name, Some(version))? {
            Some(known) if known.document == document => Ok(Deployed { id: known.id, created: false }),
            Some(_) => Err(Error::DefinitionExists { name: name.to_owned(), version: version.to_owned() }),
            None => {
                let new =
                    NewDefinition { id, workspace, name, version, document: &document, created_at: now };
                match store.commit(&Batch { definitions: vec![new], ..Batch::default() }) {
                    Ok(()) => Ok(Deployed { id, created: true }),
                    // Somebody else was quicker.
                    Err(abide_store::Error::DefinitionExists { id: theirs, .. }) => {
                        match store.definition_by_id(theirs)? {
                            Some(known) if known.document == document => {
                                Ok(Deployed { id: known.id, created: false })
                            }
                            Some(_) | None => {
                                let (name, version) = (name.to_owned(), version.to_owned());
                                Err(Error::DefinitionExists { name, version })
                            }
                        }
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}
