use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire::{self, TaskReport};

/// Work, as a worker takes and reports it. The [`Worker`](crate::Worker) does all of this by itself.
#[derive(Debug, Clone, Copy)]
pub struct Tasks<'a>(pub(crate) &'a Client);

impl Tasks<'_> {
    /// Waits for tasks, and takes them.
    pub async fn poll(&self, poll: &wire::PollTasks) -> Result<wire::PolledTasks, Error> {
        self.0.transport().json(self.0.post(at(&["tasks", "poll"])).body(poll)?).await
    }

    /// What handlers of open runs have recorded, of one handler or all, of one workflow or all: what a worker would be given
    /// if their waits ended now.
    pub fn journals(&self, handler: Option<&str>, workflow: Option<&str>) -> Pages<wire::TaskJournal> {
        let query = json!({ "handler": handler, "workflow": workflow });
        Pages::new(self.0, self.0.get(at(&["tasks", "journals"])).query(&query))
    }

    /// Many reports at once. Each has an answer of its own.
    pub async fn report(&self, reports: &[TaskReport]) -> Result<wire::ReportedTasks, Error> {
        let request = self.0.post(at(&["tasks", "report"])).body(&json!({"reports": reports}))?;
        self.0.transport().json(request.repeatable()).await
    }

    /// One report on a task.
    pub async fn report_on(&self, id: &str, report: &TaskReport) -> Result<wire::Reported, Error> {
        let post = |what| self.0.post(at(&["tasks", id, what]));
        let request = match report {
            TaskReport::Complete(report) => post("complete").body(report),
            TaskReport::Fail(report) => post("fail").body(report),
            TaskReport::Pause(report) => post("pause").body(report),
            TaskReport::Suspend(report) => post("suspend").body(report),
            TaskReport::Release(report) => post("release").body(report),
            TaskReport::Log(report) => post("log").body(report),
            TaskReport::Heartbeat(report) if report.checkpoint.is_some() => {
                Ok(post("checkpoint").body(report)?.repeatable())
            }
            TaskReport::Heartbeat(report) => Ok(post("heartbeat").body(report)?.repeatable()),
        };
        self.0.transport().json(request?).await
    }
}
