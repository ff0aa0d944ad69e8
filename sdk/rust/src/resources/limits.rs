use reqwest::Method;
use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// Limits: how much room there is, who has it, who waits for it, and what is set at run time.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a>(pub(crate) &'a Client);

impl Limits<'_> {
    /// Keys of limits that somebody has room under or waits for, by name and key.
    pub fn list(&self) -> Pages<wire::LimitKey> {
        Pages::new(self.0, Ok(self.0.get(at(&["limits"]))))
    }

    /// Keys of limits that somebody waits for, those for which most wait first.
    pub fn by_pressure(&self) -> Pages<wire::LimitKey> {
        Pages::new(self.0, self.0.get(at(&["limits"])).query(&json!({ "pressure": true })))
    }

    /// One limit: its keys, who has room, who waits, what is set. Without a workflow it is the one of this name that all
    /// workflows of the workspace share; `key` says whose holders and line are shown.
    pub async fn find(
        &self,
        name: &str,
        workflow: Option<&str>,
        key: Option<&str>,
    ) -> Result<wire::LimitDetail, Error> {
        let request =
            self.0.get(at(&["limits", name])).query(&json!({ "workflow": workflow, "key": key }))?;
        self.0.transport().json(request).await
    }

    /// Changes, pauses, resumes or empties a limit: it stands above what definitions say until it is removed.
    pub async fn set(&self, name: &str, change: &wire::SetLimit) -> Result<wire::LimitSet, Error> {
        let request = self.0.request(Method::PUT, at(&["limits", name]));
        self.0.transport().json(request.body(change)?.repeatable()).await
    }
}
