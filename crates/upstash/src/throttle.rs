//! Flow control and queues, as limits of abide: who finds no room waits on a CAPACITY waitpoint.
//!
//! How much room a limit gives is said by a definition. So every set of figures is a version of the gateway's workflows, and
//! each key of a limit follows what the message that came last says.

use abide_core::capacity::Policy;
use abide_core::command::{CallLimit, WaitFor};
use abide_core::definition::Rate;
use abide_core::definition::document::{Holds, Limit, LimitScope, Retry, StepKind, Workflow};
use abide_core::time::Millis;
use axum::http::StatusCode;

use crate::message::Headers;
use crate::routes::Problem;
use crate::{Gateway, MESSAGE, VERSION, duration};

/// The limit of messages, runs and calls with a flow control key.
pub(crate) const FLOW: &str = "upstash-flow-control";
/// The limit of calls with a flow control key whose runs are under flow control themselves: a run that has room would wait
/// for itself.
const CALLS: &str = "upstash-flow-control-of-calls";
/// The limit of the messages of a queue.
const QUEUE: &str = "upstash-queue";
/// How many different sets of figures one process makes versions of.
const SETS: usize = 1_000;
pub(crate) const MOST_AT_ONCE: u32 = 100_000;
pub(crate) const MOST_IN_A_TIME: u32 = 1_000_000;

/// Figures of the limits that a message or a run is under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Throttle {
    pub(crate) parallelism: Option<u32>,
    pub(crate) rate: Option<u32>,
    pub(crate) period_ms: u64,
    /// How many messages of its queue are delivered at a time.
    pub(crate) queue: Option<u32>,
}

impl Throttle {
    /// The flow control that headers ask for, with its key.
    pub(crate) fn of(headers: &Headers) -> Result<Option<(String, Throttle)>, Problem> {
        let Some(key) = headers.get("upstash-flow-control-key").filter(|key| !key.is_empty()) else {
            return Ok(None);
        };
        let value = headers.get("upstash-flow-control-value").unwrap_or_default();
        let bad = || {
            let message =
                format!("`{value}` is not a flow control such as `parallelism=2, rate=10, period=1m`");
            Problem::new(StatusCode::BAD_REQUEST, message)
        };
        let mut throttle = Throttle { period_ms: 1_000, ..Throttle::default() };
        for part in value.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, figure) = part.split_once('=').ok_or_else(bad)?;
            let number = || figure.trim().parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(bad);
            match name.trim() {
                "parallelism" => throttle.parallelism = Some(number()?.min(MOST_AT_ONCE)),
                "rate" | "ratePerSecond" => throttle.rate = Some(number()?.min(MOST_IN_A_TIME)),
                "period" => {
                    let period = duration::parse(figure).filter(|period| period.0 > 0);
                    throttle.period_ms = period.ok_or_else(bad)?.0;
                }
                _ => return Err(bad()),
            }
        }
        match (throttle.parallelism, throttle.rate) {
            (None, None) => Err(bad()),
            (Some(_), _) | (_, Some(_)) => Ok(Some((key.to_owned(), throttle))),
        }
    }

    /// The wait for room of a call of this name under flow control. The room is held until the call has a result.
    pub(crate) fn wait(self, key: String, call: String, is_under_flow: bool) -> WaitFor {
        let rate = self.rate.map(|count| Rate { count, per: Millis(self.period_ms), burst: 1 });
        let limit = CallLimit {
            name: if is_under_flow { CALLS } else { FLOW }.into(),
            key: key.into(),
            scope: LimitScope::Workspace,
            policy: Policy { concurrency: self.parallelism, rate },
        };
        WaitFor::Capacity { call: call.into(), limit, timeout: None }
    }

    /// The version of the gateway's workflows that has these limits.
    pub(crate) fn version(self) -> String {
        let mut version = VERSION.to_owned();
        let mut add = |name: &str, figure: Option<u32>| {
            if let Some(figure) = figure {
                version = format!("{version}-{name}{figure}");
            }
        };
        add("queue", self.queue);
        add("parallel", self.parallelism);
        add("rate", self.rate);
        if self.rate.is_some() {
            version = format!("{version}-{}ms", self.period_ms);
        }
        version
    }

    pub(crate) fn workflow(self, name: &str) -> Workflow {
        let retry = Retry { max_attempts: Some(abide_core::limits::RETRY_ATTEMPTS), ..Retry::default() };
        let what = if name == MESSAGE { "One message" } else { "A run of a guest" };
        let description = format!("{what} of the Upstash gateway; it is started through /v2");
        let mut workflow = Workflow::new(name)
            .version(self.version())
            .description(description)
            .default_retry(retry)
            .task("workflow", name);
        workflow.limits = self.queue.map(|concurrency| {
            // The next message is delivered when this one has been, or is given up.
            let (key, holds) = (Some("{{ input.queue }}".to_owned()), Some(Holds::Run));
            vec![Limit { key, holds, concurrency: Some(concurrency), ..shared(QUEUE) }]
        });
        if (self.parallelism.is_some() || self.rate.is_some())
            && let Some(StepKind::Task(task)) = workflow.steps.first_mut().map(|step| &mut step.kind)
        {
            task.limits = Some(vec![Limit {
                key: Some("{{ input.flow }}".to_owned()),
                concurrency: self.parallelism,
                rate: self.rate,
                per_ms: self.rate.map(|_| self.period_ms),
                ..shared(FLOW)
            }]);
        }
        workflow
    }
}

fn shared(name: &str) -> Limit {
    Limit { name: name.to_owned(), scope: Some(LimitScope::Workspace), ..Limit::default() }
}

impl Gateway {
    /// The version of a workflow of the gateway that has these limits; it is stored if it is new.
    pub(crate) async fn version(&self, name: &'static str, throttle: Throttle) -> Result<String, Problem> {
        let mut stored = self.versions.lock().await;
        if !stored.contains(&(name, throttle)) {
            if stored.len() >= SETS {
                let message = format!("{SETS} different flow controls are in use (SETS); use fewer figures");
                return Err(Problem::new(StatusCode::PRECONDITION_FAILED, message));
            }
            self.workspace().definitions().deploy(throttle.workflow(name)).await?;
            stored.insert((name, throttle));
        }
        Ok(throttle.version())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &str) -> Option<(String, Throttle)> {
        let headers = json!({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": value });
        Throttle::of(&Headers::of_object(&headers)).ok().flatten()
    }

    #[test]
    fn flow_control_is_read_as_the_sdk_writes_it() {
        let (key, throttle) = of("parallelism=2, rate=10, period=1m").unwrap();
        let wanted =
            Throttle { parallelism: Some(2), rate: Some(10), period_ms: 60_000, ..Throttle::default() };
        assert_eq!((key.as_str(), throttle), ("k", wanted));
        assert_eq!(of("rate=3").unwrap().1.period_ms, 1_000);
        for bad in ["", "parallelism=0", "parallel=1", "period=1m", "rate"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_version_says_all_its_figures() {
        let throttle = Throttle { parallelism: Some(2), rate: Some(10), period_ms: 60_000, queue: Some(1) };
        assert_eq!(throttle.version(), "1-queue1-parallel2-rate10-60000ms");
        assert_eq!(Throttle::default().version(), "1");
    }
}
