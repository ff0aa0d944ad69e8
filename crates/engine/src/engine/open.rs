//! Opening an engine: the store, the threads around the writer, and the channels between them.

use std::sync::{Arc, Mutex, mpsc as channels};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use abide_core::bounds::Bounds;
use abide_core::limits;
use abide_store::Store;
use abide_store::cluster::NodeId;
use abide_store::tasks::Tasks;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::{Engine, Options};
use crate::checker;
use crate::checkup::Checkup;
use crate::clock::{Clock, StoreClock, SystemClock};
use crate::committer::{self, Job};
use crate::error::Error;
use crate::executor::Executors;
use crate::followers::Followers;
use crate::heartbeat::{Heartbeat, HeartbeatThread};
use crate::holds::Holds;
use crate::identity;
use crate::limits::OpenRuns;
use crate::machine::{Done, Machine, Setup};
use crate::readers::Readers;
use crate::request::{Control, Request};
use crate::retention::Sweeper;
use crate::runner::Runner;
use crate::sealed;
use crate::shares::Shares;
use crate::watch::{Watch, Watchdog};
use crate::webhooks::{Linking, Outbox, Sender};
use crate::writer::{Inbox, Writer};

/// How many rounds are committed at once where the store has more than one writer: one travels while another is
/// written.
const COMMITTERS: usize = 2;

impl Engine {
    /// Opens an engine on a given store.
    pub async fn open_with(mut store: Box<dyn Store>, options: Options) -> Result<Engine, Error> {
        sealed::check(&mut *store, &options.vault)?;
        let store_id = identity::of(&mut *store, fresh_number())?;
        let (queue, requests) = mpsc::channel(options.queue.0);
        let settable = options.clock;
        let heartbeat = Heartbeat::of(&*store, NodeId(fresh_number()))?;
        let clock: Arc<dyn Clock> = match (&settable, &heartbeat) {
            (Some(clock), _) => Arc::new(clock.clone()),
            (None, Some(heartbeat)) => Arc::<StoreClock>::clone(&heartbeat.clock),
            (None, None) => Arc::new(SystemClock),
        };
        // One that only looks does not take part, and changes nothing.
        let (node, suspects) = match (&heartbeat, options.paused) {
            (_, true) => (None, Vec::new()),
            (Some(heartbeat), false) => {
                let tasks = join(&*store, queue.downgrade())?;
                (tasks.map(|tasks| (heartbeat.node, tasks)), store.take_suspects(&heartbeat.nodes)?)
            }
            (None, false) => (None, store.take_suspects(&[])?),
        };
        let is_shared = node.is_some();
        let (holds, watch, followers) = (Holds::default(), Arc::<Watch>::default(), Followers::default());
        let readers = Arc::new(Readers::new(&*store)?);
        let own = store.reader()?;
        let checkup = match options.paused {
            true => None,
            false => Some(Checkup::start(&*store, Arc::clone(&clock), queue.downgrade())?),
        };
        let (jobs, asked) = channels::channel();
        let (done, answers) = mpsc::unbounded_channel();
        let committers = start_committers(store, asked, &done, &watch)?;
        let checks = checker::start(done).map_err(not_started)?;
        let executors = Arc::new(Executors::new(options.calls, Arc::clone(&clock)));
        let (reports, reported) = mpsc::channel(options.queue.0);
        let runner = Runner::new(Handle::current(), queue.downgrade(), reports, Arc::clone(&executors));
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
        let shares = Shares::default();
        let max_wait = options.max_wait.unwrap_or(limits::WAIT);
        let watched = heartbeat.as_ref().map(|heartbeat| heartbeat.node);
        let watchdog = Watchdog::start(Arc::clone(&watch), jobs.clone(), watched).map_err(not_started)?;
        let machine = Machine::new(Setup {
            committers: if is_shared { committers.len() } else { 1 },
            node,
            time_passes: clock.runs(),
            paused: options.paused,
            urls: executors.urls().collect(),
            suspects,
            bounds: Bounds { max_wait, ..options.retention.bounds() },
            limits: options.limits,
            open_runs: open_runs.clone(),
            shares: shares.clone(),
            followers: followers.clone(),
            holds: holds.clone(),
            watch: Arc::clone(&watch),
            ..Setup::new(own, fresh_seed(), queue.downgrade())
        });
        let writer = Writer {
            machine,
            clock: Arc::clone(&clock),
            begun: Instant::now(),
            jobs,
            checks,
            runner,
            outbox,
            followers: followers.clone(),
            watch: Arc::clone(&watch),
            outputs: Vec::new(),
        };
        let beating = heartbeat
            .filter(|_| !options.paused)
            .map(|heartbeat| heartbeat.start(queue.downgrade()))
            .transpose()
            .map_err(not_started)?;
        let threads = Threads { watchdog, checkup, committers, beating };
        let inbox = Inbox { requests, reports: reported, answers };
        let thread = start_writer(writer, inbox, threads).await?;
        tokio::spawn(sender.live());
        let sweeper =
            Arc::new(Sweeper::new(options.retention, Arc::clone(&clock), &readers, queue.downgrade()));
        // What is only looked at stays as it is.
        if !options.paused {
            tokio::spawn(Arc::clone(&sweeper).live());
        }
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
            shares,
            holds,
            linking,
            watch,
            thread: Arc::new(Mutex::new(Some(thread))),
        })
    }
}

