//! What workers report and people ask for, drawn by chance: the same for every kind of world.

use std::sync::Arc;

use abide_core::capacity::Policy;
use abide_core::command::{
    CallLimit, Command, CreateWaitpoint, Mismatch, PinTasks, ResumeTarget, ResumeWaitpoint, SendSignal,
    Steer, Steering, TaskCompleted, TaskFailed, TaskHeartbeat, TaskLogged, TaskNotified, TaskPaused,
    TaskRecorded, TaskSuspended, Via, Vote, WaitFor, WaitSpec,
};
use abide_core::definition::document::{Method, Retry};
use abide_core::definition::{HttpCall, LimitScope};
use abide_core::history::{Failure, FailureDetail, JournalResult, Level, LogLine, ModelCall, WakeOn};
use abide_core::id::{EventUid, StepAddress};
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::retry::RetryPolicy;
use abide_core::run::{Pin, Run};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::{Decision, Kind, ListensFor, Waitpoint};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::definitions;

/// No more runs are started than this, so that much happens to each.
pub(crate) const CROWD: usize = 8;
/// Who starts every run that no run starts.
pub(crate) const STARTER: &str = "client";
/// The limit that durable calls share.
pub(crate) const CALL_LIMIT: &str = "code";
/// How many durable calls may be made at once, for each key.
pub(crate) const CALLS_AT_ONCE: u32 = 2;
/// Those who decide on approvals.
pub(crate) const PEOPLE: [&str; 4] = ["anna", "ben", "cleo", "mallory"];

pub(crate) struct Choices<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) now: Timestamp,
    /// How many runs there are.
    pub(crate) runs: usize,
    /// Whether durable calls have limits.
    pub(crate) call_limits: bool,
}

/// Something that is asked of a run.
pub(crate) struct RandomCommand {
    pub(crate) by: &'static str,
    pub(crate) command: Command,
    pub(crate) key: Option<String>,
}

/// Something that a worker says of its task.
pub(crate) struct Report {
    pub(crate) command: Command,
    /// The worker believes that it does not have the task any more.
    pub(crate) lets_go: bool,
}

