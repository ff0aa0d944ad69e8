//! A store that a test looks into: what was committed and in which order. It can be held in the middle of a commit,
//! and told to fail.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::id::{OccurrenceId, RunId, WaitpointId};
use abide_core::status::RunStatus;
use abide_store::sqlite::Sqlite;
use abide_store::{
    Batch, Error, Page, RunFilter, RunSummary, Store, StoredDefinition, StoredRun, StoredTimer, Waiter,
    WaitpointFilter, WaitpointSummary,
};
use jiff::Timestamp;

/// The test's end of it. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<(Mutex<Seen>, Condvar)>);

#[derive(Default)]
struct Seen {
    commits: Vec<Vec<RunId>>,
    timer_reads: usize,
    failing_commits: usize,
    held: bool,
    at_gate: bool,
    permits: usize,
}

impl Watch {
    pub(crate) fn store(&self, inner: Sqlite) -> Box<dyn Store> {
        Box::new(Watched { inner, watch: self.clone() })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen());
        self.0.1.notify_all();
    }

    /// The runs of each commit since the last time this was asked, in their order.
    pub(crate) fn commits(&self) -> Vec<Vec<RunId>> {
        std::mem::take(&mut self.seen().commits)
    }

    pub(crate) fn timer_reads(&self) -> usize {
        self.seen().timer_reads
    }

    /// From here on no commit goes through by itself.
    pub(crate) fn hold(&self) {
        self.change(|seen| seen.held = true);
    }

    /// Waits until a commit is held, after the last one that was let through.
    pub(crate) fn wait_for_commit(&self) {
        let waits = |seen: &mut Seen| !seen.at_gate || seen.permits > 0;
        drop(self.0.1.wait_while(self.seen(), waits).unwrap());
    }

    pub(crate) fn let_one_through(&self) {
        self.change(|seen| seen.permits += 1);
    }

    pub(crate) fn let_all_through(&self) {
        self.change(|seen| seen.held = false);
    }

    pub(crate) fn fail_commits(&self, count: usize) {
        self.change(|seen| seen.failing_commits = count);
    }

    fn pass_gate(&self) {
        let mut seen = self.seen();
        seen.at_gate = true;
        self.0.1.notify_all();
        seen = self.0.1.wait_while(seen, |seen| seen.held && seen.permits == 0).unwrap();
        seen.permits = seen.permits.saturating_sub(1);
        seen.at_gate = false;
    }
}

struct Watched {
    inner: Sqlite,
    watch: Watch,
}

fn fails(left: &mut usize) -> Result<(), Error> {
    if *left == 0 {
        return Ok(());
    }
    *left -= 1;
    Err(Error::Unavailable("it was told to fail".to_owned()))
}

impl Store for Watched {
    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.watch.pass_gate();
        fails(&mut self.watch.seen().failing_commits)?;
        self.inner.commit(batch)?;
        self.watch.seen().commits.push(batch.runs.iter().map(|write| write.run.id).collect());
        Ok(())
    }

    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        Store::load(&mut self.inner, run)
    }

    fn definition(&mut self, name: &str, version: Option<&str>) -> Result<Option<StoredDefinition>, Error> {
        self.inner.definition(name, version)
    }

    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        self.watch.seen().timer_reads += 1;
        self.inner.timers(after, until, limit)
    }

    fn waiters(
        &mut self,
        event_id: &str,
        after: Option<WaitpointId>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        self.inner.waiters(event_id, after, limit)
    }

    fn occurrences(
        &mut self,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error> {
        self.inner.occurrences(event_id, since, after, limit)
    }

    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        self.inner.remembered(key)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        self.inner.runs(filter, page)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        self.inner.waitpoints(filter, page)
    }

    fn counts(&mut self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.inner.counts()
    }

    fn forget_events(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.inner.forget_events(before, limit)
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.inner.forget_runs(before, limit)
    }
}
