//! What the first page of the dashboard shows: how many runs there are, what waits until when, and how it goes. None of it
//! looks at more than it shows: runs are counted as they change, waits up to a limit.

use abide_core::id::RunId;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use abide_engine::WaitCounts;
use abide_engine::stored::{Due, Page, Scope, WaitpointFilter};
use axum::extract::State;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::{ActivitySample, EVERY};
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::Query;
use crate::shape::waitpoint::WaitpointBody;
use crate::shape::{Answer, words};

const READ: Access = Access::Key(&[Scope::Read]);
/// Open waits of a kind, or of a kind in one bucket, that are counted. Where there are more, it says so.
const COUNTED: usize = 10_000;
const OLDEST: usize = 8;
const BUCKETS: u32 = 60;
const MOST_BUCKETS: u32 = 200;

pub(super) fn routes() -> Group {
    Group::new("overview", "What waits, until when, at a glance.")
        .add(
            Endpoint::new(Verb::Get, "/overview", READ, "How many runs and waits there are, and how it goes")
                .ok::<OverviewBody>("The figures."),
            overview,
        )
        .add(
            Endpoint::new(Verb::Get, "/wake-ups", READ, "When waits end, counted over time")
                .about("The span is cut into buckets of the same length, and open waits are counted in each by their `resumeAt`.")
                .query::<WakeUpsQuery>()
                .ok::<WakeUpsBody>("The buckets, in order.")
                .codes(&[Code::Malformed]),
            wake_ups,
        )
}

