//! The world of one seed: chance, the clock, the store, and a node that decides and commits.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use abide_core::command::{Command, Context, NewRun, Outcome, decide, start};
use abide_core::id::{RunId, StepAddress};
use abide_core::idempotency::decide_with_key;
use abide_core::random::Random;
use abide_core::refusal::Refusal;
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use jiff::Timestamp;

use crate::defect::DecisionDefect;
use crate::definitions;
use crate::groups;
use crate::inspector::Inspector;
use crate::store::{Store, Write};
use crate::versions;

/// A broken rule, in words.
pub(crate) type Check<T = ()> = Result<T, String>;

/// How many things happen before the world calms down.
const ACTIONS: u32 = 400;
/// How much of a failing seed's story is told.
const TRANSCRIPT_LINES: usize = 60;

/// What a seed that broke nothing went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Of everything that was recorded: the same seed gives the same hash.
    pub hash: u64,
    pub runs: u64,
    pub records: u64,
    pub refusals: u64,
    pub crashes: u64,
    /// Decisions made on a run that had moved on.
    pub conflicts: u64,
    /// How often each kind of record, and each code of refusal, was seen.
    pub seen: BTreeMap<String, u64>,
}

impl Report {
    /// Hashes are added, so that the order in which seeds finish does not matter.
    pub fn add(&mut self, other: &Report) {
        self.hash = self.hash.wrapping_add(other.hash);
        self.runs += other.runs;
        self.records += other.records;
        self.refusals += other.refusals;
        self.crashes += other.crashes;
        self.conflicts += other.conflicts;
        for (what, count) in &other.seen {
            *self.seen.entry(what.clone()).or_default() += count;
        }
    }
}

/// A seed that broke a rule.
#[derive(Clone, Debug)]
pub struct Violation {
    pub seed: u64,
    pub rule: String,
    /// What gives the same world again, as arguments of `abide-sim`.
    pub command: String,
    /// What led up to it.
    pub transcript: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.transcript {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "seed {} broke a rule: {}", self.seed, self.rule)?;
        write!(f, "replay it with: cargo run --release -p abide-sim -- {}", self.command)
    }
}

/// Lives through one seed.
pub fn simulate(seed: u64) -> Result<Report, Box<Violation>> {
    live_through(seed, None)
}

/// Lives through one seed in which decisions are wrong in this way.
pub fn simulate_broken(seed: u64, defect: DecisionDefect) -> Result<Report, Box<Violation>> {
    live_through(seed, Some(defect))
}

fn live_through(seed: u64, defect: Option<DecisionDefect>) -> Result<Report, Box<Violation>> {
    World::new(seed, defect, false).live().map_err(|_| {
        // Seldom needed and costly, so the story is told by living through it again.
        let mut world = World::new(seed, defect, true);
        let rule =
            world.live().err().unwrap_or_else(|| "the seed gave another outcome the second time".to_owned());
        let command = format!("--seed {seed}");
        Box::new(Violation { seed, rule, command, transcript: world.transcript.into() })
    })
}

pub(crate) struct World {
    seed: u64,
    defect: Option<DecisionDefect>,
    pub(crate) random: Random,
    /// Of the moves to other versions, in worlds that have any.
    pub(crate) moving: Option<Random>,
    pub(crate) now: Timestamp,
    pub(crate) store: Store,
    pub(crate) inspector: Inspector,
    /// Tasks that workers believe to have.
    pub(crate) in_hand: Vec<InHand>,
    /// Requests whose answer was lost: their senders will ask again.
    pub(crate) unanswered: VecDeque<Request>,
    /// Requests that were answered, to be sent once more, late.
    pub(crate) answered: VecDeque<Request>,
    /// No more crashes, conflicts and lost answers.
    pub(crate) calm: bool,
    interfering: bool,
    pub(crate) keys: u64,
    pub(crate) report: Report,
    transcript: VecDeque<String>,
    tells: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct InHand {
    pub(crate) run: RunId,
    pub(crate) at: StepAddress,
    pub(crate) lease_epoch: u32,
    /// Names the worker has used in the journal.
    pub(crate) named: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) run: RunId,
    pub(crate) command: Command,
    pub(crate) by: &'static str,
    pub(crate) key: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Done,
    Refused(Refusal),
    /// The commit may have been carried out or not.
    Lost,
}

