//! Tasks of one name, taken from each workflow in turn: one with many leaves room for the others.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use abide_core::id::{RunId, StepAddress};

/// The free tasks of one queue; those of one workflow leave in the order of their tickets.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    by_definition: BTreeMap<Arc<str>, BTreeMap<u64, (RunId, StepAddress)>>,
    turns: VecDeque<Arc<str>>,
}

impl FairQueue {
    pub(crate) fn push(&mut self, definition: &Arc<str>, ticket: u64, task: (RunId, StepAddress)) {
        let tasks = self.by_definition.entry(Arc::clone(definition)).or_default();
        if tasks.is_empty() {
            self.turns.push_back(Arc::clone(definition));
        }
        tasks.insert(ticket, task);
    }

    /// The next task, of the workflow whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<(RunId, StepAddress)> {
        let definition = self.turns.pop_front()?;
        let tasks = self.by_definition.get_mut(&definition)?;
        let task = tasks.pop_first();
        if tasks.is_empty() {
            self.by_definition.remove(&definition);
        } else {
            self.turns.push_back(definition);
        }
        task.map(|(_, task)| task)
    }

    /// Takes one out that is not wanted any more.
    pub(crate) fn remove(&mut self, definition: &Arc<str>, ticket: u64) {
        let Some(tasks) = self.by_definition.get_mut(definition) else { return };
        tasks.remove(&ticket);
        if tasks.is_empty() {
            self.by_definition.remove(definition);
            self.turns.retain(|turn| turn != definition);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_definition.values().map(BTreeMap::len).sum()
    }

    /// The first task of each workflow.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = (RunId, StepAddress)> {
        self.by_definition.values().filter_map(|tasks| tasks.first_key_value().map(|(_, task)| *task))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflows_take_turns_and_what_is_removed_leaves_nothing_behind() {
        let (many, one): (Arc<str>, Arc<str>) = ("many".into(), "one".into());
        let mut queue = FairQueue::default();
        for ticket in 0..4 {
            queue.push(&many, ticket, (RunId(ticket.into()), StepAddress::step(0)));
        }
        queue.push(&one, 4, (RunId(4), StepAddress::step(0)));
        queue.remove(&many, 1);
        let order: Vec<u128> = std::iter::from_fn(|| queue.pop()).map(|(run, _)| run.0).collect();
        assert_eq!(order, [0, 4, 2, 3]);
        assert!(queue.is_empty());
        queue.push(&one, 5, (RunId(5), StepAddress::step(0)));
        queue.remove(&one, 5);
        assert!(queue.is_empty() && queue.by_definition.is_empty());
    }
}