impl Choices<'_> {
    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        let count = u64::try_from(among.len()).ok().filter(|count| *count > 0)?;
        Some(among[self.random.below(count) as usize].clone())
    }

    /// The input of a run.
    pub(crate) fn input(&mut self) -> Value {
        let sleep = self.pick(&["1s", "1m", "2d", "not a time"]).unwrap_or("1s");
        let list: Vec<u64> = (0..self.random.below(4)).collect();
        json!({ "n": self.random.below(6), "sleep": sleep, "list": list, "next": "end", "status": "COMPLETED" })
    }

    /// An event: its id, and its data.
    pub(crate) fn event(&mut self) -> (Arc<str>, Value) {
        let event_id = self.pick(&["e1", "e2", "e-3", "e-4"]).unwrap_or("e1").into();
        let kind = self.pick(&["other", "this"]);
        let data =
            if self.chance(8) { json!(null) } else { json!({ "n": self.random.below(6), "kind": kind }) };
        (event_id, data)
    }

    // Workers

    /// Which code a worker has; some do not say.
    pub(crate) fn build(&mut self) -> Option<Arc<str>> {
        let builds: [Option<Arc<str>>; 3] = [None, Some("b1".into()), Some("b2".into())];
        self.pick(&builds).flatten()
    }

    /// What a worker says of its task; `None`: it dies and says nothing.
    pub(crate) fn report(&mut self, at: StepAddress, lease_epoch: u32, named: &mut u32) -> Option<Report> {
        let mut lets_go = true;
        let command = match self.random.below(18) {
            0..6 => self.completed(at, lease_epoch),
            6..9 => self.failed(at, lease_epoch),
            9 => {
                let name = self.journal_name();
                let checkpoint = self.chance(2).then(|| json!({ "page": 3 }).into());
                let duration = Millis(self.random.below(90_000));
                Command::TaskPaused(TaskPaused { at, lease_epoch, name, duration, checkpoint })
            }
            10..13 => self.suspended(at, lease_epoch),
            13 => {
                lets_go = false;
                let result = json!(self.random.below(2)).into();
                let entries = vec![JournalResult { name: format!("r{named}").into(), result }];
                let page = *named;
                *named += 1;
                let checkpoint = self.chance(2).then(|| json!({ "page": page }).into());
                // A model's answer, now and then; the same entry twice is paid once.
                let calls = (0..self.random.below(3)).map(|_| model_call(&entries[0].name)).take(1).collect();
                let cancels = self.given_up();
                Command::TaskHeartbeat(TaskHeartbeat { at, lease_epoch, checkpoint, entries, calls, cancels })
            }
            14 => {
                lets_go = false;
                let name = self.journal_name();
                let timeout = self.chance(2).then(|| Millis(self.random.below(100_000)));
                let wait = if self.chance(2) {
                    WaitFor::Call { allow_get: false, timeout }
                } else {
                    self.question(timeout)
                };
                let (asked, response) = (None, None);
                Command::CreateWaitpoint(CreateWaitpoint { at, lease_epoch, name, wait, asked, response })
            }
            15 if *named % 2 == 1 => {
                lets_go = false;
                let (event, event_id) = (EventUid(u128::from(*named)), "e1".into());
                Command::TaskNotified(TaskNotified { at, lease_epoch, event, event_id })
            }
            15 => {
                lets_go = false;
                let line = |level| LogLine { level, message: "working".to_owned() };
                let lines = vec![line(Level::Info), line(Level::Warn)];
                Command::TaskLogged(TaskLogged { at, lease_epoch, lines })
            }
            16 => {
                lets_go = false;
                let result = json!(self.random.below(2)).into();
                let entries = vec![JournalResult { name: format!("r{named}").into(), result }];
                *named += 1;
                let waits = (0..self.random.below(3)).map(|_| self.wait_spec()).collect();
                Command::TaskRecorded(TaskRecorded { at, lease_epoch, entries, waits })
            }
            _ => return None,
        };
        Some(Report { command, lets_go })
    }

    fn journal_name(&mut self) -> Arc<str> {
        // Now and then a name that a result has.
        let kind = if self.chance(20) { "r" } else { "j" };
        format!("{kind}{}", self.random.below(5)).into()
    }

    pub(crate) fn completed(&mut self, at: StepAddress, lease_epoch: u32) -> Command {
        let output = Json::from(json!({ "n": self.random.below(6), "goto": "end" }));
        let updates = [("doc".to_owned(), Json::from(json!("a draft")))].into();
        let state_updates = (!self.chance(8)).then_some(updates);
        Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates })
    }

    pub(crate) fn failed(&mut self, at: StepAddress, lease_epoch: u32) -> Command {
        let retry_after = self.chance(4).then(|| Millis(self.random.below(200_000)));
        let (message, code, retryable) = ("it broke".to_owned(), None, !self.chance(5));
        let detail = self.chance(2).then(|| {
            let (kind, stack) = (Some("Broken".to_owned()), Some("at work".to_owned()));
            Box::new(FailureDetail { kind, stack, ..FailureDetail::default() })
        });
        let sides = || Mismatch { recorded: "`a`".to_owned(), found: "`b`".to_owned() };
        let mismatch = self.chance(4).then(sides);
        Command::TaskFailed(TaskFailed {
            at,
            lease_epoch,
            message,
            code,
            retryable,
            retry_after,
            detail,
            mismatch,
        })
    }

    fn suspended(&mut self, at: StepAddress, lease_epoch: u32) -> Command {
        let count = 1 + self.random.below(3);
        let waits = (0..count).map(|_| self.wait_spec()).collect();
        let wake = self.pick(&[WakeOn::All, WakeOn::Any, WakeOn::Each]).unwrap_or_default();
        Command::TaskSuspended(TaskSuspended {
            at,
            lease_epoch,
            entries: Vec::new(),
            waits,
            wake,
            checkpoint: None,
            cancels: self.given_up(),
        })
    }

    /// Losers of a race, as durable code would name them; some of them are over, or were never begun.
    fn given_up(&mut self) -> Vec<Arc<str>> {
        if self.chance(3) { vec![self.journal_name()] } else { Vec::new() }
    }

    fn question(&mut self, timeout: Option<Millis>) -> WaitFor {
        let content_schema = self.chance(2).then(|| json!({ "type": "string" }).into());
        let (prompt, content, approvers, quorum) = (None, json!("ok?").into(), Vec::new(), 1);
        WaitFor::Approval { prompt, content, content_schema, approvers, quorum, timeout }
    }

    fn wait_spec(&mut self) -> WaitSpec {
        let name = self.journal_name();
        let timeout = self.chance(2).then(|| Millis(1 + self.random.below(200_000)));
        if self.call_limits && self.chance(3) {
            // Calls inside of calls may wait for each other; then their time is over some day.
            let timeout = timeout.unwrap_or(Millis(100_000));
            return WaitSpec::new(name, self.room_for_call(timeout));
        }
        let wait = match self.random.below(9) {
            0 => WaitFor::Sleep { duration: Millis(self.random.below(200_000)) },
            1 => WaitFor::Signal { signal_type: "a".into(), timeout },
            2 => WaitFor::Event {
                event_id: "e1".into(),
                matching: self.chance(2).then(|| "event.n >= input.n".to_owned()),
                fields: if self.chance(3) { [("n".to_owned(), json!(1).into())].into() } else { [].into() },
                lookback: None,
                timeout,
            },
            3 => WaitFor::Call { allow_get: self.chance(3), timeout },
            4 => WaitFor::RateLimit { until: Millis(self.random.below(100_000)).after(self.now) },
            6 => WaitFor::Retry {
                call: "charge".into(),
                attempt: 1 + u32::try_from(self.random.below(3)).unwrap_or_default(),
                policy: RetryPolicy::default(),
                retry_after: self.chance(2).then(|| Millis(self.random.below(100_000))),
                error: Failure::new("NO_MONEY", "no money"),
            },
            5 if self.runs < 3 * CROWD => WaitFor::Child {
                definition: self.pick(&["child-0", "child-1"]).unwrap_or_default().into(),
                version: None,
                input: json!({ "n": 1 }).into(),
                timeout,
                detached: self.chance(3),
                tags: Vec::new(),
            },
            7 if self.runs < 3 * CROWD => WaitFor::Http(Box::new(self.call())),
            _ => self.question(timeout),
        };
        WaitSpec::new(name, wait)
    }

    /// Room under a limit that durable calls of all workflows share, for a call whose result may be recorded some time.
    fn room_for_call(&mut self, timeout: Millis) -> WaitFor {
        let call = format!("r{}", self.random.below(4)).into();
        let policy = Policy { concurrency: Some(CALLS_AT_ONCE), rate: None };
        let key = self.random.below(2).to_string().into();
        let limit = CallLimit { name: CALL_LIMIT.into(), key, scope: LimitScope::Workspace, policy };
        WaitFor::Capacity { call, limit, timeout: Some(timeout) }
    }

    fn call(&mut self) -> HttpCall {
        let max_attempts =
            self.chance(2).then(|| 1 + u32::try_from(self.random.below(3)).unwrap_or_default());
        HttpCall {
            url: "https://example.com/{{ input.n }}".to_owned(),
            method: Method::Post,
            headers: Default::default(),
            body: self.chance(2).then(|| json!({ "n": "{{ input.n }}" }).into()),
            fail_on: None,
            retry: Retry { max_attempts, ..Retry::default() },
            timeout_ms: self.chance(3).then_some(5_000),
        }
    }

    // Everyone else

    /// Something that a sender, a person or an operator may ask of this run.
    pub(crate) fn any_command(&mut self, run: &Run, number: u64) -> Option<RandomCommand> {
        if run.status == RunStatus::Failed && self.chance(2) {
            return Some(RandomCommand { command: Command::Retry, by: "operator", key: None });
        }
        let key = self.chance(3).then(|| format!("key-{number}"));
        // Approvals are rare, and much can happen to one.
        let votes = self.some_approval(run).is_some() && self.chance(2);
        let (by, command) = match if votes { 11 } else { self.random.below(25) } {
            0..6 => {
                let signal_type = self.pick(&["a", "b", "c"]).unwrap_or("a").into();
                let payload = match self.random.below(4) {
                    0 => json!("text"),
                    1 => json!({ "input": "of the payload", "state": { "run": 1 } }),
                    _ => json!({ "amount": 99.0, "doc": "from a signal", "seq": number }),
                };
                ("sender", Command::SendSignal(SendSignal { signal_type, payload: payload.into() }))
            }
            6..11 => ("caller", self.resume(run)?),
            11..15 => {
                let number = self.some_approval(run).or_else(|| self.some_wait(run))?;
                let decision =
                    self.pick(&[Decision::Approve, Decision::Approve, Decision::Reject, Decision::Edit])?;
                let edited_content = (decision == Decision::Edit).then(|| json!("edited").into());
                let content_digest = self.chance(8).then(|| "sha256:of something else".to_owned());
                let vote = Vote { edited_content, content_digest, ..Vote::new(number, decision) };
                (if self.chance(6) { STARTER } else { self.pick(&PEOPLE)? }, Command::Vote(vote))
            }
            15..19 => ("operator", self.steer(run)?),
            19 => ("operator", Command::Pause),
            20..22 => ("operator", Command::Unpause),
            22 => {
                ("operator", if self.chance(3) { Command::Cancel { reason: None } } else { Command::Unpause })
            }
            23 => {
                let builds = [Pin::Lifted, Pin::To("b1".into()), Pin::To("b2".into())];
                ("operator", Command::PinTasks(PinTasks { handler: None, pin: self.pick(&builds)? }))
            }
            _ => ("operator", Command::Retry),
        };
        Some(RandomCommand { by, command, key })
    }

    fn some_approval(&mut self, run: &Run) -> Option<u32> {
        let open = run.open_waitpoints();
        let approvals: Vec<u32> =
            open.filter(|wait| wait.kind == Kind::Approval).map(|wait| wait.number).collect();
        self.pick(&approvals)
    }

    fn some_wait(&mut self, run: &Run) -> Option<u32> {
        let open: Vec<u32> = run.open_waitpoints().map(|wait| wait.number).collect();
        let all: Vec<u32> = run.waitpoints().map(|wait| wait.number).collect();
        let among = if open.is_empty() || self.chance(8) { all } else { open };
        self.pick(&among)
    }

    fn resume(&mut self, run: &Run) -> Option<Command> {
        let target = if self.chance(3) {
            let wait = self.chance(3).then(|| self.journal_name());
            let step = definitions::name(self.random.below(6) as usize);
            let step = if self.chance(5) { format!("{step}[{}]", self.random.below(3)) } else { step };
            ResumeTarget::Step { step, wait }
        } else {
            ResumeTarget::Waitpoint(self.some_wait(run)?)
        };
        let via = if self.chance(3) { Via::Read } else { Via::Write };
        let payload = json!({ "body": { "n": 1 }, "headers": {}, "queryParams": {} }).into();
        Some(Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via }))
    }

    fn steer(&mut self, run: &Run) -> Option<Command> {
        let number = self.some_wait(run)?;
        let steering = match self.random.below(5) {
            0 => {
                let length = Millis(self.random.below(1_000_000));
                let resume_at = if self.chance(3) { length.before(self.now) } else { length.after(self.now) };
                Steering::Reschedule { resume_at }
            }
            1 => Steering::Complete { payload: self.chance(2).then(|| json!({ "by": "hand" }).into()) },
            2 => Steering::TimeOut,
            3 => Steering::Skip { output: json!({ "by": "hand" }).into(), reason: None },
            _ => Steering::Cancel,
        };
        // Some operators may decide, too.
        let scopes = if self.chance(2) { vec!["approve".into()] } else { Vec::new() };
        Some(Command::Steer(Steer { number, steering, scopes }))
    }
}