impl World {
    fn new(seed: u64, defect: Option<DecisionDefect>, tells: bool) -> World {
        World {
            seed,
            defect,
            random: Random::new(seed),
            moving: versions::chance(seed),
            now: "2026-03-01T00:00:00Z".parse().expect("an instant"),
            store: Store::default(),
            inspector: Inspector::default(),
            in_hand: Vec::new(),
            unanswered: VecDeque::new(),
            answered: VecDeque::new(),
            calm: false,
            interfering: false,
            keys: 0,
            report: Report::default(),
            transcript: VecDeque::new(),
            tells,
        }
    }

    fn live(&mut self) -> Check<Report> {
        let children: Vec<String> = (0..2).map(|index| format!("child-{index}")).collect();
        for name in &children {
            let definition = definitions::leaf(&mut self.random, name);
            self.store.definitions.insert(name.clone(), definition);
        }
        let mut grouping = groups::chance(self.seed);
        for index in 0..3 {
            let name = format!("workflow-{index}");
            let mut definition = definitions::generate(&mut self.random, &name, &children);
            if let Some(grouping) = &mut grouping {
                definition = groups::with_groups(grouping, &definition, &children);
            }
            self.tell(|| {
                format!("{name}: {}", serde_json::to_string(&definition.document).unwrap_or_default())
            });
            self.store.definitions.insert(name, definition);
        }
        self.store.versions = self.store.definitions.values().cloned().collect();
        for _ in 0..ACTIONS {
            self.act()?;
        }
        self.quiesce()?;
        self.report.hash = self.inspector.hash();
        self.report.runs = self.store.runs.len() as u64;
        self.report.seen.extend(self.inspector.seen().clone());
        Ok(self.report.clone())
    }

    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.tells {
            if self.transcript.len() == TRANSCRIPT_LINES {
                self.transcript.pop_front();
            }
            let line = format!("{} {}", self.now, line());
            self.transcript.push_back(line);
        }
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        let count = u64::try_from(among.len()).ok().filter(|count| *count > 0)?;
        Some(among[self.random.below(count) as usize].clone())
    }

    pub(crate) fn advance(&mut self, length: Millis) {
        self.now = length.after(self.now);
    }

    fn context(&mut self, by: &str) -> Context {
        Context {
            now: self.now,
            random: self.random.draw(),
            by: Actor::new(by),
            traceparent: None,
            bounds: Default::default(),
        }
    }

    /// Sends a command to a node: it loads the run, decides, commits, answers; any of that may be cut short.
    pub(crate) fn submit(&mut self, request: Request) -> Check<Answer> {
        loop {
            let Some(stored) = self.store.runs.get(&request.run) else {
                return Err(format!("a command for {} that was never started", request.run));
            };
            let mut run = stored.run.clone();
            let based_on = run.seq;
            let context = self.context(request.by);
            let (outcome, idempotency) = match self.decide(&mut run, &request, &context) {
                Ok(decided) => decided,
                Err(refusal) => return self.refused(&request, &run, refusal),
            };
            if !self.interfering && !self.calm && self.chance(10) {
                self.interfere(request.run)?;
            }
            if !self.calm && self.chance(25) {
                self.crash("before the commit", &request);
                return Ok(Answer::Lost);
            }
            let reply = outcome.reply.clone();
            if !self.commit(Write { based_on, run, outcome, idempotency })? {
                self.report.conflicts += 1;
                // Whoever was first may have left events to be looked for: no timer fires before they were offered.
                if let Command::TimerFired(Timer::Waitpoint(number)) = request.command
                    && let Some(stored) = self.store.runs.get(&request.run)
                    && stored
                        .run
                        .offered_before(number)
                        .into_iter()
                        .any(|it| self.store.is_to_look_back(request.run, it))
                {
                    return Ok(Answer::Lost);
                }
                continue;
            }
            self.tell(|| format!("{} {:?} → {reply:?}", request.by, request.command));
            if !self.calm && self.chance(25) {
                self.crash("after the commit", &request);
                return Ok(Answer::Lost);
            }
            return Ok(Answer::Done);
        }
    }

    fn decide(
        &mut self,
        run: &mut Run,
        request: &Request,
        context: &Context,
    ) -> Result<(Outcome, Option<abide_core::idempotency::IdempotencyRecord>), Refusal> {
        match &request.key {
            Some(key) => {
                decide_with_key(run, request.command.clone(), context, key, self.store.keys.get(key))
            }
            None => decide(run, request.command.clone(), context).map(|outcome| (outcome, None)),
        }
    }

    /// A refusal must leave the run as it was.
    fn refused(&mut self, request: &Request, run: &Run, refusal: Refusal) -> Check<Answer> {
        self.report.refusals += 1;
        *self.report.seen.entry(refusal.code().to_owned()).or_default() += 1;
        self.tell(|| format!("{} {:?} ✗ {refusal}", request.by, request.command));
        if let Refusal::Illegal(illegal) = &refusal {
            return Err(format!("R10: a decision tried an illegal move: {illegal} ({:?})", request.command));
        }
        if self.store.runs[&request.run].run.snapshot() != run.snapshot() {
            return Err(format!("a refused command changed the run: {:?}: {refusal}", request.command));
        }
        Ok(Answer::Refused(refusal))
    }

    fn commit(&mut self, write: Write) -> Check<bool> {
        let write = match self.defect {
            Some(defect) => defect.plant(&self.store, write),
            None => write,
        };
        if !self.store.commit(&write) {
            return Ok(false);
        }
        self.report.records += write.outcome.records.len() as u64;
        self.inspector.committed(&self.store, &write)?;
        Ok(true)
    }

    /// A batch is committed whole or not at all.
    pub(crate) fn submit_batch(&mut self, requests: Vec<Request>) -> Check<bool> {
        if !self.calm && self.chance(10) {
            if let Some(request) = requests.first() {
                self.crash("in the middle of a batch", request);
            }
            return Ok(false);
        }
        for request in requests {
            let Some(stored) = self.store.runs.get(&request.run) else { continue };
            let mut run = stored.run.clone();
            let based_on = run.seq;
            let context = self.context(request.by);
            match self.decide(&mut run, &request, &context) {
                Ok((outcome, idempotency)) => {
                    self.tell(|| format!("{} {:?} (batch)", request.by, request.command));
                    self.commit(Write { based_on, run, outcome, idempotency })?;
                }
                Err(refusal) => {
                    self.refused(&request, &run, refusal)?;
                }
            }
        }
        Ok(true)
    }

    pub(crate) fn start(&mut self, new: NewRun, by: &str) -> Check<bool> {
        if self.store.runs.contains_key(&new.id) {
            return Ok(true);
        }
        let (id, name) = (new.id, new.definition.name().to_owned());
        let context = self.context(by);
        let (run, outcome) =
            start(new, &context).map_err(|refusal| format!("a start was refused: {refusal}"))?;
        if !self.calm && self.chance(25) {
            self.report.crashes += 1;
            return Ok(false);
        }
        self.tell(|| format!("{by} starts {name} as {id}"));
        self.commit(Write { based_on: 0, run, outcome, idempotency: None })
    }

    fn crash(&mut self, when: &str, request: &Request) {
        self.report.crashes += 1;
        self.tell(|| format!("crash {when} of {:?}", request.command));
    }

    /// Something else happens to the same run between load and commit.
    fn interfere(&mut self, run: RunId) -> Check {
        self.interfering = true;
        let command = self.any_command(run);
        let interfered = command.map_or(Ok(()), |request| self.submit(request).map(|_| ()));
        self.interfering = false;
        interfered
    }
}
