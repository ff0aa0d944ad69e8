//! Deploying: a workflow is stored under its name and version, once and for all.

mod development;

use std::collections::HashSet;
use std::sync::Arc;

use abide_core::definition::{Definition, Rejected, StartedAtOnce};
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_core::problem::{Code, Problem};
use abide_store::{Batch, NewDefinition, Read, Store};
use jiff::Timestamp;

use crate::error::Error;

pub use development::{Developed, Versions};

/// A definition that is to be stored.
pub struct Deploy {
    pub workspace: WorkspaceId,
    pub definition: Arc<Definition>,
    /// If it is not there yet.
    pub id: DefinitionId,
    pub now: Timestamp,
}

/// A workflow that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deployed {
    pub id: DefinitionId,
    /// False when the very same was there already.
    pub created: bool,
}

/// Definitions that are looked at to see whether one comes back to itself.
const LOOKED_AT: usize = 1_000;

/// Refuses a workflow that comes back to itself without a wait: each of its runs would start the next at once. The way
/// back may lead over workflows that were there before.
pub(crate) fn check_cycle(
    store: &mut dyn Read,
    workspace: WorkspaceId,
    definition: &Definition,
) -> Result<(), Error> {
    let (name, version) = (definition.name(), definition.version());
    let is_back = |to: &StartedAtOnce| {
        &*to.definition == name && to.version.as_deref().is_none_or(|wanted| wanted == version)
    };
    let mut seen: HashSet<(Arc<str>, Option<Arc<str>>)> = HashSet::new();
    // What is started, by which of our own steps it began, and the way from there.
    let mut ways: Vec<(StartedAtOnce, String, Vec<Arc<str>>)> =
        definition.started_at_once().into_iter().map(|to| (to.clone(), to.pointer, Vec::new())).collect();
    while let Some((to, pointer, mut way)) = ways.pop() {
        if is_back(&to) {
            let over: String = way.iter().map(|name| format!("`{name}` → ")).collect();
            let message = format!(
                "the workflow comes back to itself without a wait (`{name}` → {over}`{name}`): each run would start the \
                 next in the same moment, without end"
            );
            let expected =
                "a step that takes time before it: a `wait`, a `task`, a wait for an event or a person";
            let problem = Problem::new(pointer, Code::Cycle, message).expected(expected);
            return Err(Rejected { problems: vec![problem], warnings: Vec::new() }.into());
        }
        let key = (Arc::clone(&to.definition), to.version.clone());
        if seen.len() >= LOOKED_AT || !seen.insert(key) {
            continue;
        }
        let stored = store.definition(workspace, &to.definition, to.version.as_deref())?;
        let Some(next) = stored.and_then(|stored| Definition::from_json(&stored.document).ok()) else {
            continue;
        };
        way.push(Arc::clone(&to.definition));
        let further = next.definition.started_at_once();
        ways.extend(further.into_iter().map(|further| (further, pointer.clone(), way.clone())));
    }
    Ok(())
}

impl Deploy {
    /// Stores it, unless the very same is there. When it returns, it is on disk.
    pub fn perform(self, store: &mut dyn Store) -> Result<Deployed, Error> {
        let Deploy { workspace, definition, id, now } = self;
        let (name, version) = (definition.name(), definition.version());
        let document = serde_json::to_string(&definition.document).expect("a document is JSON");
        match store.definition(workspace, name, Some(version))? {
            Some(known) if known.document == document => Ok(Deployed { id: known.id, created: false }),
            Some(_) => Err(Error::DefinitionExists { name: name.to_owned(), version: version.to_owned() }),
            None => {
                let (document, awaits) = (&*document, &*definition.awaits());
                let created_at = now;
                let new = NewDefinition { id, workspace, name, version, document, awaits, created_at };
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
