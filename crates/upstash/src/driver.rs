//! The task of a guest's run: it delivers what its log says is to be delivered, and suspends when there is nothing but
//! waits. Everything it decides by is in the journal; a driver that is killed is replaced by one that reads it again.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_calls::http;
use abide_core::command::{Command, TaskRecorded, WaitFor, WaitSpec};
use abide_core::history::{Failure, FailureDetail, JournalResult, WakeOn};
use abide_core::json::Json;
use abide_core::retry::RetryPolicy;
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_engine::{Error, TaskResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Gateway;
use crate::delivery::{self, outgoing};
use crate::log::{Act, Log, Parcel, RequestKind, STEP, failed_name};
use crate::plain;

/// How many deliveries of one run are under way at a time.
const AT_ONCE: usize = 50;
const NOT_A_WORKFLOW: &str = "detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint";
const OLD_SDK: &str = "trigger rest api is only usable with sdk versions after v1.0.0 major version";
const STALLED: &str = "the endpoint answered with success, and neither submitted a step nor ended the run: nothing is left that could make it go on";

/// What came of a delivery.
struct Answered {
    parcel: Parcel,
    retried: u32,
    answer: Result<http::Response, http::Error>,
}

/// What follows from an answer.
enum Verdict {
    /// The delivery was taken.
    Taken,
    /// The delivery is to be tried again, after this time if the answer says so.
    Again(Option<Millis>),
    /// The run has failed, for this reason if it is not what the answer says.
    Failed(Option<&'static str>),
}

/// Performs the task of a guest's run.
pub(crate) async fn drive(gateway: Arc<Gateway>, task: Task) -> TaskResult {
    Driver::new(gateway, task).run().await
}

struct Driver {
    gateway: Arc<Gateway>,
    task: Task,
    in_flight: BTreeSet<Parcel>,
    /// Answered with success in this execution.
    taken: BTreeSet<Parcel>,
    /// How many deliveries were made in this execution.
    delivered: usize,
    answers: mpsc::UnboundedSender<Answered>,
    answered: mpsc::UnboundedReceiver<Answered>,
}

impl Driver {
    fn new(gateway: Arc<Gateway>, task: Task) -> Driver {
        // As many as are in flight, which has a bound.
        let (answers, answered) = mpsc::unbounded_channel();
        Driver {
            gateway,
            task,
            in_flight: BTreeSet::new(),
            taken: BTreeSet::new(),
            delivered: 0,
            answers,
            answered,
        }
    }

    async fn run(mut self) -> TaskResult {
        let worked = self.work().await;
        self.gateway.logs.forget(self.task.run_id);
        match worked {
            Ok(result) => result,
            // Whoever has the run now, or nobody, goes on with it: this report is not taken.
            Err(error) => TaskResult::fail(error.to_string()),
        }
    }

    async fn load(&self) -> Result<(Run, Arc<Log>), Error> {
        let run = self.gateway.workspace().run(self.task.run_id).get().await?;
        let log = self.gateway.log_of(&run).ok_or(Error::UnknownRun(self.task.run_id))?;
        Ok((run, log))
    }

    /// Whether the run is somebody else's to look after, or waits.
    fn is_released(&self, run: &Run) -> bool {
        let task = run.step(STEP).and_then(|step| step.task.as_deref());
        task.is_none_or(|task| !task.out || task.lease_epoch != self.task.lease_epoch)
    }

    async fn work(&mut self) -> Result<TaskResult, Error> {
        let gateway = Arc::clone(&self.gateway);
        let mut follower = gateway.engine.run(self.task.run_id).follow();
        let mut new_from = None;
        loop {
            follower.borrow_and_update();
            let (run, log) = self.load().await?;
            if run.status.has_ended() || self.is_released(&run) {
                // It is not taken.
                return Ok(TaskResult::complete(Value::Null));
            }
            if let Some(failure) = log.failures.get(&failed_name(log.visit)) {
                return Ok(failed(failure));
            }
            let new_from = *new_from.get_or_insert(log.entries.len());
            if self.act(&run, &log, new_from).await? {
                continue;
            }
            if self.in_flight.is_empty() && self.is_held_back(&log, new_from) {
                let at = gateway.engine.now();
                let turn = WaitSpec::new(log.turn_name(), WaitFor::Instant { at });
                return Ok(TaskResult::Suspend {
                    entries: Vec::new(),
                    waits: vec![turn],
                    wake: WakeOn::Each,
                });
            }
            if self.in_flight.is_empty() {
                let waits = log.open_waits();
                if waits.is_empty() {
                    self.fail(&run, &log, Parcel::Step(log.entries.len() - 1), stalled()).await?;
                    continue;
                }
                return Ok(TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::Each });
            }
            // Whoever adds to it need not copy it.
            drop(log);
            tokio::select! {
                Some(answered) = self.answered.recv() => self.judge(answered).await?,
                changed = follower.changed() => drop(changed),
            }
        }
    }

    /// Whether a run under flow control has had its delivery: the next one needs room of its own.
    fn is_held_back(&self, log: &Log, new_from: usize) -> bool {
        let is_new = |act: &Act| match act {
            Act::Deliver { parcel, .. } => !self.taken.contains(parcel),
            Act::Append { .. } | Act::GiveUp { .. } => false,
        };
        self.has_had_its_turn(log) && log.next(new_from).iter().any(is_new)
    }

    fn has_had_its_turn(&self, log: &Log) -> bool {
        log.started.flow.is_some() && self.delivered > 0
    }

    /// Does what is to be done now. Says whether the log has changed by it.
    async fn act(&mut self, run: &Run, log: &Log, new_from: usize) -> Result<bool, Error> {
        let mut entries = Vec::new();
        for act in log.next(new_from) {
            match act {
                Act::Append { name, stored } => {
                    let result = serde_json::to_value(stored).expect("an entry is JSON").into();
                    entries.push(JournalResult { name: name.into(), result });
                }
                Act::Deliver { parcel, retried } => self.deliver(run, log, parcel, retried),
                Act::GiveUp { parcel, retried } => {
                    let failure = json!({ "status": 0, "body": STANDARD.encode("a retry was cancelled"), "retried": retried });
                    self.fail(run, log, parcel, failure.into()).await?;
                    return Ok(true);
                }
            }
        }
        let has_changed = !entries.is_empty();
        if has_changed {
            self.record(entries, Vec::new()).await?;
        }
        Ok(has_changed)
    }

    fn deliver(&mut self, run: &Run, log: &Log, parcel: Parcel, retried: u32) {
        let is_full = self.in_flight.len() >= AT_ONCE || self.has_had_its_turn(log);
        if is_full || self.taken.contains(&parcel) || self.in_flight.contains(&parcel) {
            return;
        }
        let Some(outgoing) = outgoing(run, log, &parcel, retried) else { return };
        self.in_flight.insert(parcel.clone());
        self.delivered += 1;
        let (gateway, answers) = (Arc::clone(&self.gateway), self.answers.clone());
        // It goes on when this task is recalled: the app is not cut off in the middle of its answer.
        tokio::spawn(async move {
            let answer = gateway.send(outgoing).await;
            // If nobody wants to know any more, the run has ended or somebody else looks after it.
            let _ = answers.send(Answered { parcel, retried, answer });
        });
    }

    async fn judge(&mut self, Answered { parcel, retried, answer }: Answered) -> Result<(), Error> {
        self.in_flight.remove(&parcel);
        let (run, log) = self.load().await?;
        if run.status.has_ended()
            || self.is_released(&run)
            || log.failures.contains_key(&failed_name(log.visit))
        {
            return Ok(());
        }
        let (retries, usual_delay) = delivery::retries(&log, &parcel, retried);
        let now = self.gateway.engine.now();
        let verdict = match &parcel {
            Parcel::Call(step) => {
                let is_last = retried >= retries;
                let succeeded = answer.as_ref().is_ok_and(|answer| answer.status.is_success());
                let passes = answer.as_ref().map_or_else(|error| error.is_passing(), |_| true);
                if succeeded || is_last || !passes {
                    // A call that failed for good says that there will be no further attempt.
                    let retried = if succeeded { retried } else { retries };
                    let told = delivery::told(&answer, retried, retries, true);
                    let told = self.gateway.sealer.seal_answer(&log, told);
                    let told = told.map_err(|error| Error::MasterKey(error.to_string()))?;
                    return self.record_one(RequestKind::answer_name(*step), told).await;
                }
                Verdict::Again(answer.as_ref().ok().and_then(|answer| delivery::retry_after(answer, now)))
            }
            Parcel::Step(_) | Parcel::Callback(_) => judged(&log, &parcel, &answer, now),
        };
        match verdict {
            Verdict::Taken => self.taken(&log, parcel).await,
            Verdict::Again(after) if retried < retries => {
                let error = why(&answer);
                let policy = RetryPolicy { max_attempts: retries + 1, ..RetryPolicy::default() };
                let wait = WaitFor::Retry {
                    call: log.parcel_name(&parcel).into(),
                    attempt: retried + 1,
                    policy,
                    retry_after: Some(after.unwrap_or(usual_delay)),
                    error,
                };
                let name = log.retry_name(&parcel, retried + 1);
                self.record(Vec::new(), vec![WaitSpec::new(name, wait)]).await
            }
            Verdict::Again(_) | Verdict::Failed(None) => {
                let told = delivery::told(&answer, retried, retries, false);
                self.fail(&run, &log, parcel, told).await
            }
            Verdict::Failed(Some(why)) => {
                let mut told = Value::clone(&delivery::told(&answer, retried, retries, false));
                told["body"] = json!(STANDARD.encode(why));
                self.fail(&run, &log, parcel, told.into()).await
            }
        }
    }

    /// A delivery was answered with success. If it led to nothing, that is written down: it is not made again.
    async fn taken(&mut self, log: &Log, parcel: Parcel) -> Result<(), Error> {
        let is_done = log.is_done(&parcel);
        let name = log.parcel_name(&parcel);
        let is_handshake = log.started.unknown_sdk && parcel == Parcel::Step(0) && log.confirmed;
        if !is_handshake || is_done {
            self.taken.insert(parcel);
        }
        match is_done || is_handshake {
            true => Ok(()),
            false => self.record_one(format!("!delivered {name}"), json!(true).into()).await,
        }
    }

    async fn record_one(&self, name: String, result: Json) -> Result<(), Error> {
        self.record(vec![JournalResult { name: name.into(), result }], Vec::new()).await
    }

    async fn record(&self, entries: Vec<JournalResult>, waits: Vec<WaitSpec>) -> Result<(), Error> {
        let recorded = TaskRecorded { at: STEP, lease_epoch: self.task.lease_epoch, entries, waits };
        let run = self.gateway.workspace().run(self.task.run_id);
        run.command(Command::TaskRecorded(recorded)).await.map(drop)
    }

    /// Writes down why the run fails, and has its failure callback delivered.
    async fn fail(&self, run: &Run, log: &Log, parcel: Parcel, failure: Json) -> Result<(), Error> {
        let mut failure = Value::clone(&failure);
        failure["sourceMessageId"] = json!(match &parcel {
            Parcel::Step(place) => log.entries[*place].message_id.clone(),
            Parcel::Call(step) | Parcel::Callback(step) => crate::log::message_ids(run)(&format!("c{step}")),
        });
        failure["entry"] = json!(log.parcel_name(&parcel));
        let name = failed_name(log.visit);
        let entries = vec![JournalResult { name: name.into(), result: failure.clone().into() }];
        let callback = plain::failure_callback(&self.gateway, run, log, &failure).await;
        let waits: Vec<WaitSpec> = callback.unwrap_or_default().into_iter().collect();
        match self.record(entries.clone(), waits).await {
            // The callback is too large to be kept: the run fails without it.
            Err(Error::Refused(refusal)) if refusal.code() == "LIMIT_EXCEEDED" => {
                self.record(entries, Vec::new()).await
            }
            done => done,
        }
    }
}

fn judged(
    log: &Log,
    parcel: &Parcel,
    answer: &Result<http::Response, http::Error>,
    now: Timestamp,
) -> Verdict {
    match answer {
        Ok(response) if response.status.is_success() => {
            let is_first = *parcel == Parcel::Step(0);
            let is_workflow = response.headers.contains_key("upstash-workflow-sdk-version");
            let detects = log.started.unknown_sdk || log.started.headers.has_feature("WF_DetectTrigger");
            if is_first && detects && !is_workflow && !log.is_done(parcel) {
                return Verdict::Failed(Some(NOT_A_WORKFLOW));
            }
            if is_first && log.started.unknown_sdk && !log.confirmed {
                return Verdict::Failed(Some(OLD_SDK));
            }
            Verdict::Taken
        }
        Ok(response) if response.headers.contains_key("upstash-nonretryable-error") => Verdict::Failed(None),
        Ok(response) => Verdict::Again(delivery::retry_after(response, now)),
        // The app submits before it answers: what was cut off may have been done.
        Err(_) if log.is_done(parcel) => Verdict::Taken,
        Err(error) if error.is_passing() => Verdict::Again(None),
        Err(_) => Verdict::Failed(None),
    }
}

fn stalled() -> Json {
    json!({ "status": 200, "header": {}, "body": STANDARD.encode(STALLED), "retried": 0, "maxRetries": 0 })
        .into()
}

fn why(answer: &Result<http::Response, http::Error>) -> Failure {
    match answer {
        Err(error) => Failure::new(error.code(), error.to_string()),
        Ok(response) => {
            let told = told_by_app(&response.body);
            Failure::new("UPSTASH_ENDPOINT", format!("{}: {}", response.status.as_u16(), told.1))
        }
    }
}

/// The type of the error and the message that an app answered with.
fn told_by_app(body: &[u8]) -> (Option<String>, String, Option<String>) {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let field = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
    let message =
        field("message").unwrap_or_else(|| String::from_utf8_lossy(body).chars().take(500).collect());
    (field("error"), message, field("stack"))
}

fn failed(failure: &Json) -> TaskResult {
    let body = STANDARD.decode(failure["body"].as_str().unwrap_or_default()).unwrap_or_default();
    let (kind, message, stack) = told_by_app(&body);
    let call = failure["entry"].as_str().map(str::to_owned);
    let detail = FailureDetail { kind, call, stack, ..FailureDetail::default() };
    TaskResult::Fail {
        message,
        code: Some("UPSTASH_ENDPOINT".into()),
        retryable: false,
        retry_after: None,
        detail: Some(Box::new(detail)),
    }
}
