//! Workflows that are not stored: their names begin with `$`, and what they are follows from the name.

use super::hook::Hook;
use super::{Definition, Rejected};

/// What the names begin with that the engine gives: to workflows, limits and waits of its own.
pub(super) const OWN: char = '$';

/// Whether a name is the engine's own: nobody else gives such a name to a workflow, a limit or a wait.
pub fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// Where the definition of a workflow of the engine's own comes from.
#[derive(Debug)]
pub enum Derived<'n> {
    /// A definition that follows from its name and version.
    Whole(Box<Result<Definition, Rejected>>),
    /// A hook that is compiled with the workflow of this name, of the same version: [`Definition::hook`].
    Hook(Hook, &'n str),
}

impl Definition {
    /// What a workflow is that nobody has deployed; `None` for all others.
    pub fn derived<'n>(name: &'n str, version: Option<&str>) -> Option<Derived<'n>> {
        if let Some((hook, of)) = Hook::of(name) {
            return Some(Derived::Hook(hook, of));
        }
        let whole = Definition::of_tool(name).or_else(|| Definition::of_http_call(name, version))?;
        Some(Derived::Whole(Box::new(whole)))
    }

    /// Whether a run of this workflow is a part of the step that started it: a tool, or a call that the engine makes.
    pub fn is_part_of_a_step(name: &str) -> bool {
        is_own(name) && Hook::of(name).is_none()
    }
}
