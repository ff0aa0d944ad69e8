//! Tasks for workers: polled, worked on, reported. A worker needs nothing but HTTP and JSON.

mod journals;
pub(super) mod lease;
mod report;
mod wait;

use std::time::Duration;

use abide_core::command::Reply;
use abide_core::id::TaskId;
use abide_engine::Poll;
use abide_engine::stored::Scope;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::lease::Lease;
use self::report::{Complete, Fail, Heartbeat, Log, Pause, Release, Report, Suspend};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem, ProblemBody};
use crate::request::body::REPORTS_BYTES;
use crate::request::{Body, Id, Name};
use crate::shape::Answer;
use crate::shape::task::TaskBody;
use crate::traces;

const WORKER: Access = Access::Key(&[Scope::Worker]);
/// Handlers that one poll may ask for.
const HANDLERS: u32 = 1_000;
/// Tasks that one poll may take.
const TASKS: u32 = 1_000;
/// Reports in one request.
const REPORTS: u32 = 1_000;
/// How long a poll waits if it does not say, and at most.
const WAIT_MS: u64 = 30_000;
const LONGEST_WAIT_MS: u64 = 300_000;
/// How long a worker has a task before it must report, if it does not say, and at most.
const LEASE_MS: u64 = 60_000;
const LONGEST_LEASE_MS: u64 = 24 * 60 * 60 * 1_000;

pub(super) fn routes() -> Group {
    let report = |path, summary| {
        Endpoint::new(Verb::Post, path, WORKER, summary).ok::<ReportedBody>("Recorded.").codes(&[
            Code::BadLease,
            Code::UnknownRun,
            Code::UnknownTask,
            Code::StaleLease,
            Code::RunEnded,
            Code::WrongStepStatus,
            Code::PayloadTooLarge,
            Code::LimitExceeded,
            Code::JournalConflict,
            Code::JournalMismatch,
            Code::AlreadyResolved,
        ])
    };
    Group::new("tasks", "Work for workers: at least once, fenced by a lease.")
        .add(
            Endpoint::new(Verb::Post, "/tasks/poll", WORKER, "Ask for tasks, and wait until there are some")
                .body::<PollBody>()
                .ok::<PolledBody>("Tasks, or none when the time was over."),
            poll,
        )
        .add(journals::endpoint(), journals::list)
        .add(
            Endpoint::new(Verb::Post, "/tasks/report", WORKER, "Report on many tasks at once")
                .about("Each report has its own answer, in the same order; one that is refused hinders no other.")
                .body::<ReportsBody>()
                .ok::<ReportsDone>("An answer for each."),
            report_many,
        )
        .add(report("/tasks/{id}/complete", "Complete a task").body::<Complete>(), complete)
        .add(report("/tasks/{id}/fail", "Report that an attempt failed").body::<Fail>(), fail)
        .add(
            report("/tasks/{id}/pause", "Let go of a task for a while, without using up an attempt").body::<Pause>(),
            pause,
        )
        .add(
            report("/tasks/{id}/suspend", "Let go of a task until what it waits for has come").body::<Suspend>(),
            suspend,
        )
        .add(report("/tasks/{id}/heartbeat", "Say that a task is still worked on").body::<Heartbeat>(), heartbeat)
        .add(
            report("/tasks/{id}/checkpoint", "Leave a checkpoint or journal entries on the way").body::<Heartbeat>(),
            heartbeat,
        )
        .add(report("/tasks/{id}/log", "Write to the run's log").body::<Log>(), log)
        .add(report("/tasks/{id}/release", "Give a task back, for another worker").body::<Release>(), release)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PollTasks")]
struct PollBody {
    /// The names of the handlers that this worker has.
    #[schemars(length(min = 1, max = HANDLERS))]
    handlers: Vec<Name>,
    /// Tasks at most; 1 if absent.
    #[schemars(range(min = 1, max = TASKS))]
    max_tasks: Option<u32>,
    /// How long to wait for a task; 30000 if absent.
    #[schemars(range(max = LONGEST_WAIT_MS))]
    wait_ms: Option<u64>,
    /// Who works; shown in histories and at `/workers`.
    worker_id: Name,
    /// Which code the worker has. Tasks whose journal it does not fit wait for a worker with another one.
    build_id: Option<Name>,
    /// How long the worker has a task before it must report; 60000 if absent. A step's `heartbeatMs` comes first.
    #[schemars(range(min = 100, max = LONGEST_LEASE_MS))]
    lease_ms: Option<u64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "PolledTasks")]
struct PolledBody {
    tasks: Vec<TaskBody>,
}

