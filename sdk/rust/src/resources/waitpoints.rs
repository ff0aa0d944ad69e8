use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::Timestamp;
use crate::client::{Client, json_of};
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::{Request, at};
use crate::wire::{self, Json};

/// Everything that waits, and what has waited.
#[derive(Debug, Clone, Copy)]
pub struct Waitpoints<'a>(pub(crate) &'a Client);

impl Waitpoints<'_> {
    /// Those that a filter finds.
    pub fn list(&self, filter: &wire::WaitpointFilter) -> Pages<wire::Waitpoint> {
        Pages::new(self.0, self.0.get(at(&["waitpoints"])).query(filter))
    }

    /// As a worker: the same name gives the same waitpoint.
    pub async fn create(&self, waitpoint: &wire::CreateWaitpoint) -> Result<wire::Waitpoint, Error> {
        self.0.transport().json(self.0.post(at(&["waitpoints"])).body(waitpoint)?.repeatable()).await
    }

    /// As it is.
    pub async fn find(&self, id: &str) -> Result<wire::Waitpoint, Error> {
        self.0.transport().json(self.0.get(at(&["waitpoints", id]))).await
    }

    /// Moves it to another instant.
    pub async fn reschedule(&self, id: &str, resume_at: Timestamp) -> Result<wire::Waitpoint, Error> {
        let request = self.0.request(Method::PATCH, at(&["waitpoints", id]));
        self.keyed(request, &wire::RescheduleWaitpoint::new(resume_at)).await
    }

    /// Ends a wait as if what it waits for had come.
    pub async fn complete(&self, id: &str, payload: impl Serialize) -> Result<wire::Waitpoint, Error> {
        let body = wire::CompleteWaitpoint::default().payload(json_of(payload)?);
        self.keyed(self.0.post(at(&["waitpoints", id, "complete"])), &body).await
    }

    /// Completes the step of a wait for other code (CODE) with an output, without its handler.
    pub async fn skip(&self, id: &str, skip: &wire::SkipWaitpoint) -> Result<wire::Waitpoint, Error> {
        self.keyed(self.0.post(at(&["waitpoints", id, "skip"])), skip).await
    }

    /// Ends a wait as if its time were over.
    pub async fn time_out(&self, id: &str) -> Result<wire::Waitpoint, Error> {
        self.keyed(self.0.post(at(&["waitpoints", id, "timeout"])), &json!({})).await
    }

    /// Ends a wait as cancelled.
    pub async fn cancel(&self, id: &str) -> Result<wire::Waitpoint, Error> {
        self.keyed(self.0.post(at(&["waitpoints", id, "cancel"])), &json!({})).await
    }

    /// A resume URL for one person: what is done with it is recorded under that name.
    pub async fn make_link(&self, id: &str, recipient: Option<&str>) -> Result<wire::Link, Error> {
        let body = wire::MakeLink { recipient: recipient.map(str::to_owned), ..Default::default() };
        self.0.transport().json(self.0.post(at(&["waitpoints", id, "link"])).body(&body)?).await
    }

    /// Makes every resume URL of the waitpoint void.
    pub async fn revoke_links(&self, id: &str) -> Result<wire::Waitpoint, Error> {
        self.0.transport().json(self.0.request(Method::DELETE, at(&["waitpoints", id, "link"]))).await
    }

    /// One thing done to every pending wait that a filter finds.
    pub async fn bulk(&self, steering: &wire::BulkSteering) -> Result<wire::BulkSteered, Error> {
        self.0.transport().json(self.0.post(at(&["waitpoints", "bulk"])).body(steering)?).await
    }

    /// As whoever has the resume URL: ends the wait with this body.
    pub async fn resume(&self, resume_url: &str, body: impl Serialize) -> Result<wire::Resumed, Error> {
        self.keyed(self.0.post(resume_url), &body).await
    }

    /// Resumes a step by its name, even before it has begun.
    pub async fn resume_step(
        &self,
        run_id: &str,
        step: &str,
        body: impl Serialize,
    ) -> Result<wire::Resumed, Error> {
        self.keyed(self.0.post(at(&["workflow-runs", run_id, "waitpoints", step])), &body).await
    }

    /// Resumes a step's waitpoint, and returns the run's next reply.
    pub async fn resume_step_sync(
        &self,
        run_id: &str,
        step: &str,
        body: impl Serialize,
    ) -> Result<Json, Error> {
        self.keyed(self.0.post(at(&["workflow-runs", run_id, "waitpoints", step, "sync"])), &body).await
    }

    async fn keyed<T: DeserializeOwned>(&self, request: Request, body: &impl Serialize) -> Result<T, Error> {
        self.0.transport().json(self.0.with_key(request.body(body)?)).await
    }
}
