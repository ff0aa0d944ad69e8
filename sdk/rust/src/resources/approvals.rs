use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// What people are to decide.
#[derive(Debug, Clone, Copy)]
pub struct Approvals<'a>(pub(crate) &'a Client);

impl Approvals<'_> {
    /// Those that are open, or not; of one run, if it is given.
    pub fn list(&self, pending: Option<bool>, run_id: Option<&str>) -> Pages<wire::ApprovalRequest> {
        let query = json!({"pending": pending, "runId": run_id});
        Pages::new(self.0, self.0.get(at(&["approval-requests"])).query(&query))
    }

    /// As it is.
    pub async fn find(&self, id: &str) -> Result<wire::ApprovalRequest, Error> {
        self.0.transport().json(self.0.get(at(&["approval-requests", id]))).await
    }

    /// Decides.
    pub async fn decide(&self, id: &str, decision: &wire::Decide) -> Result<wire::Decided, Error> {
        let request = self.0.post(at(&["approval-requests", id, "decide"])).body(decision)?;
        self.0.transport().json(self.0.with_key(request)).await
    }
}
