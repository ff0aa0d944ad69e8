//! What somebody at the terminal has chosen, and the keys by which they do.

use super::snapshot::Snapshot;

/// What the table below the figures lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Due,
    Tasks,
    Workflows,
    Workers,
}

impl Tab {
    pub(super) const ALL: [Tab; 4] = [Tab::Due, Tab::Tasks, Tab::Workflows, Tab::Workers];

    pub(super) fn name(self) -> &'static str {
        match self {
            Tab::Due => "Due",
            Tab::Tasks => "Tasks",
            Tab::Workflows => "Workflows",
            Tab::Workers => "Workers",
        }
    }

    /// By what it can be sorted, the first of which it is.
    pub(super) fn sorts(self) -> &'static [&'static str] {
        match self {
            Tab::Due => &["due", "kind", "workflow"],
            Tab::Tasks => &["oldest", "ready", "leased", "handler"],
            Tab::Workflows => &["started", "failed", "workflow"],
            Tab::Workers => &["tasks", "seen", "worker"],
        }
    }

    fn index(self) -> usize {
        match self {
            Tab::Due => 0,
            Tab::Tasks => 1,
            Tab::Workflows => 2,
            Tab::Workers => 3,
        }
    }

    /// The one so many further on; after the last comes the first.
    pub(super) fn after(self, by: usize) -> Tab {
        Tab::ALL[(self.index() + by) % Tab::ALL.len()]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    Pause,
    Sort,
    Next,
    Back,
    Pick(Tab),
}

/// The keys in what a terminal sent; others mean nothing.
pub(super) fn keys(mut sent: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while !sent.is_empty() {
        let (key, length) = match sent {
            [0x1b, b'[', b'Z' | b'D', ..] => (Some(Key::Back), 3),
            [0x1b, b'[', b'C', ..] => (Some(Key::Next), 3),
            [0x1b, b'[', _, ..] => (None, 3),
            [b'q' | b'Q' | 0x03 | 0x1b, ..] => (Some(Key::Quit), 1),
            [b'p' | b' ', ..] => (Some(Key::Pause), 1),
            [b's', ..] => (Some(Key::Sort), 1),
            [b'\t', ..] => (Some(Key::Next), 1),
            [digit @ b'1'..=b'4', ..] => (Some(Key::Pick(Tab::ALL[usize::from(digit - b'1')])), 1),
            [_, ..] | [] => (None, 1),
        };
        keys.extend(key);
        sent = &sent[length..];
    }
    keys
}

#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) tab: Tab,
    /// Of each tab, by which of its sorts.
    sorts: [usize; Tab::ALL.len()],
    pub(super) is_paused: bool,
}

impl View {
    pub(super) fn new() -> View {
        View { tab: Tab::Due, sorts: [0; Tab::ALL.len()], is_paused: false }
    }

    pub(super) fn sort(&self, tab: Tab) -> &'static str {
        tab.sorts()[self.sorts[tab.index()]]
    }

    /// Does what a key asks for; false when that is to quit.
    pub(super) fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Quit => return false,
            Key::Pause => self.is_paused = !self.is_paused,
            Key::Sort => {
                let sort = &mut self.sorts[self.tab.index()];
                *sort = (*sort + 1) % self.tab.sorts().len();
            }
            Key::Next => self.tab = self.tab.after(1),
            Key::Back => self.tab = self.tab.after(Tab::ALL.len() - 1),
            Key::Pick(tab) => self.tab = tab,
        }
        true
    }

    /// Sorts what a snapshot lists. What is equal stays in the order in which the server gave it.
    pub(super) fn arrange(&self, snapshot: &mut Snapshot) {
        match self.sort(Tab::Due) {
            "kind" => snapshot.due.sort_by(|one, other| one.kind.cmp(&other.kind)),
            "workflow" => snapshot.due.sort_by(|one, other| one.workflow.cmp(&other.workflow)),
            _ => snapshot.due.sort_by_key(|due| (due.resume_at.is_none(), due.resume_at)),
        }
        match self.sort(Tab::Tasks) {
            "ready" => snapshot.tasks.sort_by(|one, other| other.ready.total_cmp(&one.ready)),
            "leased" => snapshot.tasks.sort_by(|one, other| other.leased.total_cmp(&one.leased)),
            "handler" => snapshot.tasks.sort_by(|one, other| one.handler.cmp(&other.handler)),
            _ => snapshot
                .tasks
                .sort_by(|one, other| other.oldest_ready_seconds.total_cmp(&one.oldest_ready_seconds)),
        }
        match self.sort(Tab::Workflows) {
            "failed" => snapshot.workflows.sort_by(|one, other| other.failed.total_cmp(&one.failed)),
            "workflow" => snapshot.workflows.sort_by(|one, other| one.workflow.cmp(&other.workflow)),
            _ => snapshot
                .workflows
                .sort_by(|one, other| other.started_per_second.total_cmp(&one.started_per_second)),
        }
        match self.sort(Tab::Workers) {
            "seen" => snapshot.workers.sort_by_key(|worker| std::cmp::Reverse(worker.seen_at)),
            "worker" => snapshot.workers.sort_by(|one, other| one.id.cmp(&other.id)),
            _ => snapshot.workers.sort_by_key(|worker| std::cmp::Reverse(worker.tasks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_letters_and_the_sequences_of_terminals() {
        assert_eq!(keys(b"s\tp"), [Key::Sort, Key::Next, Key::Pause]);
        assert_eq!(keys(b"\x1b[Z\x1b[C\x1b[A2"), [Key::Back, Key::Next, Key::Pick(Tab::Tasks)]);
        assert_eq!(keys(b"\x03"), [Key::Quit]);
        assert_eq!(keys("ä".as_bytes()), []);
    }

    #[test]
    fn each_tab_keeps_its_own_sort_and_comes_round() {
        let mut view = View::new();
        assert!(view.press(Key::Sort));
        assert_eq!(view.sort(Tab::Due), "kind");
        assert!((0..4).all(|_| view.press(Key::Next)));
        assert_eq!((view.tab, view.sort(Tab::Due), view.sort(Tab::Tasks)), (Tab::Due, "kind", "oldest"));
        view.press(Key::Back);
        assert_eq!(view.tab, Tab::Workers);
        assert!(!view.press(Key::Quit));
    }
}
