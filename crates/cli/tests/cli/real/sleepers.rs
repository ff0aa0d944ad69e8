//! Very many runs that sleep while the process is killed: each was acknowledged with its instant, and must be there, once, and
//! no earlier.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::Http;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::traffic::until_answered;

const WORKFLOW: &str = "long-sleeper";
/// Started with one request: few enough to be answered between two kills.
const BATCH: u64 = 50;
/// Started with one request while nobody kills.
const LARGE_BATCH: u64 = 500;
/// About how many are started in a second, so that few are due before the first kill.
const STARTED_PER_SECOND: u64 = 2_500;
/// The shortest spread, for those that are started last.
const SHORTEST: Duration = Duration::from_secs(2);
/// The longest page of a list.
const PAGE: usize = 500;
/// Longer than any server needs until one more timer fires.
const STUCK: Duration = Duration::from_secs(300);

/// The sleepers that were acknowledged, and until when each sleeps.
pub(crate) struct Sleepers {
    wanted: u64,
    begun: Instant,
    /// Over how long their instants are spread.
    spread: Duration,
    next: AtomicU64,
    until: Mutex<HashMap<String, Timestamp>>,
}

/// What became of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    waits: u64,
    through_a_kill: u64,
    /// Pairs of a wait and a kill that it was open through.
    wait_kills: u64,
    pub(crate) lost: u64,
    pub(crate) early: u64,
    pub(crate) doubled: u64,
    latest: SignedDuration,
}

impl Outcome {
    pub(crate) fn figures(&self) -> Value {
        let Outcome { waits, through_a_kill, wait_kills, lost, early, doubled, latest } = self;
        json!({ "waits": waits, "throughAKill": through_a_kill, "waitKills": wait_kills, "lost": lost, "early": early,
                "doubled": doubled, "latestMs": u64::try_from(latest.as_millis()).unwrap_or_default() })
    }

    /// Adds the figures of another one.
    pub(crate) fn add(&mut self, figures: &Value) {
        let figure = |name: &str| figures[name].as_u64().unwrap();
        self.waits += figure("waits");
        self.through_a_kill += figure("throughAKill");
        self.wait_kills += figure("waitKills");
        self.lost += figure("lost");
        self.early += figure("early");
        self.doubled += figure("doubled");
        let latest = i64::try_from(figure("latestMs")).unwrap();
        self.latest = self.latest.max(SignedDuration::from_millis(latest));
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { waits, through_a_kill, wait_kills, lost, early, doubled, latest } = self;
        let late = latest.as_millis();
        write!(
            f,
            "{waits} sleepers, {through_a_kill} of them asleep through a kill or more ({wait_kills} times in all): "
        )?;
        write!(f, "{lost} lost, {early} early, {doubled} doubled; the latest {late} ms after its instant")
    }
}

impl Sleepers {
    pub(crate) fn new(wanted: u64, spread: Duration) -> Sleepers {
        Sleepers { wanted, begun: Instant::now(), spread, next: AtomicU64::new(0), until: Mutex::default() }
    }

