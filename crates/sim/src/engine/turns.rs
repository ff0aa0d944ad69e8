//! Turns in a line, as a rule: where those in line ask for keys of another limit, too, no key is let in twice while another one
//! waits and is not asked once (R23).

use std::collections::{BTreeMap, BTreeSet};

use abide_core::id::{LimitId, RunId};
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Waitpoint;
use jiff::Timestamp;

use super::store::State;
use crate::world::Check;

/// A line, and those in it that ask for the same key of another limit.
type Group = (LimitId, Option<LimitId>);
/// A wait for room, with how often it went from line to line: who went to another line and came back has had a turn.
type Wait = (RunId, u32, u16);

/// Who stood in line before a commit, and who was let in while others waited.
#[derive(Debug, Default)]
pub(super) struct Turns {
    standing: BTreeMap<Group, BTreeSet<Wait>>,
    /// How often each group was let in under a limit since this one waits for its turn.
    let_in: BTreeMap<Group, BTreeMap<Option<LimitId>, u32>>,
}

fn standing(state: &State) -> BTreeMap<Group, BTreeSet<Wait>> {
    let mut groups: BTreeMap<Group, BTreeSet<Wait>> = BTreeMap::new();
    for row in state.runs.values() {
        for wait in row.run.open_waitpoints() {
            let Some(request) = wait.listens_for.capacity() else { continue };
            let Some(ask) = request.awaited() else { continue };
            let group = request.group_in(usize::from(request.line));
            groups.entry((ask.limit, group)).or_default().insert((row.run.id, wait.number, request.moves));
        }
    }
    groups
}

impl Turns {
    /// Looks at who stands in line before a commit.
    pub(super) fn before(&mut self, state: &State) {
        self.standing = standing(state);
    }

    /// Looks at who was let in by it.
    pub(super) fn check(&mut self, state: &State) -> Check {
        let after = standing(state);
        let wait_of =
            |(run, number, _): &Wait| state.runs.get(run).and_then(|row| row.run.waitpoint(*number));
        let was_standing = std::mem::take(&mut self.standing);
        // Who is in no line any more, or had a turn, begins anew.
        self.let_in.retain(|group, _| {
            let (before, after) = (was_standing.get(group), after.get(group));
            before.zip(after).is_some_and(|(before, after)| before.is_subset(after))
        });
        let stood = was_standing.values().flatten().filter_map(|wait| Some((wait, wait_of(wait)?)));
        for (wait, resolved) in stood.filter(|(_, wait)| is_let_in(wait)) {
            let Some(request) = resolved.listens_for.capacity() else { continue };
            let Some(at) = resolved.resolved_at else { continue };
            for (line, ask) in request.wanted() {
                let own = request.group_in(line);
                for (group, others) in waits_on(&was_standing, &after, ask.limit, own) {
                    if !others.iter().filter_map(wait_of).any(|wait| may_be_let_in(wait, at)) {
                        continue;
                    }
                    let times = self.let_in.entry(group).or_default().entry(own).or_default();
                    *times += 1;
                    if *times > 1 {
                        let (run, name) = (wait.0, ask.described());
                        return Err(format!(
                            "R23: {run} was let in under `{name}`, whose key had its turn since {others:?} wait"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The other groups of a line that waited before a commit and after it, and of which nobody had a turn.
fn waits_on<'s>(
    before: &'s BTreeMap<Group, BTreeSet<Wait>>,
    after: &'s BTreeMap<Group, BTreeSet<Wait>>,
    limit: LimitId,
    own: Option<LimitId>,
) -> impl Iterator<Item = (Group, &'s BTreeSet<Wait>)> {
    let of_line = before.iter().filter(move |((line, group), _)| *line == limit && *group != own);
    of_line.filter_map(|(group, before)| {
        after.get(group).filter(|after| before.is_subset(after)).map(|_| (*group, before))
    })
}

fn is_let_in(wait: &Waitpoint) -> bool {
    let by_engine = wait.resolved_by.as_ref().is_some_and(|by| &*by.0 == "engine");
    by_engine && wait.status == WaitStatus::Completed
}

fn may_be_let_in(wait: &Waitpoint, at: Timestamp) -> bool {
    wait.is_pending() && !wait.is_due(at)
}
