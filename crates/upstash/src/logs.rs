//! The logs of runs that are under way, kept between two looks at them: what was read of a journal once is not read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;

use crate::Gateway;
use crate::log::Log;

/// How much memory logs may take, about. When they take more, all are forgotten: that is cheaper than to remember which
/// were used.
const BYTES: usize = 64 * 1024 * 1024;
/// What a log takes besides its entries, about.
const OVERHEAD: usize = 2 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Logs(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The version of the run that a log is of, and the log.
    logs: HashMap<RunId, (u64, Arc<Log>)>,
    bytes: usize,
}

impl Kept {
    fn take(&mut self, run: RunId) -> Option<(u64, Arc<Log>)> {
        let (seq, log) = self.logs.remove(&run)?;
        self.bytes = self.bytes.saturating_sub(log.bytes() + OVERHEAD);
        Some((seq, log))
    }
}

impl Logs {
    /// Lets go of the log of a run that waits: one that sleeps takes no memory.
    pub(crate) fn forget(&self, run: RunId) {
        drop(self.kept().take(run));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, run: &Run, log: &Arc<Log>) {
        let bytes = log.bytes() + OVERHEAD;
        let mut kept = self.kept();
        drop(kept.take(run.id));
        if run.status.has_ended() || run.status == RunStatus::Waiting || bytes > BYTES {
            return;
        }
        if kept.bytes + bytes > BYTES {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        kept.logs.insert(run.id, (run.seq, Arc::clone(log)));
    }
}

impl Gateway {
    /// The log of a run, as it is delivered; `None` if the run is not a guest's.
    pub(crate) fn log_of(&self, run: &Run) -> Option<Arc<Log>> {
        let known = self.logs.kept().take(run.id);
        let log = match known {
            Some((seq, log)) if seq == run.seq => log,
            Some((seq, log)) if seq < run.seq => {
                Arc::new(Arc::unwrap_or_clone(log).with(run, Some(&self.sealer)))
            }
            // Somebody has looked at a later version already.
            Some(_) | None => Arc::new(Log::opened(run, &self.sealer)?),
        };
        self.logs.keep(run, &log);
        Some(log)
    }
}
