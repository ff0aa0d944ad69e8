//! Watches the writer from outside: what it is deciding and for how long, whether rounds end, whether they can be
//! committed. It is asked whether the engine can be relied on, and answers without asking the writer, which may be stuck.
//!
//! What takes long to decide is noted in the store while it is decided. If the process dies in its middle, the next one
//! knows what it was at; after [a few](DEATHS) deaths that run or schedule is held, and everybody else goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use abide_core::id::RunId;
use abide_store::Owner;
use abide_store::cluster::NodeId;

use crate::committer::Job;

/// What is decided for so long is noted.
const LONG: Duration = Duration::from_millis(250);
/// After so many deaths in its middle it is held.
pub(crate) const DEATHS: u32 = 3;
/// A pass or a commit that has not ended for so long is told.
const STUCK: Duration = Duration::from_secs(10);
/// How often the watcher looks at the writer.
const LOOK: Duration = Duration::from_millis(100);
/// While the store cannot be written, whether it can again is tried this often.
const PROBE: Duration = Duration::from_secs(1);
/// The setting that is written to try.
const PROBED: &str = "probe";

/// Shared by the writer, the committers, the engine's handles and the thread that watches.
#[derive(Debug)]
pub(crate) struct Watch {
    begun: Instant,
    /// What is being decided: its id in two halves, and a number that changes with it; odd while there is something.
    high: AtomicU64,
    low: AtomicU64,
    turn: AtomicU64,
    /// Milliseconds since the beginning; 0: there is none.
    pass_since: AtomicU64,
    commit_since: AtomicU64,
    is_over: AtomicBool,
    /// Why what there is to do cannot be done, since when.
    troubles: Mutex<Troubles>,
}

#[derive(Clone, Debug, Default)]
struct Troubles {
    commit: Option<String>,
    timers: Option<String>,
    backlog: Option<String>,
    under_way: Option<String>,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch {
            begun: Instant::now(),
            high: AtomicU64::new(0),
            low: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            pass_since: AtomicU64::new(0),
            commit_since: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            troubles: Mutex::default(),
        }
    }
}

impl Watch {
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }

    /// From here on this is decided.
    pub(crate) fn at(&self, id: RunId) {
        let (high, low) = ((id.0 >> 64) as u64, id.0 as u64);
        self.high.store(high, Ordering::Relaxed);
        self.low.store(low, Ordering::Relaxed);
        self.turn.store((self.turn.load(Ordering::Relaxed) + 2) | 1, Ordering::Release);
    }

    pub(crate) fn pass_begins(&self) {
        self.pass_since.store(self.now(), Ordering::Relaxed);
    }

    pub(crate) fn pass_ends(&self) {
        self.pass_since.store(0, Ordering::Relaxed);
        self.turn.store((self.turn.load(Ordering::Relaxed) | 1) + 1, Ordering::Release);
    }

    pub(crate) fn commit_begins(&self) {
        self.commit_since.store(self.now(), Ordering::Relaxed);
    }

    pub(crate) fn commit_ends(&self, failed: Option<String>) {
        self.commit_since.store(0, Ordering::Relaxed);
        self.set(|troubles| &mut troubles.commit, failed);
    }

    pub(crate) fn timers_loaded(&self, failed: Option<String>) {
        self.set(|troubles| &mut troubles.timers, failed);
    }

    pub(crate) fn backlog_loaded(&self, failed: Option<String>) {
        self.set(|troubles| &mut troubles.backlog, failed);
    }

    /// The runs that were under way when the engine was opened were looked up, or could not be.
    pub(crate) fn runs_looked_up(&self, failed: Option<String>) {
        self.set(|troubles| &mut troubles.under_way, failed);
    }

    fn set(&self, which: impl FnOnce(&mut Troubles) -> &mut Option<String>, to: Option<String>) {
        *which(&mut self.troubles.lock().unwrap_or_else(PoisonError::into_inner)) = to;
    }

    fn troubles(&self) -> Troubles {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nobody works any more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn deciding(&self) -> (u64, Option<Owner>) {
        let turn = self.turn.load(Ordering::Acquire);
        let (high, low) = (self.high.load(Ordering::Relaxed), self.low.load(Ordering::Relaxed));
        let id = RunId(u128::from(high) << 64 | u128::from(low));
        (turn, (turn % 2 == 1).then_some(Owner::of(id)))
    }

    fn lasts(&self, since: &AtomicU64) -> Option<Duration> {
        let since = since.load(Ordering::Relaxed);
        (since > 0).then(|| Duration::from_millis(self.now().saturating_sub(since)))
    }

    /// Why the engine cannot be relied on, if so.
    pub(crate) fn trouble(&self) -> Option<String> {
        let is_stuck = |since: &AtomicU64| self.lasts(since).filter(|lasts| *lasts >= STUCK);
        if let Some(lasts) = is_stuck(&self.pass_since) {
            let at = self.deciding().1.map(|owner| format!("; it is at {owner}")).unwrap_or_default();
            return Some(format!("one pass of the engine has lasted for {} s{at}", lasts.as_secs()));
        }
        if let Some(lasts) = is_stuck(&self.commit_since) {
            return Some(format!("a commit has not ended for {} s", lasts.as_secs()));
        }
        let Troubles { commit, timers, backlog, under_way } = self.troubles();
        let commit = commit.map(|why| format!("the last round could not be committed: {why}"));
        let due = timers.or(backlog).map(|why| format!("what is due cannot be read: {why}"));
        let under_way = under_way.map(|why| format!("what was under way cannot be read: {why}"));
        commit.or(due).or(under_way)
    }
}