/// How whoever it waits for ends an open wait that no clock will end; `None` for the parent
/// of a child, and for room.
pub(crate) fn ending(wait: &Waitpoint) -> Option<(&'static str, Command)> {
    Some(match &wait.listens_for {
        ListensFor::Signal { signal_type } => {
            let payload = json!({ "amount": 1 }).into();
            ("sender", Command::SendSignal(SendSignal { signal_type: Arc::clone(signal_type), payload }))
        }
        ListensFor::Call { .. } => {
            let payload = json!({ "body": null, "headers": {}, "queryParams": {} }).into();
            let target = ResumeTarget::Waitpoint(wait.number);
            ("caller", Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via: Via::Write }))
        }
        ListensFor::Approval(request) => {
            let undecided = |name: &&&str| !request.decisions.iter().any(|vote| *vote.by.0 == ***name);
            let by = PEOPLE.iter().find(undecided).copied().unwrap_or("anna");
            let vote = Vote::new(wait.number, Decision::Approve);
            (by, Command::Vote(vote))
        }
        ListensFor::Event(_)
        | ListensFor::Time
        | ListensFor::Attempt(_)
        | ListensFor::Code(_)
        | ListensFor::Starts(_) => {
            ("operator", Command::Steer(Steer::new(wait.number, Steering::Complete { payload: None })))
        }
        // Somebody gives room back, or the clock does.
        ListensFor::Child { .. } | ListensFor::Capacity(_) => return None,
    })
}

fn model_call(entry: &Arc<str>) -> ModelCall {
    ModelCall {
        entry: Arc::clone(entry),
        model: "m".into(),
        input_tokens: 10,
        cached_input_tokens: 0,
        output_tokens: 3,
        cost_micros: Some(7),
        error: None,
    }
}