    pub(crate) fn deploy(http: &mut Http) {
        let nap = json!({ "type": "wait", "name": "nap", "untilTimestamp": "{{ input.until }}" });
        let document = json!({ "name": WORKFLOW, "version": "1", "steps": [nap] });
        let answer = http.post("/workflow-definitions", &document, None).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.body);
    }

    /// Starts nine in ten of them, beside others who do, before the first kill.
    pub(crate) fn start_most(&self, http: &mut Http) {
        self.start_up_to(self.wanted / 10 * 9, LARGE_BATCH, http);
    }

    /// Starts the rest, beside others who do, whoever is killed meanwhile.
    pub(crate) fn start_rest(&self, http: &mut Http) {
        self.start_up_to(self.wanted, BATCH, http);
    }

    fn start_up_to(&self, wanted: u64, batch: u64, http: &mut Http) {
        let take = |next: u64| (next < wanted).then(|| (next + batch).min(wanted));
        while let Ok(first) = self.next.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            let numbers = first..(first + batch).min(wanted);
            let until: Vec<Timestamp> = numbers.clone().map(|number| self.instant(number)).collect();
            let start = |(number, until): (u64, &Timestamp)| json!({ "name": WORKFLOW, "input": { "until": until }, "idempotencyKey": format!("sleeper-{number}") });
            let starts = json!({ "runs": numbers.zip(&until).map(start).collect::<Vec<_>>() });
            let answer = until_answered(|| http.post("/workflow-runs/batch", &starts, None));
            assert_eq!((answer.status, &answer.body["refused"]), (200, &0.into()), "{answer:?}");
            let ids = answer.body["results"].as_array().unwrap().iter();
            let ids = ids.map(|started| started["id"].as_str().unwrap().to_owned());
            self.until.lock().unwrap().extend(ids.zip(until));
        }
    }

    /// Somewhere in the time in which the process is killed, and not before now.
    fn instant(&self, number: u64) -> Timestamp {
        let begin = Duration::from_secs(self.wanted / STARTED_PER_SECOND);
        let (end, elapsed) = (begin + self.spread, self.begun.elapsed());
        let earliest = begin.saturating_sub(elapsed);
        let span = end.saturating_sub(elapsed.max(begin)).max(SHORTEST);
        let after = earliest
            + Duration::from_millis(Random::new(number).below(u64::try_from(span.as_millis()).unwrap()));
        Timestamp::from_millisecond((Timestamp::now() + after).as_millisecond()).unwrap()
    }

    /// Returns when none is left that sleeps, or when for long none has woken.
    pub(crate) fn wait_for_all(&self, http: &mut Http) -> Result<(), String> {
        let mut progress = (Instant::now(), None);
        loop {
            let open = http.get("/waitpoints?kind=DELAY&status=PENDING&limit=1");
            let first = open.map_err(|error| error.to_string())?.body["data"][0].clone();
            let Some(due) = instant(&first["resumeAt"]) else { return Ok(()) };
            let id = first["id"].as_str().map(str::to_owned);
            if progress.1 != id || due > Timestamp::now() {
                progress = (Instant::now(), id);
            }
            if progress.0.elapsed() > STUCK {
                return Err(format!("a timer does not fire: {first}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// How many runs were acknowledged.
    pub(crate) fn count(&self) -> usize {
        self.until.lock().unwrap().len()
    }

    pub(crate) fn check(&self, http: &mut Http, kills: &[Timestamp]) -> Outcome {
        let until = self.until.lock().unwrap();
        let mut outcome = Outcome { waits: until.len() as u64, ..Outcome::default() };
        let mut ended: HashMap<String, u64> = HashMap::with_capacity(until.len());
        each(http, &format!("/workflow-runs?definition={WORKFLOW}"), |run| {
            let is_known = run["id"].as_str().is_some_and(|id| until.contains_key(id));
            // A start that was acknowledged once and carried out twice.
            outcome.doubled += u64::from(!is_known);
            outcome.lost += u64::from(run["status"] != "COMPLETED");
        });
        each(http, "/waitpoints?kind=DELAY", |wait| {
            let run = wait["runId"].as_str().unwrap();
            let Some(asked) = until.get(run) else { return };
            *ended.entry(run.to_owned()).or_default() += u64::from(wait["status"] == "COMPLETED");
            let (Some(due), Some(resolved)) = (instant(&wait["resumeAt"]), instant(&wait["resolvedAt"]))
            else {
                return;
            };
            outcome.early += u64::from(resolved < *asked || due != *asked);
            outcome.latest = outcome.latest.max(resolved.duration_since(due));
            let created = instant(&wait["createdAt"]).unwrap();
            let before = |at: Timestamp| kills.partition_point(|kill| *kill < at) as u64;
            let through = before(resolved) - before(created);
            outcome.wait_kills += through;
            outcome.through_a_kill += u64::from(through > 0);
        });
        outcome.doubled += ended.values().filter(|times| **times > 1).count() as u64;
        outcome.lost +=
            until.keys().filter(|run| ended.get(*run).copied().unwrap_or_default() == 0).count() as u64;
        outcome
    }
}

fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str().map(|text| text.parse().unwrap())
}

/// Everything in a list, page by page.
pub(crate) fn each(http: &mut Http, list: &str, mut look: impl FnMut(&Value)) {
    let mut cursor = String::new();
    let separator = if list.contains('?') { '&' } else { '?' };
    loop {
        let page = http.get(&format!("{list}{separator}limit={PAGE}{cursor}")).unwrap().body;
        page["data"].as_array().unwrap_or_else(|| panic!("{page}")).iter().for_each(&mut look);
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return,
        }
    }
}
