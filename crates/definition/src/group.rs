//! Several waits of one step: how many of them must come, and where the one that comes first leads.

use std::sync::Arc;

use super::{Action, Deadline, Target};

/// Several waits of one step, with one deadline.
#[derive(Debug)]
pub struct Group {
    pub wanted: Wanted,
    /// In the order of their names, which settles ties.
    pub members: Vec<Member>,
    /// Of a group inside another: none. The step has one deadline.
    pub deadline: Deadline,
}

/// How many of several waits must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Any,
    All,
    Some(u32),
}

/// One of several waits.
#[derive(Debug)]
pub struct Member {
    pub name: Arc<str>,
    /// The name of its waitpoint: `paid`, or `both.paid` for a wait of the group `both`.
    pub path: Arc<str>,
    /// A wait without a deadline of its own, or a group.
    pub action: Action,
    /// Where the run goes on if it comes first.
    pub goto: Option<Target>,
}

impl Group {
    /// How many members must come.
    pub fn needed(&self) -> usize {
        match self.wanted {
            Wanted::Any => 1,
            Wanted::All => self.members.len(),
            Wanted::Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        }
    }

    /// As the step's `type` is written in a definition.
    pub fn type_name(&self) -> &'static str {
        match self.wanted {
            Wanted::Any => "wait_any",
            Wanted::All => "wait_all",
            Wanted::Some(_) => "wait_some",
        }
    }

    /// The members that wait themselves, those of groups inside too, in the order of their names.
    pub fn waits(&self) -> Vec<&Member> {
        let mut waits = Vec::new();
        for member in &self.members {
            match &member.action {
                Action::Group(inner) => waits.extend(inner.waits()),
                Action::Work(_)
                | Action::Wait(_)
                | Action::Condition { .. }
                | Action::Signal { .. }
                | Action::Event { .. }
                | Action::Webhook { .. }
                | Action::Approval(_)
                | Action::Respond { .. }
                | Action::Child { .. }
                | Action::Map(_) => waits.push(member),
            }
        }
        waits
    }

    /// The member whose waitpoint has this name.
    pub fn wait(&self, path: &str) -> Option<&Member> {
        self.waits().into_iter().find(|member| *member.path == *path)
    }
}
