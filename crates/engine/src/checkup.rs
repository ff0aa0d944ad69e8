//! The checkup: reads all runs and schedules in the background and compares the rows of their waits with their
//! histories, so that damage is found before somebody needs what is damaged. After a process that did not close its
//! store it begins at once, and otherwise once a day, at a pace that nobody notices. What is damaged is held.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use abide_core::time::Millis;
use abide_store::{Held, Read, Store};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;
use crate::doctor::{Finding, examine_beside};
use crate::error::Error;
use crate::holds::{ENGINE, workspace_of};
use crate::request::{Control, Request};

/// The interval from the beginning of one checkup to that of the next.
const EVERY: Millis = Millis::from_days(1);
/// How often a node asks whether the checkup of another node is over.
const ASK: Duration = Duration::from_secs(60);
/// How many times as long as it works the checkup rests.
const REST: u32 = 50;
/// How many times as long as it works the checkup rests after a crash, when something may be damaged.
const REST_AFTER_A_CRASH: u32 = 4;
/// The longest sleep of a checkup, so that it notices soon when it is to stop.
const NAP: Duration = Duration::from_millis(50);
/// The store's setting that says when the last checkup began: of nodes that share a store, one does it.
const SETTING: &str = "checkup";

/// The thread of the checkup.
pub(crate) struct Checkup {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Checkup {
    pub(crate) fn start(
        store: &dyn Store,
        clock: Arc<dyn Clock>,
        queue: mpsc::WeakSender<Request>,
    ) -> Result<Checkup, Error> {
        let crashed = if store.ended_well() { None } else { Some(store.reader()?) };
        let is_over = Arc::new(AtomicBool::new(false));
        let looker = Looker { clock, queue, is_over: Arc::clone(&is_over) };
        let thread = std::thread::Builder::new().name("abide-checkup".to_owned());
        let thread = thread.spawn(move || looker.live(crashed));
        let thread = thread.map_err(|error| Error::NotStarted(error.to_string()))?;
        Ok(Checkup { is_over, thread })
    }

    pub(crate) fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        // Nothing is left to be told if it panicked.
        drop(self.thread.join());
    }
}

struct Looker {
    clock: Arc<dyn Clock>,
    queue: mpsc::WeakSender<Request>,
    is_over: Arc<AtomicBool>,
}

impl Looker {
    fn live(self, crashed: Option<Box<dyn Read>>) {
        if let Some(reader) = crashed {
            tracing::info!("the store was not closed by whoever had it before; all of it is looked at");
            self.look(reader, REST_AFTER_A_CRASH);
        }
        // It may have been told to stop while it looked.
        while !self.is_over() {
            std::thread::park_timeout(ASK);
            if !self.is_over()
                && let Some(reader) = self.begin_if_it_is_time()
            {
                self.look(reader, REST);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// A connection to read with, if the last checkup is a day old.
    fn begin_if_it_is_time(&self) -> Option<Box<dyn Read>> {
        let (begin, begun) = std::sync::mpsc::channel();
        let now = self.clock.now();
        self.send(Control::Write(Box::new(move |store| {
            if is_time(store, now).unwrap_or(false)
                && let Ok(reader) = store.reader()
            {
                // It may have stopped meanwhile.
                let _ = begin.send(reader);
            }
        })));
        begun.recv().ok()
    }

    fn look(&self, mut reader: Box<dyn Read>, rest: u32) {
        let mut begun = Instant::now();
        let looked_at = examine_beside(&mut *reader, &mut |_| {
            let until = Instant::now() + begun.elapsed() * rest;
            while Instant::now() < until && !self.is_over() {
                std::thread::park_timeout(NAP);
            }
            begun = Instant::now();
            !self.is_over()
        });
        match looked_at {
            Ok((examined, findings)) if findings.is_empty() => {
                tracing::info!(runs = examined.runs, schedules = examined.schedules, "nothing is damaged");
            }
            Ok((_, findings)) => {
                findings.into_iter().for_each(|finding| self.hold(&mut *reader, finding));
            }
            Err(error) => tracing::warn!(%error, "a look at everything came to no end"),
        }
    }

    fn hold(&self, reader: &mut dyn Read, Finding { owner, what: reason }: Finding) {
        let Some(owner) = owner else {
            tracing::error!(reason, "damaged; `abide doctor` tells all of it");
            return;
        };
        let workspace = workspace_of(reader, owner);
        tracing::error!(%owner, reason, "held; nothing is decided about it until it is released");
        let held = Held { owner, workspace, at: self.clock.now(), by: ENGINE.to_owned(), reason };
        self.send(Control::Hold { held: Box::new(held), answer: oneshot::channel().0 });
    }

    fn send(&self, request: impl Into<Request>) {
        if let Some(queue) = self.queue.upgrade() {
            // The engine may be gone, and then there is nobody to tell.
            drop(queue.blocking_send(request.into()));
        }
    }
}

/// Whether the last checkup is a day old; then the next one begins now. A store that has seen none is new.
fn is_time(store: &mut dyn Store, now: Timestamp) -> Result<bool, abide_store::Error> {
    let was = store.setting(SETTING)?;
    let last = was.as_deref().and_then(|was| std::str::from_utf8(was).ok()?.parse::<Timestamp>().ok());
    let is_time = last.is_some_and(|last| EVERY.after(last) <= now);
    if last.is_some() && !is_time {
        return Ok(false);
    }
    // Of several nodes one is first.
    Ok(store.change_setting(SETTING, was.as_deref(), now.to_string().as_bytes())? && is_time)
}