/// The thread that looks.
pub(crate) struct Watchdog {
    watch: Arc<Watch>,
    thread: JoinHandle<()>,
}

impl Watchdog {
    pub(crate) fn start(
        watch: Arc<Watch>,
        jobs: mpsc::Sender<Job>,
        node: Option<NodeId>,
    ) -> std::io::Result<Watchdog> {
        let looked_at = Arc::clone(&watch);
        let thread = std::thread::Builder::new()
            .name("abide-watch".to_owned())
            .spawn(move || look(&looked_at, &jobs, node))?;
        Ok(Watchdog { watch, thread })
    }

    pub(crate) fn stop(self) {
        self.watch.end();
        // Nothing is left to be told if it panicked.
        drop(self.thread.join());
    }
}

fn look(watch: &Arc<Watch>, jobs: &mpsc::Sender<Job>, node: Option<NodeId>) {
    let (mut seen, mut since) = (0, Instant::now());
    let mut noted = false;
    let mut next_probe = Instant::now();
    while !watch.is_over.load(Ordering::Relaxed) {
        let (turn, owner) = watch.deciding();
        if turn != seen {
            (seen, since) = (turn, Instant::now());
            if std::mem::take(&mut noted) {
                note(jobs, node, None);
            }
        } else if let Some(owner) = owner.filter(|_| !noted && since.elapsed() >= LONG) {
            noted = true;
            tracing::warn!(%owner, "takes long to decide");
            note(jobs, node, Some(owner));
        }
        if watch.troubles().commit.is_some() && next_probe <= Instant::now() {
            next_probe = Instant::now() + PROBE;
            probe(watch, jobs);
        }
        std::thread::sleep(LOOK);
    }
}

fn note(jobs: &mpsc::Sender<Job>, node: Option<NodeId>, owner: Option<Owner>) {
    // The committer may have gone.
    let _ = jobs.send(Job::Write(Box::new(move |store| {
        if let Err(error) = store.note_suspect(node, owner) {
            tracing::warn!(%error, "what takes long to decide could not be noted");
        }
    })));
}

/// Whether the store can be written again: with nobody sent here, nobody else would find out.
fn probe(watch: &Arc<Watch>, jobs: &mpsc::Sender<Job>) {
    let watch = Arc::clone(watch);
    let _ = jobs.send(Job::Write(Box::new(move |store| {
        let tried = watch.now().to_string();
        if store.put_setting(PROBED, tried.as_bytes()).is_ok() {
            watch.commit_ends(None);
        }
    })));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_is_known_while_it_is() {
        let watch = Watch::default();
        assert_eq!(watch.deciding().1, None);
        watch.pass_begins();
        let mut turns = Vec::new();
        for id in [RunId(1), RunId(1), RunId(u128::MAX)] {
            watch.at(id);
            let (turn, owner) = watch.deciding();
            assert_eq!(owner, Some(Owner::of(id)));
            assert!(!turns.contains(&turn), "another turn, also of the same run");
            turns.push(turn);
        }
        watch.pass_ends();
        assert_eq!(watch.deciding().1, None);
        assert_eq!(watch.trouble(), None);
    }

    #[test]
    fn trouble_is_told_until_it_is_over() {
        let watch = Watch::default();
        watch.commit_begins();
        watch.commit_ends(Some("the disk is full".to_owned()));
        assert!(watch.trouble().unwrap().contains("the disk is full"));
        watch.timers_loaded(Some("damaged".to_owned()));
        watch.commit_ends(None);
        assert!(watch.trouble().unwrap().contains("what is due cannot be read"));
        watch.timers_loaded(None);
        assert_eq!(watch.trouble(), None);
        watch.backlog_loaded(Some("damaged".to_owned()));
        assert!(watch.trouble().is_some());
        watch.backlog_loaded(None);
        watch.runs_looked_up(Some("damaged".to_owned()));
        assert!(watch.trouble().unwrap().contains("what was under way cannot be read"));
        watch.runs_looked_up(None);
        assert_eq!(watch.trouble(), None);
    }
}
