//! Reads beside the writer: a few connections, on threads that may block.

use std::sync::{Arc, Mutex, PoisonError};

use abide_store::{Read, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// Reads at the same time. More would only compete for the processor.
const READERS: usize = 4;

pub(crate) struct Readers {
    idle: Mutex<Vec<Box<dyn Read>>>,
    turns: Arc<Semaphore>,
}

/// A reader that goes back before its turn ends, whatever happens.
struct Lent<'r> {
    reader: Option<Box<dyn Read>>,
    readers: &'r Readers,
    _turn: OwnedSemaphorePermit,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.readers.idle().extend(self.reader.take());
    }
}

impl Readers {
    pub(crate) fn new(store: &dyn Store) -> Result<Readers, Error> {
        let idle = (0..READERS).map(|_| store.reader()).collect::<Result<Vec<_>, _>>()?;
        Ok(Readers { idle: Mutex::new(idle), turns: Arc::new(Semaphore::new(READERS)) })
    }

    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Readers>,
        read: impl FnOnce(&mut dyn Read) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Error::Stopped)?;
        let readers = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let reader = readers.idle().pop().expect("there are as many readers as turns");
            let mut lent = Lent { reader: Some(reader), readers: &readers, _turn: turn };
            lent.reader.as_mut().map(|reader| read(&mut **reader)).expect("it is lent until the end")
        });
        match reading.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Error::Stopped),
        }
    }

    /// Waits for the reads under way, and closes the connections. Whoever comes later hears that it has stopped.
    pub(crate) async fn close(&self) {
        let turns = u32::try_from(READERS).expect("few readers");
        if let Ok(all) = self.turns.acquire_many(turns).await {
            self.idle().clear();
            self.turns.close();
            drop(all);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Read>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
