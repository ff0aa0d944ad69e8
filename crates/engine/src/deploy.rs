//! Deploying: a definition is stored under its name and version, and never changes.

mod development;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use abide_core::definition::{Definition, Rejected, StartedAtOnce};
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_core::problem::{Code, Problem};
use abide_store::{Batch, EventStartWrite, NewDefinition, Read, Store};
use jiff::Timestamp;

use crate::error::Error;

pub use development::{Developed, Versions};

/// A definition that is to be stored.
pub struct Deploy {
    /// The workspace that the definition is stored in.
    pub workspace: WorkspaceId,
    /// The definition, compiled and checked.
    pub definition: Arc<Definition>,
    /// The id that the definition gets if it is not stored yet.
    pub id: DefinitionId,
    /// The instant that is stored as the time of the deployment.
    pub now: Timestamp,
}

/// A definition that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deployed {
    /// The id under which the definition is stored.
    pub id: DefinitionId,
    /// Whether the definition was stored now; `false` when the very same was there already.
    pub created: bool,
}

/// How many definitions are followed to see whether a workflow starts itself.
const LOOKED_AT: usize = 1_000;

/// Refuses a workflow that comes back to itself without a wait: each of its runs would start the next at once. The
/// way back may lead over workflows that were deployed before.
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
    /// Stores the definition, unless the very same is there. When it returns, the definition is on disk.
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
                let started_by: BTreeSet<&str> = definition.start_on.iter().map(|on| &*on.event_id).collect();
                let event_starts = started_by.into_iter().map(|event_id| EventStartWrite {
                    workspace,
                    event_id,
                    workflow: name,
                    refused: None,
                });
                let event_starts = event_starts.collect();
                match store.commit(&Batch { definitions: vec![new], event_starts, ..Batch::default() }) {
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
