//! Starts of runs: by a message, by somebody who does not know the SDK, by another run.

use abide_core::command::{WaitFor, WaitSpec};
use abide_core::run::Run;
use abide_engine::{StartRun, StartedHow};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::log::{CONFIRMED, Log, Request, RequestKind, Step, message_ids};
use crate::message::{Body, Message};
use crate::record::Recording;
use crate::routes::Problem;
use crate::shared::Prepared;
use crate::started::{Started, id_tag};
use crate::{Gateway, WORKFLOW};

/// A run that was started, or was there already.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) run: Run,
    pub(crate) workflow_run_id: String,
    pub(crate) deduplicated: bool,
}

impl Begun {
    /// How the start is answered.
    pub(crate) fn answer(&self) -> Value {
        let mut answer = json!({
            "messageId": message_ids(&self.run)("0"),
            "workflowRunId": self.workflow_run_id,
            "workflowCreatedAt": self.run.created_at.as_millisecond(),
        });
        if self.deduplicated {
            answer["deduplicated"] = json!(true);
        }
        answer
    }
}

impl Gateway {
    /// Starts the runs that messages ask for.
    pub(crate) async fn start_all(&self, messages: Vec<Message>) -> Result<Vec<Begun>, Problem> {
        let mut all = Vec::new();
        for Message { destination, headers, body } in messages {
            let id = headers.run_id().map_or_else(new_run_id, |id| Ok(id.to_owned()))?;
            let by_sdk = headers.is("upstash-workflow-trigger-by-sdk", "true");
            if by_sdk && let Some(begun) = self.confirm(&id).await? {
                // The SDK confirms one start at a time.
                return Ok(vec![begun]);
            }
            all.push(Started {
                workflow_run_id: id,
                url: destination,
                headers,
                body,
                invoker: None,
                unknown_sdk: false,
                flow: None,
            });
        }
        self.begin_all(all).await
    }

    /// Starts a run for somebody who does not know which SDK serves the endpoint.
    pub(crate) async fn trigger(&self, message: &Message) -> Result<Begun, Problem> {
        let id = message.headers.run_id().map_or_else(new_run_id, |id| Ok(id.to_owned()))?;
        let mut headers = message.headers.clone();
        headers.set("upstash-feature-set", "WF_DetectTrigger,WF_TriggerOnConfig");
        let (url, body) = (message.destination.clone(), message.body.clone());
        let started =
            Started { workflow_run_id: id, url, headers, body, invoker: None, unknown_sdk: true, flow: None };
        self.begin(started).await
    }

    /// The SDK confirms a start that it was asked for.
    async fn confirm(&self, id: &str) -> Result<Option<Begun>, Problem> {
        let Some(run) = self.find(id).await? else { return Ok(None) };
        self.record(id, |_, log| {
            let mut recording = Recording::default();
            if log.started.unknown_sdk && !log.confirmed {
                recording.entry(CONFIRMED, json!(true));
            }
            Ok(recording)
        })
        .await?;
        let run = self.workspace().run(run).get().await?;
        Ok(Some(Begun { run, workflow_run_id: id.to_owned(), deduplicated: false }))
    }

