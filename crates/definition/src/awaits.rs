//! Which events the runs of a definition may come to wait for, as far as its document says. Retention goes by it: what
//! an open run may still look back to is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Action, Definition, Executor, Hook};
use crate::time::Millis;

/// A wait for events that a run of a definition may come to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitedEvent {
    /// `None`: any. The id is a template, or the handler of a task decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<Arc<str>>,
    /// How far before its beginning the wait looks; `None`: to the creation of its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<Millis>,
    /// The wait is of a run that calls this hook's handler, and not of a run of the definition itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
}

impl AwaitedEvent {
    /// What is known of a wait of which nothing is known.
    pub const ANY: AwaitedEvent = AwaitedEvent { event_id: None, lookback: None, hook: None };
}

impl Definition {
    /// The waits for events that its runs may come to. A wait that another one covers is left out.
    pub fn awaits(&self) -> Vec<AwaitedEvent> {
        let mut awaited: BTreeSet<AwaitedEvent> =
            self.steps.iter().flat_map(|step| awaited_by(&step.action)).collect();
        if self.has_tools() {
            // A tool is a handler too, in a run of its own that begins after this one and ends before it.
            awaited.insert(AwaitedEvent::ANY);
        }
        if awaited.contains(&AwaitedEvent::ANY) {
            // A `lookback` may reach further than to the creation of the run.
            awaited.retain(|wait| *wait == AwaitedEvent::ANY || wait.lookback.is_some());
        }
        // A handler of a hook may wait for anything, too.
        let hooks = Hook::ALL.into_iter().filter(|hook| self.hook(*hook).is_some());
        awaited.extend(hooks.map(|hook| AwaitedEvent { hook: Some(hook), ..AwaitedEvent::ANY }));
        awaited.into_iter().collect()
    }

    fn has_tools(&self) -> bool {
        let calls = self.document.steps.iter().filter_map(|step| step.kind.llm());
        calls.flat_map(|llm| &llm.tools).any(|tools| !tools.is_empty())
    }
}

fn awaited_by(action: &Action) -> Vec<AwaitedEvent> {
    match action {
        Action::Event { event_id, lookback, .. } => {
            let event_id = event_id.as_constant().and_then(|id| id.as_str()).map(Arc::from);
            vec![AwaitedEvent { event_id, lookback: *lookback, hook: None }]
        }
        Action::Work(work) => match work.executor {
            Executor::Handler => vec![AwaitedEvent::ANY],
            Executor::Http | Executor::Llm | Executor::Notify => Vec::new(),
        },
        Action::Map(map) => awaited_by(&map.step.action),
        Action::Group(group) => {
            group.waits().into_iter().flat_map(|member| awaited_by(&member.action)).collect()
        }
        Action::Wait(_)
        | Action::Condition { .. }
        | Action::Signal { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. }
        | Action::Child { .. } => Vec::new(),
    }
}
