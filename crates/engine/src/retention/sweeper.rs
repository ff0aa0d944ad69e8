//! The sweeper: looks for what may be forgotten, and has it removed. It holds nothing that is not in the store but how
//! far it has come; another that begins anew comes to the same.

use std::sync::{Arc, Weak};
use std::time::Instant;

use abide_core::id::RunId;
use abide_store::{OfRun, OldEvent, Read, Store};
use jiff::Timestamp;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::events::Events;
use super::keys::Keys;
use super::{ANEW, LATER, Retention, SOON, SWEEP, line};
use crate::clock::Clock;
use crate::error::Error;
use crate::readers::Readers;
use crate::request::{Control, Request};

pub(crate) struct Sweeper {
    retention: Retention,
    clock: Arc<dyn Clock>,
    readers: Weak<Readers>,
    queue: mpsc::WeakSender<Request>,
    progress: Mutex<Progress>,
}

struct Progress {
    events: Events,
    keys: Keys,
    /// Runs of which more is to be removed than at once.
    left: OfRuns,
    began: Instant,
}

impl Progress {
    fn new() -> Progress {
        Progress { events: Events::new(), keys: Keys::new(), left: Vec::new(), began: Instant::now() }
    }
}

/// What a look came to.
#[derive(Default)]
struct Found {
    events: Vec<OldEvent>,
    keys: Vec<String>,
    of_runs: OfRuns,
    there_is_more: bool,
}

/// Runs to which something belongs that is to be removed.
type OfRuns = Vec<(OfRun, Vec<RunId>)>;

impl Sweeper {
    pub(crate) fn new(
        retention: Retention,
        clock: Arc<dyn Clock>,
        readers: &Arc<Readers>,
        queue: mpsc::WeakSender<Request>,
    ) -> Sweeper {
        let (readers, progress) = (Arc::downgrade(readers), Mutex::new(Progress::new()));
        Sweeper { retention, clock, readers, queue, progress }
    }

    /// Sweeps until the engine stops.
    pub(crate) async fn live(self: Arc<Sweeper>) {
        loop {
            let pause = match self.sweep().await {
                Ok(there_is_more) => {
                    if there_is_more {
                        SOON
                    } else {
                        LATER
                    }
                }
                Err(Error::Stopped) => return,
                Err(error) => {
                    tracing::error!(%error, "what is old could not be removed");
                    LATER
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Forgets a little. Says whether there was more.
    pub(crate) async fn sweep(&self) -> Result<bool, Error> {
        let mut progress = self.progress.lock().await;
        if progress.began.elapsed() > ANEW {
            progress.began = Instant::now();
            progress.events.begin_anew();
            progress.keys.begin_anew();
        }
        let swept = self.sweep_on(&mut progress).await;
        if swept.is_err() {
            // What was found and not removed would never be found again.
            *progress = Progress::new();
        }
        swept
    }

    async fn sweep_on(&self, progress: &mut Progress) -> Result<bool, Error> {
        let (retention, now) = (self.retention, self.clock.now());
        let readers = self.readers.upgrade().ok_or(Error::Stopped)?;
        let left = std::mem::take(&mut progress.left);
        let found = if left.is_empty() {
            let Progress { mut events, mut keys, left, began } = std::mem::replace(progress, Progress::new());
            let looked = readers.read(None, move |store| {
                let found = look(store, &retention, now, &mut events, &mut keys)?;
                Ok((found, events, keys))
            });
            let (found, events, keys) = looked.await?;
            *progress = Progress { events, keys, left, began };
            found
        } else {
            Found { of_runs: left, there_is_more: true, ..Found::default() }
        };
        drop(readers);
        let queue = self.queue.upgrade().ok_or(Error::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let write = Box::new(move |store: &mut dyn Store| {
            drop(answer.send(forget(store, &retention, now, found).map_err(Error::from)));
        });
        queue.send(Control::Write(write).into()).await.map_err(|_| Error::Stopped)?;
        drop(queue);
        let (there_is_more, left) = answered.await.map_err(|_| Error::Stopped)??;
        progress.left = left;
        Ok(there_is_more || !progress.left.is_empty())
    }
}

fn look(
    store: &mut dyn Read,
    retention: &Retention,
    now: Timestamp,
    events: &mut Events,
    keys: &mut Keys,
) -> Result<Found, abide_store::Error> {
    let mut found = Found::default();
    if let Some(kept) = retention.unclaimed_events() {
        let looked = events.look(store, now, kept, retention.events_at_most)?;
        found.events = looked.events;
        found.of_runs.push((OfRun::Events, looked.of_runs));
        found.there_is_more |= looked.there_is_more;
    }
    if let Some(line) = line(retention.keys, now) {
        let looked = keys.look(store, line)?;
        found.keys = looked.keys;
        found.of_runs.push((OfRun::Keys, looked.of_runs));
        found.there_is_more |= looked.there_is_more;
    }
    Ok(found)
}

/// What the writer does of it: it only removes. Says whether there was more, and of which runs something is left.
fn forget(
    store: &mut dyn Store,
    retention: &Retention,
    now: Timestamp,
    found: Found,
) -> Result<(bool, OfRuns), abide_store::Error> {
    let Found { events, keys, of_runs, mut there_is_more } = found;
    store.fold()?;
    if let Some(before) = line(retention.runs, now) {
        there_is_more |= store.forget_runs(before, SWEEP)? == SWEEP;
    }
    if let Some(before) = line(retention.deliveries, now) {
        there_is_more |= store.forget_deliveries(before, SWEEP)? == SWEEP;
    }
    if !events.is_empty() {
        store.forget_events(&events)?;
    }
    if !keys.is_empty() {
        store.forget_keys(&keys)?;
    }
    let mut left = OfRuns::new();
    for (what, runs) in of_runs.into_iter().filter(|(_, runs)| !runs.is_empty()) {
        if store.forget_of(&runs, what, SWEEP)? == SWEEP {
            left.push((what, runs));
        }
    }
    Ok((there_is_more, left))
}