    pub(crate) async fn begin(&self, started: Started) -> Result<Begun, Problem> {
        let begun = self.begin_all(vec![started]).await?.into_iter().next();
        begun.ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "try again"))
    }

    /// Starts runs, hundreds in one commit, or finds those that were started before under their ids. If one may not be
    /// started, none is.
    async fn begin_all(&self, all: Vec<Started>) -> Result<Vec<Begun>, Problem> {
        let mut known = Vec::new();
        let mut starts = Vec::new();
        for mut started in all {
            self.check(&started.url)?;
            let prepared = self.prepared(&mut started).await?;
            let found = self.known.lock().await.get(&started.workflow_run_id).copied();
            if found.is_none() {
                starts.push(self.start_of(&started, prepared));
            }
            known.push((started.workflow_run_id, found));
        }
        let mut begun = Vec::new();
        let mut outcomes = self.workspace().start_many(starts).await.into_iter();
        for (id, found) in known {
            let outcome = if found.is_none() { outcomes.next() } else { None };
            let (run, deduplicated) = match (found, outcome) {
                (Some(run), _) => (Some(run), true),
                (None, Some(Ok(started))) => {
                    (Some(started.run), matches!(started.how, StartedHow::Repeated { .. }))
                }
                (None, Some(Err(error))) => return Err(error.into()),
                (None, None) => (None, false),
            };
            let run = run.ok_or_else(|| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "try again"))?;
            self.remember(&id, run).await;
            let run = self.workspace().run(run).get().await?;
            begun.push(Begun { run, workflow_run_id: id, deduplicated });
        }
        Ok(begun)
    }

    fn start_of(&self, started: &Started, Prepared { version, input }: Prepared) -> StartRun {
        let id = &started.workflow_run_id;
        StartRun::new(WORKFLOW)
            .version(version)
            .input(input)
            .tags(started.tags())
            .unique_tag(id_tag(id))
            .run_at(started.headers.due(self.engine.now()))
    }

    /// An address that may not be called is refused at once, with the setting that would allow it.
    pub(crate) fn check(&self, url: &str) -> Result<(), Problem> {
        let refused = |error: abide_calls::http::Error| {
            Problem::new(StatusCode::PRECONDITION_FAILED, error.to_string())
        };
        self.client.check(url).map_err(refused)
    }

    /// A run invokes another one: it is its child, and its end is an entry of the log.
    pub(crate) async fn invoke(&self, message: &Message) -> Result<String, Problem> {
        let bad = |what: &str| Problem::new(StatusCode::BAD_REQUEST, format!("an invoke has {what}"));
        let envelope: Value =
            serde_json::from_slice(&message.body.bytes()).map_err(|_| bad("a JSON body"))?;
        let parent = envelope["workflowRunId"].as_str().ok_or_else(|| bad("`workflowRunId`"))?;
        let step = serde_json::from_value::<Step>(envelope["step"].clone()).map_err(|_| bad("`step`"))?;
        let id = message.headers.run_id().ok_or_else(|| bad("a run id"))?;
        self.check(&message.destination)?;
        let headers = self.sealer.seal_headers(message.headers.clone())?;
        let body = Body::of(envelope["body"].as_str().unwrap_or_default().as_bytes());
        let is_redacted = crate::sealed::Redaction::of(&headers).body;
        let mut child = Started {
            workflow_run_id: id.to_owned(),
            url: message.destination.clone(),
            body: if is_redacted { self.sealer.seal_body(&body)? } else { body },
            headers,
            invoker: Some(json!({
                "workflowRunId": parent,
                "workflowUrl": envelope["workflowUrl"],
                "workflowRunCreatedAt": envelope["workflowRunCreatedAt"],
            })),
            unknown_sdk: false,
            flow: None,
        };
        let prepared = self.prepared(&mut child).await?;
        let invoked = |run: &Run, log: &Log| self.invoked(run, log, &step, &envelope, (&child, &prepared));
        let ids = self.record(parent, invoked).await?;
        Ok(ids.into_iter().next().unwrap_or_default())
    }
}

impl Gateway {
    fn invoked(
        &self,
        run: &Run,
        log: &Log,
        step: &Step,
        envelope: &Value,
        (child, prepared): (&Started, &Prepared),
    ) -> Result<Recording, Problem> {
        let number = step.plans().unwrap_or(step.step_id);
        let mut recording = Recording::default();
        recording.message_ids.push(message_ids(run)(&format!("i{number}")));
        if log.requests.contains_key(&number) || log.result(number).is_some() {
            return Ok(recording);
        }
        let name = format!("{}: invoke", step.result_name());
        let request = Request {
            step: envelope["step"].clone(),
            wait: Some(name.clone()),
            asked: json!({ "workflowRunId": child.workflow_run_id, "url": child.url }),
            headers: self.message_headers(log, &envelope["headers"])?,
        };
        let wait = WaitFor::Child {
            definition: WORKFLOW.into(),
            version: Some(prepared.version.as_str().into()),
            input: prepared.input.clone().into(),
            timeout: None,
            detached: false,
            tags: child.tags(),
        };
        recording.entry(
            RequestKind::Invoke.entry_name(number),
            serde_json::to_value(request).expect("it is JSON"),
        );
        recording.waits.push(WaitSpec::new(name, wait));
        Ok(recording)
    }
}

fn new_run_id() -> Result<String, Problem> {
    let random = crate::keys::secret(15);
    let random =
        random.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(format!("wfr_{random}"))
}
