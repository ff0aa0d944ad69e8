//! What all runs of an app have in common is stored once: a version of the guests' workflow has it as the `config` of its
//! task, and the runs of that version have only what is their own.
//!
//! A start that nobody repeats is stored whole, so that an endpoint with another query for every run does not leave a
//! version for each of them.

use std::collections::HashMap;
use std::fmt::Write as _;

use abide_core::definition::document::StepKind;
use abide_core::run::Run;
use abide_engine::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::log::STEP;
use crate::message::Headers;
use crate::routes::Problem;
use crate::started::Started;
use crate::throttle::Throttle;
use crate::{Gateway, VERSION, WORKFLOW};

/// Headers of a start that its app gives to all its runs.
const HEADERS: [&str; 10] = [
    "content-type",
    "upstash-failure-callback",
    "upstash-failure-callback-retries",
    "upstash-failure-callback-retry-delay",
    "upstash-failure-callback-timeout",
    "upstash-feature-set",
    "upstash-redact-fields",
    "upstash-retries",
    "upstash-retry-delay",
    "upstash-timeout",
];
/// How many different sets one process makes versions of; runs beyond them are stored whole.
const SETS: usize = 1_000;
/// How many sets are remembered that were asked for once.
const SEEN: usize = 10_000;
/// How much of the digest of a set is in the name of its version.
const DIGEST_BYTES: usize = 6;

/// What the runs of an app have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shared {
    pub(crate) url: String,
    pub(crate) headers: Headers,
}

impl Shared {
    /// What the version of a run says of it; nothing, if the run was stored whole.
    pub(crate) fn of(run: &Run) -> Shared {
        let config = run.defined(STEP).action.work().and_then(|work| work.config.as_ref());
        let config = config.and_then(|config| config.as_constant());
        config.and_then(|config| serde_json::from_value(Value::clone(config)).ok()).unwrap_or_default()
    }

    /// Takes what can be shared out of a start; `None` if nothing can.
    fn taken_from(started: &mut Started) -> Option<Shared> {
        let is_shared = |name: &str| HEADERS.contains(&name);
        let is_template = |text: &str| text.contains("{{");
        let headers = &started.headers.0;
        let has_template = headers.iter().any(|(name, value)| is_shared(name) && is_template(value));
        if has_template || is_template(&started.url) {
            return None;
        }
        let (shared, own) =
            std::mem::take(&mut started.headers).0.into_iter().partition(|(name, _)| is_shared(name));
        started.headers = Headers(own);
        Some(Shared { url: std::mem::take(&mut started.url), headers: Headers(shared) })
    }

    /// The version that has this in it, and these limits.
    fn version(&self, throttle: Throttle) -> String {
        let mut hasher = Sha256::new();
        hasher.update(serde_json::to_vec(&(throttle.version(), self)).expect("it is JSON"));
        let digest = hasher.finalize();
        let mut version = format!("{VERSION}-");
        for byte in &digest[..DIGEST_BYTES] {
            write!(version, "{byte:02x}").expect("a string takes what is written");
        }
        version
    }
}

/// The versions that starts have asked for.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// By name, and whether the version is stored.
    seen: HashMap<String, bool>,
    stored: usize,
}

/// A run as it is stored: the version of its workflow, and its input.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) version: String,
    pub(crate) input: Value,
}

impl Gateway {
    /// Leaves of a start what its run needs. The version of the guests' workflow is the one with the limits that the start
    /// asks for, and with what it has in common with others.
    pub(crate) async fn prepared(&self, started: &mut Started) -> Result<Prepared, Problem> {
        started.headers = std::mem::take(&mut started.headers).of_run();
        let asked = Throttle::of(&started.headers)?;
        let (key, throttle) = asked.map_or((None, Throttle::default()), |(key, it)| (Some(key), it));
        started.flow = key;
        let mut own = started.clone();
        // It is a tag of the run.
        own.workflow_run_id.clear();
        let shared = Shared::taken_from(&mut own);
        if let Some(shared) = shared
            && let Some(version) = self.shared_version(throttle, &shared).await?
        {
            let input = serde_json::to_value(own).expect("an input is JSON");
            return Ok(Prepared { version, input });
        }
        let version = self.version(WORKFLOW, throttle).await?;
        let whole = Started { workflow_run_id: String::new(), ..started.clone() };
        Ok(Prepared { version, input: serde_json::to_value(whole).expect("an input is JSON") })
    }

    /// The version that has this in it; `None` if it was not asked for before, or there are too many.
    async fn shared_version(&self, throttle: Throttle, shared: &Shared) -> Result<Option<String>, Problem> {
        let version = shared.version(throttle);
        let mut versions = self.shared.lock().await;
        match versions.seen.get(&version) {
            Some(true) => return Ok(Some(version)),
            Some(false) if versions.stored < SETS => {}
            Some(false) => return Ok(None),
            None => {
                if versions.seen.len() >= SEEN {
                    versions.seen.retain(|_, is_stored| *is_stored);
                }
                versions.seen.insert(version, false);
                return Ok(None);
            }
        }
        let mut workflow = throttle.workflow(WORKFLOW).version(&version);
        if let Some(StepKind::Task(task)) = workflow.steps.first_mut().map(|step| &mut step.kind) {
            task.config = Some(serde_json::to_value(shared).expect("it is JSON"));
        }
        match self.workspace().definitions().deploy(workflow).await {
            Ok(_) => {}
            // Somebody has given the name to something else.
            Err(Error::DefinitionExists { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        versions.seen.insert(version.clone(), true);
        versions.stored += 1;
        Ok(Some(version))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn started(headers: Value) -> Started {
        let started = json!({ "url": "http://app/wf", "headers": headers, "body": { "text": "{}" } });
        serde_json::from_value(started).unwrap()
    }

    #[test]
    fn what_an_app_gives_to_all_its_runs_is_taken_out_of_a_start() {
        let mut one = started(json!({ "upstash-retries": "0", "upstash-forward-x-user": "u" }));
        let shared = Shared::taken_from(&mut one).unwrap();
        assert_eq!(
            serde_json::to_value(&shared).unwrap(),
            json!({ "url": "http://app/wf", "headers": { "upstash-retries": "0" } })
        );
        assert_eq!(
            serde_json::to_value(&one).unwrap(),
            json!({ "headers": { "upstash-forward-x-user": "u" }, "body": { "text": "{}" } })
        );
    }

    #[test]
    fn what_would_be_a_template_in_a_definition_is_not_shared() {
        let mut one = started(json!({ "upstash-retry-delay": "{{ retried }}" }));
        assert_eq!(Shared::taken_from(&mut one), None);
        assert_eq!(one, started(json!({ "upstash-retry-delay": "{{ retried }}" })));
    }

    #[test]
    fn other_limits_and_other_headers_are_other_versions() {
        let one = Shared { url: "http://app".to_owned(), headers: Headers::default() };
        let other = Shared { url: "http://app/2".to_owned(), ..one.clone() };
        let limited = Throttle { parallelism: Some(2), ..Throttle::default() };
        let versions =
            [one.version(Throttle::default()), other.version(Throttle::default()), one.version(limited)];
        assert!(versions.iter().enumerate().all(|(at, version)| !versions[..at].contains(version)));
        assert_eq!(versions[0], one.clone().version(Throttle::default()));
    }
}
