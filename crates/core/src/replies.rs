//! The replies of a run to its callers, by its `respond` steps and its webhooks. Nothing is kept for this: a reply is
//! the output of its step, or stands on its waitpoint.

use jiff::Timestamp;

use crate::definition::Action;
use crate::history::{Change, Record};
use crate::json::Json;
use crate::run::Run;
use crate::status::StepStatus;

impl Run {
    /// The first reply of the run at or after an instant.
    pub fn reply_since(&self, since: Timestamp) -> Option<&Json> {
        let responds = self.step_runs().filter(|(at, step)| {
            matches!(self.defined(*at).action, Action::Respond { .. }) && step.status == StepStatus::Completed
        });
        let responds = responds.filter_map(|(_, step)| Some((step.ended_at?, step.output.as_ref()?)));
        let webhooks = self.waitpoints();
        let webhooks = webhooks.filter_map(|wait| Some((wait.created_at, wait.response_to_send.as_ref()?)));
        let said = responds.chain(webhooks).filter(|(at, _)| *at >= since);
        // Of one instant, the first: a step that responds goes on, one that waits does not.
        said.min_by_key(|(at, _)| *at).map(|(_, said)| said)
    }

    /// The first reply in these records of the run's history.
    pub fn reply_in<'r>(&self, records: &'r [Record]) -> Option<&'r Json> {
        records.iter().find_map(|record| {
            if let Change::StepWaiting { opens, .. } = &record.change {
                return opens.iter().find_map(|wait| wait.response_to_send.as_ref());
            }
            if let Change::WaitCreated { opens } = &record.change {
                return opens.response_to_send.as_ref();
            }
            let Change::StepCompleted { at, output, .. } = &record.change else { return None };
            output.as_ref().filter(|_| matches!(self.defined(*at).action, Action::Respond { .. }))
        })
    }
}