async fn poll(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<PollBody>,
) -> Result<Answer<PolledBody>, Problem> {
    let PollBody { handlers, max_tasks, wait_ms, worker_id, build_id, lease_ms } = body;
    let most = usize::try_from(max_tasks.unwrap_or(1)).unwrap_or(usize::MAX);
    let lease = Duration::from_millis(lease_ms.unwrap_or(LEASE_MS));
    let wait = Duration::from_millis(wait_ms.unwrap_or(WAIT_MS));
    let poll = Poll::new(worker_id.as_str(), handlers, lease).most(most);
    let poll = poll.build(build_id.as_ref().map_or("", Name::as_str));
    let tasks = app.engine.workspace(caller.workspace).tasks();
    let tasks = if wait.is_zero() {
        tasks.claim(poll).await?
    } else {
        // Tasks that come too late go back to the engine.
        tokio::select! {
            biased;
            tasks = tasks.poll(poll) => tasks?,
            () = tokio::time::sleep(wait) => Vec::new(),
            () = app.stopped() => Vec::new(),
        }
    };
    let tasks = tasks.into_iter().map(|mut leased| {
        let lease = Lease { run: leased.task.run_id, at: leased.at, lease_epoch: leased.task.lease_epoch };
        let token = app.lease_token(&caller, lease);
        if app.traces.is_some() {
            let Lease { run, at, lease_epoch } = lease;
            leased.task.traceparent = Some(traces::of_attempt(run, at, lease_epoch, leased.task.traceparent));
        }
        TaskBody::new(leased, token)
    });
    Ok(Answer::ok(PolledBody { tasks: tasks.collect() }))
}

/// What became of a report.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reported")]
struct ReportedBody {
    /// After a heartbeat: when the attempt's time is over, if it has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    /// After a pause: the waitpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    waitpoint_id: Option<abide_core::id::WaitpointId>,
}

impl From<Reply> for ReportedBody {
    fn from(reply: Reply) -> ReportedBody {
        match reply {
            Reply::Leased { deadline } => ReportedBody { deadline, waitpoint_id: None },
            Reply::Waitpoint(id) | Reply::Repeated(id) => {
                ReportedBody { deadline: None, waitpoint_id: Some(id) }
            }
            Reply::Done
            | Reply::Started(_)
            | Reply::Collected(_)
            | Reply::Unchanged
            | Reply::Signalled { .. }
            | Reply::EventSent { .. }
            | Reply::Voted { .. } => ReportedBody::default(),
        }
    }
}

impl App {
    /// A report on the task that the path names.
    async fn report_on(
        &self,
        caller: &Caller,
        task: TaskId,
        report: Report,
    ) -> Result<Answer<ReportedBody>, Problem> {
        let lease = self.lease(caller, report.lease_token()).await?;
        if lease.run.task(lease.at) != task {
            return Err(Problem::new(Code::BadLease, format!("the lease token is not one of {task}")));
        }
        let command = report.command(lease)?;
        let reply = self.command(caller, lease.run, command, None).await?;
        Ok(Answer::ok(reply.into()))
    }
}

async fn complete(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Complete>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Complete(body)).await
}

async fn fail(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Fail>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Fail(body)).await
}

async fn pause(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Pause>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Pause(body)).await
}

async fn suspend(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Suspend>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Suspend(body)).await
}

async fn heartbeat(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Heartbeat>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Heartbeat(body)).await
}

async fn log(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Log>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Log(body)).await
}

async fn release(
    State(app): State<Shared>,
    caller: Caller,
    Id(task): Id<TaskId>,
    Body(body): Body<Release>,
) -> Result<Answer<ReportedBody>, Problem> {
    app.report_on(&caller, task, Report::Release(body)).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReportTasks")]
struct ReportsBody {
    #[schemars(length(max = REPORTS))]
    reports: Vec<Report>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReportedTasks")]
struct ReportsDone {
    /// In the order of the reports.
    results: Vec<ReportDone>,
}

/// Either recorded, or why not.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReportDone {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported: Option<ReportedBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

impl From<Result<ReportedBody, Problem>> for ReportDone {
    fn from(result: Result<ReportedBody, Problem>) -> ReportDone {
        match result {
            Ok(reported) => ReportDone { ok: true, reported: Some(reported), problem: None },
            Err(problem) => ReportDone { ok: false, reported: None, problem: Some(problem.into_body()) },
        }
    }
}

async fn report_many(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<ReportsBody, REPORTS_BYTES>,
) -> Result<Answer<ReportsDone>, Problem> {
    let mut commands = Vec::with_capacity(body.reports.len());
    let mut asked: Vec<Result<(), Problem>> = Vec::with_capacity(body.reports.len());
    for report in body.reports {
        let lease = app.lease(&caller, report.lease_token()).await;
        let command = lease.and_then(|lease| Ok((lease.run, report.command(lease)?)));
        asked.push(command.map(|command| commands.push(command)));
    }
    let replies = app.engine.workspace(caller.workspace).commands(commands, caller.actor.clone()).await?;
    let mut replies = replies.into_iter();
    let results = asked.into_iter().map(|asked| {
        let reply = asked.map(|()| replies.next().expect("there is a reply to each command"));
        ReportDone::from(reply.and_then(|reply| Ok(reply?.into())))
    });
    Ok(Answer::ok(ReportsDone { results: results.collect() }))
}
