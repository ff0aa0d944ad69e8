//! What a run has said to those who call it: the replies of its `respond` steps and of its webhooks. Nothing is kept for
//! this: a reply is the output of its step, or stands on its waitpoint.

use jiff::Timestamp;

use crate::definition::Action;
use crate::json::Json;
use crate::run::Run;
use crate::status::StepStatus;

impl Run {
    /// The first reply at or after an instant.
    pub fn said_since(&self, since: Timestamp) -> Option<&Json> {
        let responds = self.places().filter(|(at, step)| {
            matches!(self.defined(*at).action, Action::Respond { .. }) && step.status == StepStatus::Completed
        });
        let responds = responds.filter_map(|(_, step)| Some((step.ended_at?, step.output.as_ref()?)));
        let webhooks = self.waitpoints().iter();
        let webhooks = webhooks.filter_map(|wait| Some((wait.created_at, wait.response_to_send.as_ref()?)));
        let said = responds.chain(webhooks).filter(|(at, _)| *at >= since);
        // Of one instant, the first: a step that responds goes on, one that waits does not.
        said.min_by_key(|(at, _)| *at).map(|(_, said)| said)
    }
}
