//! Reads beside the writer: a few connections, on threads that may block. What is small and everybody needs (keys, links,
//! settings) has connections of its own, so that it never waits for a page of somebody's history; those who read pages
//! have their turns fairly by workspace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::error::Error;
use crate::fair::{Fair, Turn};
use crate::known::KnownDefinitions;
use crate::timing::Timing;
use abide_core::id::WorkspaceId;
use abide_core::time::Millis;
use abide_store::{Read, Store};

/// How many reads are under way at the same time. More would only compete for the processor.
const READERS: usize = 4;
/// How many small reads are under way besides.
const SMALL_READERS: usize = 2;

/// The workspace that something is read for; `None` for the server itself.
type Whom = Option<WorkspaceId>;

pub(crate) struct Readers {
    /// The definitions that were read lately.
    pub(crate) known: Arc<KnownDefinitions>,
    pages: Arc<Lane>,
    small: Arc<Lane>,
}

/// Connections that read beside the writer, and how busy they are.
#[derive(Clone, Debug)]
pub struct Pool {
    /// `pages`, for what may be long, or `small`, for a row or two.
    pub name: &'static str,
    /// How many connections the pool has.
    pub connections: usize,
    /// Connections that are read on now.
    pub busy: usize,
    /// Reads that wait for a connection.
    pub waiting: usize,
    /// How long reads waited for a connection.
    pub waited: Timing,
}

struct Lane {
    waited: Mutex<Timing>,
    idle: Mutex<Vec<Box<dyn Read>>>,
    turns: Arc<Fair<Whom>>,
}

/// A reader that is put back before its turn ends, whatever happens.
struct Lent<'r> {
    reader: Option<Box<dyn Read>>,
    lane: &'r Lane,
    _turn: Turn<Whom>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.lane.idle().extend(self.reader.take());
    }
}

impl Readers {
    pub(crate) fn new(store: &dyn Store) -> Result<Readers, Error> {
        let known = Arc::default();
        Ok(Readers { known, pages: Lane::new(store, READERS)?, small: Lane::new(store, SMALL_READERS)? })
    }

    /// Reads what may be long.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        whom: Whom,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.pages.read(whom, read).await
    }

    /// Reads a row or two.
    pub(crate) async fn look_up<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.small.read(None, read).await
    }

    /// How many turns workspaces have in a row.
    pub(crate) fn share(&self, of: &HashMap<WorkspaceId, usize>) {
        self.pages.share(of);
    }

    /// All connections, and how busy they are.
    pub(crate) fn pools(&self) -> Vec<Pool> {
        vec![self.pages.pool("pages"), self.small.pool("small")]
    }

    /// Waits for the reads under way, and closes the connections. Whoever comes later hears that it has stopped.
    pub(crate) async fn close(&self) {
        for lane in [&self.pages, &self.small] {
            lane.turns.close();
            lane.turns.all_given_back().await;
            lane.idle().clear();
        }
    }
}

impl Lane {
    fn new(store: &dyn Store, readers: usize) -> Result<Arc<Lane>, Error> {
        let idle = (0..readers).map(|_| store.reader()).collect::<Result<Vec<_>, _>>()?;
        let waited = Mutex::new(Timing::of_work());
        Ok(Arc::new(Lane { waited, idle: Mutex::new(idle), turns: Fair::in_turn(readers) }))
    }

    fn share(&self, of: &HashMap<WorkspaceId, usize>) {
        let of = of.iter().map(|(workspace, share)| (Some(*workspace), *share));
        self.turns.share(of.collect());
    }

    fn pool(&self, name: &'static str) -> Pool {
        let (busy, waiting) = self.turns.load();
        let waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Pool { name, connections: self.turns.most(), busy, waiting, waited }
    }

    fn was_given(&self, asked: Instant) {
        let waited = Millis(asked.elapsed().as_millis().try_into().unwrap_or(u64::MAX));
        self.waited.lock().unwrap_or_else(PoisonError::into_inner).add(waited);
    }

    async fn read<T: Send + 'static>(
        self: &Arc<Lane>,
        whom: Whom,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let asked = Instant::now();
        let turn = self.turns.turn(whom).await.ok_or(Error::Stopped)?;
        self.was_given(asked);
        let lane = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let reader = lane.idle().pop().expect("there are as many readers as turns");
            let mut lent = Lent { reader: Some(reader), lane: &lane, _turn: turn };
            lent.reader.as_mut().map(|reader| read(&mut **reader)).expect("it is lent until the end")
        });
        match reading.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Error::Stopped),
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Read>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use abide_store::sqlite::Sqlite;

    use super::*;

    #[tokio::test]
    async fn a_read_that_panics_does_not_use_up_a_reader() {
        let directory = tempfile::tempdir().unwrap();
        let store = Sqlite::open(directory.path().join("abide.db")).unwrap();
        let readers = Readers::new(&store).unwrap();
        for _ in 0..20 {
            let failed =
                readers.read(None, |_| -> Result<(), abide_store::Error> { panic!("a defect") }).await;
            assert!(matches!(failed, Err(Error::Stopped)));
        }
        assert!(readers.read(None, |store| store.workspaces()).await.is_ok());
    }
}
