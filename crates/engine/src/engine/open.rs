//! Opening an engine: the store, the threads around the writer, and who is told what by whom.

use std::sync::{Arc, Mutex};

use abide_core::bounds::Bounds;
use abide_core::limits;
use abide_store::Store;
use abide_store::cluster::NodeId;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::{Engine, Options};
use crate::checker;
use crate::checkup::Checkup;
use crate::clock::{Clock, StoreClock, SystemClock};
use crate::committer;
use crate::dispatcher::Dispatcher;
use crate::error::Error;
use crate::executor::Executors;
use crate::followers::Followers;
use crate::holds::Holds;
use crate::identity;
use crate::limits::OpenRuns;
use crate::readers::Readers;
use crate::request::Request;
use crate::retention::Sweeper;
use crate::sealed;
use crate::share::{Pulse, Share};
use crate::watch::{Watch, Watchdog};
use crate::webhooks::{Linking, Outbox, Sender};
use crate::writer::Writer;

/// Rounds that are committed at once, where the store has more than one writer: one travels while another is written.
const COMMITTERS: usize = 2;

impl Engine {
    /// Opens an engine on a given store.
    pub async fn open_with(mut store: Box<dyn Store>, options: Options) -> Result<Engine, Error> {
        sealed::check(&mut *store, &options.vault)?;
        let store_id = identity::of(&mut *store, fresh_number())?;
        let (queue, requests) = mpsc::channel(options.queue.0);
        let settable = options.clock;
        let pulse = Pulse::of(&*store, NodeId(fresh_number()))?;
        let clock: Arc<dyn Clock> = match (&settable, &pulse) {
            (Some(clock), _) => Arc::new(clock.clone()),
            (None, Some(pulse)) => Arc::<StoreClock>::clone(&pulse.clock),
            (None, None) => Arc::new(SystemClock),
        };
        let share = match &pulse {
            // One that only looks does not take part.
            Some(pulse) if !options.paused => share(&*store, pulse.node, queue.downgrade())?,
            Some(_) | None => None,
        };
        let is_shared = share.is_some();
        // One that only looks changes nothing.
        let suspects = match options.paused {
            true => Vec::new(),
            false => store.take_suspects(pulse.as_ref().map_or(&[][..], |pulse| &pulse.nodes))?,
        };
        let node = pulse.as_ref().map(|pulse| pulse.node);
        let (holds, watch) = (Holds::default(), Arc::<Watch>::default());
        let followers = Followers::default();
        let readers = Arc::new(Readers::new(&*store)?);
        let own = store.reader()?;
        // One that only looks holds nothing.
        let checkup = match options.paused {
            true => None,
            false => Some(Checkup::start(&*store, Arc::clone(&clock), queue.downgrade())?),
        };
        let (jobs, asked) = std::sync::mpsc::channel();
        let (done, did) = mpsc::unbounded_channel();
        let not_started = |error: std::io::Error| Error::NotStarted(error.to_string());
        let mut stores = vec![store];
        while stores.len() < COMMITTERS
            && let Some(another) = stores[0].another()?
        {
            stores.push(another);
        }
        let (asked, mut committers) = (Arc::new(std::sync::Mutex::new(asked)), Vec::new());
        for store in stores {
            let (asked, done, watch) = (Arc::clone(&asked), done.clone(), Arc::clone(&watch));
            let thread = std::thread::Builder::new().name("abide-commit".to_owned());
            let thread =
                thread.spawn(move || committer::work(store, &asked, &done, &watch)).map_err(not_started)?;
            committers.push(thread);
        }
        let checks = checker::start(done).map_err(not_started)?;
        let executors = Arc::new(Executors::new(options.calls, Arc::clone(&clock)));
        let (reports, reported) = mpsc::channel(options.queue.0);
        let handle = Handle::current();
        let dispatcher =
            Dispatcher::new(handle, queue.downgrade(), reports, Arc::clone(&executors), is_shared);
        let (outbox, wakes) = Outbox::new();
        let linking = Linking::new(executors.settings().served);
        let sender = Sender::new(
            wakes,
            Arc::clone(&readers),
            queue.downgrade(),
            Arc::clone(&clock),
            (executors.client().clone(), options.vault.clone(), linking.clone()),
            fresh_seed(),
        );
        let open_runs = OpenRuns::new(options.limits.open_runs);
        let max_wait = options.max_wait.unwrap_or(limits::WAIT);
        let bounds = Bounds { max_wait, ..options.retention.bounds() };
        let watchdog = Watchdog::start(Arc::clone(&watch), jobs.clone(), node).map_err(not_started)?;
        let mut writer = Writer::new(
            own,
            (jobs, checks),
            Arc::clone(&clock),
            fresh_seed(),
            dispatcher,
            (followers.clone(), outbox),
            (bounds, options.limits, open_runs.clone()),
        );
        writer = writer.paused(options.paused);
        writer = writer.watched(holds.clone(), Arc::clone(&watch), suspects);
        if let Some(share) = share {
            writer = writer.sharing(share).with_committers(committers.len());
        }
        let beating = pulse
            .filter(|_| !options.paused)
            .map(|pulse| pulse.start(queue.downgrade()))
            .transpose()
            .map_err(not_started)?;
        let (opened, answer) = oneshot::channel();
        let thread = std::thread::Builder::new().name("abide-writer".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            match runtime.map_err(not_started) {
                Ok(runtime) => {
                    let recovered = writer.recover();
                    let failed = recovered.is_err();
                    drop(opened.send(recovered));
                    if !failed {
                        runtime.block_on(writer.live(requests, reported, did));
                    }
                }
                Err(error) => drop(opened.send(Err(error))),
            }
            watchdog.stop();
            checkup.into_iter().for_each(Checkup::stop);
            // It closes the store; nothing is left to be told if it panicked.
            for committer in committers {
                drop(committer.join());
            }
            if let Some(beating) = beating {
                beating.stop();
            }
        });
        let thread = thread.map_err(not_started)?;
        answer.await.map_err(|_| Error::Stopped)??;
        tokio::spawn(sender.live());
        let sweeper =
            Arc::new(Sweeper::new(options.retention, Arc::clone(&clock), &readers, queue.downgrade()));
        // What is only looked at stays as it is.
        if !options.paused {
            tokio::spawn(Arc::clone(&sweeper).live());
        }
        let thread = Arc::new(Mutex::new(Some(thread)));
        Ok(Engine {
            queue,
            clock,
            settable,
            is_shared,
            followers,
            readers,
            executors,
            vault: options.vault,
            paused: options.paused,
            store_id: store_id.into(),
            sweeper,
            max_wait,
            gate: Arc::default(),
            open_runs,
            holds,
            linking,
            watch,
            thread,
        })
    }
}

/// What the writer needs on a store that others write to; what they commit is heard through the queue.
fn share(store: &dyn Store, node: NodeId, queue: mpsc::WeakSender<Request>) -> Result<Option<Share>, Error> {
    let (Some(mut cluster), Some(tasks)) = (store.cluster()?, store.tasks()?) else { return Ok(None) };
    cluster.listen(Box::new(move |news| {
        if let Some(queue) = queue.upgrade() {
            // When there is no room, it is found out later.
            drop(queue.try_send(Request::News(news)));
        }
    }))?;
    Ok(Some(Share::new(tasks, node)))
}

fn fresh_number() -> u128 {
    u128::from(fresh_seed()) << 64 | u128::from(fresh_seed())
}

/// A seed that no two processes share: what the standard library seeds its maps with.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(Timestamp::now().as_nanosecond())
}
