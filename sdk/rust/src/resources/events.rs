use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// Events to everyone.
#[derive(Debug, Clone, Copy)]
pub struct Events<'a>(pub(crate) &'a Client);

impl Events<'_> {
    /// To everyone who waits for it, now or later.
    pub async fn send(&self, event: &wire::SendEvent) -> Result<wire::EventSent, Error> {
        let request = self.0.post(at(&["events"])).body(event)?;
        self.0.transport().json(self.0.with_key(request)).await
    }

    /// Those that were sent; of one id, if it is given.
    pub fn list(&self, event_id: Option<&str>) -> Pages<wire::StoredEvent> {
        Pages::new(self.0, self.0.get(at(&["events"])).query(&json!({"eventId": event_id})))
    }

    /// Who waits for it.
    pub fn waiters(&self, event_id: &str) -> Pages<wire::Waiter> {
        Pages::new(self.0, Ok(self.0.get(at(&["events", event_id, "waiters"]))))
    }

    /// Which workflows start on which event, and which start was refused last.
    pub fn starts(&self) -> Pages<wire::StartedOnEvent> {
        Pages::new(self.0, Ok(self.0.get(at(&["events", "starts"]))))
    }
}