/// The threads around the writer, which end after it.
struct Threads {
    watchdog: Watchdog,
    checkup: Option<Checkup>,
    committers: Vec<JoinHandle<()>>,
    beating: Option<HeartbeatThread>,
}

impl Threads {
    fn stop(self) {
        self.watchdog.stop();
        self.checkup.into_iter().for_each(Checkup::stop);
        // They close the store; nothing is left to be told if one panicked.
        for committer in self.committers {
            drop(committer.join());
        }
        self.beating.into_iter().for_each(HeartbeatThread::stop);
    }
}

/// Starts the threads that have the store's writers.
fn start_committers(
    store: Box<dyn Store>,
    jobs: channels::Receiver<Job>,
    answers: &mpsc::UnboundedSender<Done>,
    watch: &Arc<Watch>,
) -> Result<Vec<JoinHandle<()>>, Error> {
    let mut stores = vec![store];
    while stores.len() < COMMITTERS
        && let Some(another) = stores[0].another()?
    {
        stores.push(another);
    }
    let jobs = Arc::new(Mutex::new(jobs));
    let start = |store| {
        let (jobs, answers, watch) = (Arc::clone(&jobs), answers.clone(), Arc::clone(watch));
        let thread = Builder::new().name("abide-commit".to_owned());
        thread.spawn(move || committer::work(store, &jobs, &answers, &watch)).map_err(not_started)
    };
    stores.into_iter().map(start).collect()
}

/// Starts the writer's thread. When it returns, the writer has recovered what was under way.
async fn start_writer(mut writer: Writer, inbox: Inbox, threads: Threads) -> Result<JoinHandle<()>, Error> {
    let (opened, answer) = oneshot::channel();
    let live = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        match runtime.map_err(not_started).and_then(|runtime| writer.recover().map(|()| runtime)) {
            Ok(runtime) => {
                drop(opened.send(Ok(())));
                runtime.block_on(writer.live(inbox));
            }
            Err(error) => {
                // What the committers wait for ends with the writer.
                drop(writer);
                drop(opened.send(Err(error)));
            }
        }
        threads.stop();
    };
    let thread = Builder::new().name("abide-writer".to_owned()).spawn(live).map_err(not_started)?;
    answer.await.map_err(|_| Error::Stopped)??;
    Ok(thread)
}

/// The task board of a store that several nodes share; their notifications come through the queue.
fn join(store: &dyn Store, queue: mpsc::WeakSender<Request>) -> Result<Option<Box<dyn Tasks>>, Error> {
    let (Some(mut cluster), Some(tasks)) = (store.cluster()?, store.tasks()?) else { return Ok(None) };
    cluster.listen(Box::new(move |notifications| {
        if let Some(queue) = queue.upgrade() {
            // When there is no room, it is found out later.
            drop(queue.try_send(Control::Notifications(notifications).into()));
        }
    }))?;
    Ok(Some(tasks))
}

fn not_started(error: std::io::Error) -> Error {
    Error::NotStarted(error.to_string())
}

fn fresh_number() -> u128 {
    u128::from(fresh_seed()) << 64 | u128::from(fresh_seed())
}

/// A seed that no two processes share, from the standard library's hasher.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(Timestamp::now().as_nanosecond())
}
