//! Reads beside the writer: a few connections, on threads that may block. What is small and everybody needs (keys, links,
//! settings) has connections of its own, so that it never waits for a page of somebody's history; those who read pages
//! have their turns fairly by workspace.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::fair::{Fair, Turn};
use crate::known::KnownDefinitions;
use abide_core::id::WorkspaceId;
use abide_store::{Read, Store};

/// Reads at the same time. More would only compete for the processor.
const READERS: usize = 4;
/// Small ones besides.
const SMALL_READERS: usize = 2;

/// For whom something is read; `None` for the server itself.
type Whom = Option<WorkspaceId>;

pub(crate) struct Readers {
    /// Definitions that were read of late.
    pub(crate) known: Arc<KnownDefinitions>,
    pages: Arc<Lane>,
    small: Arc<Lane>,
}

struct Lane {
    idle: Mutex<Vec<Box<dyn Read>>>,
    turns: Arc<Fair<Whom>>,
}

/// A reader that goes back before its turn ends, whatever happens.
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

    /// What may be long.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        whom: Whom,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.pages.read(whom, read).await
    }

    /// A row or two.
    pub(crate) async fn look_up<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.small.read(None, read).await
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
        Ok(Arc::new(Lane { idle: Mutex::new(idle), turns: Fair::in_turn(readers) }))
    }

    async fn read<T: Send + 'static>(
        self: &Arc<Lane>,
        whom: Whom,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = self.turns.turn(whom).await.ok_or(Error::Stopped)?;
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
