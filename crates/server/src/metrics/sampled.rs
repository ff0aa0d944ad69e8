//! What is looked up in the store for whoever scrapes: how many runs, waits and tasks there are. A sample is kept for as long
//! as it would cost too much to take it again, so that scrapes cost the same however often they come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use abide_core::id::WorkspaceId;
use abide_core::queue::handler_of;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Kind;
use abide_engine::counts::{OTHER, TIMED_SETS};
use abide_engine::{Engine, Error, Overdue};
use jiff::Timestamp;
use tokio::sync::Mutex;

/// Waits of a kind, tasks of a workflow, and timers that are overdue are counted up to here.
pub(super) const COUNTED: usize = 10_000;
/// Workspaces that are shown apart; what the others have is shown as [`OTHER`].
const WORKSPACES: usize = 100;
/// Limits that are shown: those for which most wait.
const LIMITS: usize = 200;
/// A sample is kept this many times as long as it took to take it: at most a twentieth of one connection's time is spent.
const KEPT_FOR: u32 = 20;
/// However long it took.
const KEPT_AT_MOST: Duration = Duration::from_secs(60);

/// Samples, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Sampler(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<(Instant, Duration, Arc<Sample>)>,
    /// Handlers that had tasks once: they are shown with none, so that an autoscaler sees zero and not nothing.
    handlers: BTreeSet<(String, String)>,
}

/// How many there were of everything, at one moment.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// The names of workspaces by their ids.
    pub(super) names: BTreeMap<String, String>,
    pub(super) runs: BTreeMap<(String, RunStatus), u64>,
    pub(super) waits: BTreeMap<(String, Kind), u64>,
    /// By workspace and handler.
    pub(super) tasks: BTreeMap<(String, String), TasksOf>,
    /// By workspace and name.
    pub(super) limits: BTreeMap<(String, String), LimitOf>,
    pub(super) overdue: u64,
    pub(super) overdue_age: Millis,
}

/// The tasks of one handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TasksOf {
    pub(super) ready: u64,
    pub(super) leased: u64,
    pub(super) oldest: Millis,
}

/// A limit, whatever the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LimitOf {
    pub(super) used: u64,
    pub(super) waiting: u64,
    pub(super) oldest: Millis,
}

impl Sampler {
    /// A sample that is fresh, or as fresh as it may be for its price.
    pub(crate) async fn sample(&self, engine: &Engine) -> Result<Arc<Sample>, Error> {
        let mut state = self.0.lock().await;
        if let Some((taken, kept_for, sample)) = &state.last
            && taken.elapsed() < *kept_for
        {
            return Ok(Arc::clone(sample));
        }
        let begun = Instant::now();
        let sample = Arc::new(Sample::take(engine, &mut state.handlers).await?);
        let kept_for = (begun.elapsed() * KEPT_FOR).min(KEPT_AT_MOST);
        state.last = Some((Instant::now(), kept_for, Arc::clone(&sample)));
        Ok(sample)
    }
}

impl Sample {
    async fn take(engine: &Engine, handlers: &mut BTreeSet<(String, String)>) -> Result<Sample, Error> {
        let workspaces = engine.admin().workspaces().await?;
        let shown: BTreeSet<WorkspaceId> = workspaces.iter().take(WORKSPACES).map(|it| it.id).collect();
        let names: BTreeMap<String, String> =
            workspaces.into_iter().map(|it| (it.id.to_string(), it.name)).collect();
        let name = |id: WorkspaceId| match names.get(&id.to_string()) {
            Some(name) if shown.contains(&id) => name.clone(),
            Some(_) | None => OTHER.to_owned(),
        };
        let mut sample = Sample::default();
        for (id, counts) in engine.figures().runs().await? {
            counts.into_iter().for_each(|(status, count)| {
                *sample.runs.entry((name(id), status)).or_default() += count;
            });
        }
        for (id, counts) in engine.figures().open_waits(COUNTED).await? {
            counts.into_iter().for_each(|(kind, count)| {
                *sample.waits.entry((name(id), kind)).or_default() += count as u64;
            });
        }
        let now = engine.now();
        for queue in engine.figures().task_queues(COUNTED).await? {
            let mut key = (name(queue.workspace), handler_of(&queue.queue).to_owned());
            // The last place is for all others.
            if handlers.len() + 1 < TIMED_SETS || handlers.contains(&key) {
                handlers.insert(key.clone());
            } else {
                key = (OTHER.to_owned(), OTHER.to_owned());
            }
            let tasks = sample.tasks.entry(key).or_default();
            tasks.ready += queue.ready as u64;
            tasks.leased += queue.leased as u64;
            tasks.oldest = tasks.oldest.max(queue.oldest_ready.map_or(Millis(0), |at| age(at, now)));
        }
        for key in handlers.iter() {
            sample.tasks.entry(key.clone()).or_default();
        }
        for figures in engine.figures().limits(LIMITS).await? {
            let limit = sample.limits.entry((name(figures.workspace), figures.name)).or_default();
            limit.used += figures.used;
            limit.waiting += figures.waiting;
            limit.oldest = limit.oldest.max(figures.waiting_since.map_or(Millis(0), |at| age(at, now)));
        }
        let Overdue { count, first } = engine.figures().overdue(COUNTED).await?;
        sample.overdue = count as u64;
        sample.overdue_age = first.map_or(Millis(0), |at| age(at, now));
        sample.names = names;
        Ok(sample)
    }
}

fn age(since: Timestamp, now: Timestamp) -> Millis {
    Millis::between(since, now)
}