/// How many there are, what has waited longest, and how it goes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Overview")]
struct OverviewBody {
    /// The server's clock.
    now: Timestamp,
    runs: Vec<RunCount>,
    /// Open waits.
    waits: Vec<WaitCount>,
    /// Open waits whose instant has passed.
    overdue: Counted,
    /// The oldest runs that wait, each with its oldest wait.
    oldest: Vec<WaitpointBody>,
    /// What the server did in the last hour.
    activity: ActivityBody,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RunCount {
    #[schemars(schema_with = "words::run_status")]
    status: RunStatus,
    count: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WaitCount {
    #[schemars(schema_with = "words::kind")]
    kind: Kind,
    count: usize,
    /// There are more than were counted.
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Counted {
    count: usize,
    /// There are more than were counted.
    more: bool,
}

/// Of the whole server, one sample after the other.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Activity")]
struct ActivityBody {
    every_ms: u64,
    samples: Vec<ActivitySample>,
}

async fn overview(State(app): State<Shared>, caller: Caller) -> Result<Answer<OverviewBody>, Problem> {
    let (own, now) = (app.engine.workspace(caller.workspace), app.engine.now());
    let mut open = own.waitpoints().count_open(vec![Due::Before(now), Due::Ever], COUNTED).await?;
    let waits = open.pop().unwrap_or_default();
    let overdue: usize = open.pop().unwrap_or_default().into_iter().map(|(_, count)| count).sum();
    let runs = own.runs().count_by_status().await?;
    let oldest = app.oldest_waits(&caller, &own.runs().oldest_waiting(OLDEST).await?).await?;
    let runs = runs.into_iter().map(|(status, count)| RunCount { status, count });
    let waits = waits.into_iter().map(|(kind, count)| WaitCount { kind, count, more: count >= COUNTED });
    let body = OverviewBody {
        now,
        runs: runs.collect(),
        waits: waits.collect(),
        overdue: Counted { count: overdue, more: overdue >= COUNTED },
        oldest,
        activity: ActivityBody {
            every_ms: EVERY.as_millis().try_into().unwrap_or(u64::MAX),
            samples: if caller.sees_all() { app.activity.samples() } else { Vec::new() },
        },
    };
    Ok(Answer::ok(body))
}

impl crate::app::App {
    /// The oldest open wait of each run.
    async fn oldest_waits(&self, caller: &Caller, runs: &[RunId]) -> Result<Vec<WaitpointBody>, Problem> {
        let of = |run: &RunId| {
            let filter = WaitpointFilter {
                workspace: Some(caller.workspace),
                run: Some(*run),
                status: Some(WaitStatus::Pending),
                ..WaitpointFilter::default()
            };
            self.list_waitpoints(caller, "oldest", filter, Page { after: None, limit: OLDEST })
        };
        let mut found = Vec::new();
        for waits in join_all(runs.iter().map(of)).await {
            found.extend(waits?.data.into_iter().min_by_key(|wait| wait.created_at));
        }
        found.sort_by_key(|wait| wait.created_at);
        Ok(found)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WakeUpsQuery {
    from: Timestamp,
    until: Timestamp,
    /// How many; 60 if absent.
    #[schemars(range(min = 1, max = MOST_BUCKETS))]
    buckets: Option<u32>,
}

/// When waits end.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WakeUps")]
struct WakeUpsBody {
    from: Timestamp,
    until: Timestamp,
    buckets: Vec<Bucket>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WakeUpsBucket")]
struct Bucket {
    from: Timestamp,
    until: Timestamp,
    /// Waits that the clock ends: DELAY, PAUSE, RETRY.
    by_time: usize,
    /// Deadlines of the others.
    deadlines: usize,
    /// There are more than were counted.
    more: bool,
}

async fn wake_ups(
    State(app): State<Shared>,
    caller: Caller,
    Query(WakeUpsQuery { from, until, buckets }): Query<WakeUpsQuery>,
) -> Result<Answer<WakeUpsBody>, Problem> {
    let bounds = bounds(from, until, buckets.unwrap_or(BUCKETS))?;
    let spans = bounds.windows(2).map(|pair| Due::Between(pair[0], pair[1])).collect();
    let counts = app.engine.workspace(caller.workspace).waitpoints().count_open(spans, COUNTED).await?;
    let buckets = bounds.windows(2).zip(counts).map(|(pair, counts)| Bucket::new(pair[0], pair[1], counts));
    let buckets = buckets.collect();
    Ok(Answer::ok(WakeUpsBody { from, until, buckets }))
}

/// Where buckets begin, and where the last one ends.
fn bounds(from: Timestamp, until: Timestamp, buckets: u32) -> Result<Vec<Timestamp>, Problem> {
    let length = until.duration_since(from);
    if length < SignedDuration::from_millis(i64::from(buckets)) {
        let detail = "/until: the span must end after it begins, with a millisecond for each bucket";
        return Err(Problem::malformed("/until", detail));
    }
    let step = i32::try_from(buckets).ok().and_then(|buckets| length.checked_div(buckets));
    let step = step.ok_or_else(|| Problem::malformed("/buckets", "/buckets: too many"))?;
    let at = |index: u32| i32::try_from(index).ok().and_then(|index| Some(from + step.checked_mul(index)?));
    let mut bounds: Vec<Timestamp> = (0..buckets).filter_map(at).collect();
    bounds.push(until);
    Ok(bounds)
}

impl Bucket {
    fn new(from: Timestamp, until: Timestamp, counts: WaitCounts) -> Bucket {
        let mut bucket = Bucket { from, until, by_time: 0, deadlines: 0, more: false };
        for (kind, count) in counts {
            bucket.more |= count >= COUNTED;
            match kind {
                Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule => bucket.by_time += count,
                Kind::Webhook
                | Kind::Signal
                | Kind::Event
                | Kind::Approval
                | Kind::Child
                | Kind::Code
                | Kind::Capacity => bucket.deadlines += count,
            }
        }
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_gaps_and_end_where_the_span_does() {
        let (from, until) =
            ("2026-01-01T00:00:00Z".parse().unwrap(), "2026-01-01T00:00:10Z".parse().unwrap());
        let found = bounds(from, until, 3).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!((found[0], found[3]), (from, until));
        assert!(found.is_sorted());
        assert!(bounds(until, from, 3).is_err());
        assert!(bounds(from, from, 1).is_err());
    }
}
