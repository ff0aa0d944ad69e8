use reqwest::Method;
use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// Workflows that start again and again, by the clock.
#[derive(Debug, Clone, Copy)]
pub struct Schedules<'a>(pub(crate) &'a Client);

impl Schedules<'_> {
    /// All of them.
    pub fn list(&self) -> Pages<wire::Schedule> {
        Pages::new(self.0, Ok(self.0.get(at(&["schedules"]))))
    }

    /// Makes one.
    pub async fn create(&self, schedule: &wire::NewSchedule) -> Result<wire::Schedule, Error> {
        self.0.transport().json(self.0.post(at(&["schedules"])).body(schedule)?).await
    }

    /// As it is.
    pub async fn find(&self, id: &str) -> Result<wire::Schedule, Error> {
        self.0.transport().json(self.0.get(at(&["schedules", id]))).await
    }

    /// What is not named stays as it is. Another rule of time begins now.
    pub async fn change(&self, id: &str, change: &wire::ChangeSchedule) -> Result<wire::Schedule, Error> {
        let request = self.0.request(Method::PATCH, at(&["schedules", id]));
        self.0.transport().json(request.body(change)?.repeatable()).await
    }

    /// Runs that it started go on.
    pub async fn remove(&self, id: &str) -> Result<(), Error> {
        self.0.transport().send(self.0.request(Method::DELETE, at(&["schedules", id]))).await.map(drop)
    }

    /// Nothing comes while it is paused, and nothing of that is made up for later.
    pub async fn pause(&self, id: &str) -> Result<wire::Schedule, Error> {
        self.0.transport().json(self.0.post(at(&["schedules", id, "pause"])).repeatable()).await
    }

    /// The schedule goes on with its next occurrence.
    pub async fn unpause(&self, id: &str) -> Result<wire::Schedule, Error> {
        self.0.transport().json(self.0.post(at(&["schedules", id, "unpause"])).repeatable()).await
    }

    /// Starts one more run now, as the overlap policy allows; the next occurrence stays as it is.
    pub async fn trigger(&self, id: &str) -> Result<wire::Triggered, Error> {
        let request = self.0.post(at(&["schedules", id, "trigger"])).body(&json!({}))?;
        self.0.transport().json(self.0.with_key(request)).await
    }
}
