//! A waitpoint.

use std::sync::Arc;

use abide_core::capacity::Ask;
use abide_core::id::{EventUid, LimitId, RunId, ScheduleId, WaitpointId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::schedule::Schedule;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::{
    Actor, ApprovalRequest, ApprovalVote, ByLink, CodeMismatch, Decision, Kind, ListensFor, NextAttempt,
    TakenEvent, Waitpoint,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::run::DefinitionBody;
use super::step::FailureBody;
use super::words;
use crate::links::ApprovalLink;

/// A pause of a run, or of a schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Waitpoint")]
pub(crate) struct WaitpointBody {
    #[schemars(with = "String")]
    pub(crate) id: WaitpointId,
    /// Null: a schedule's wait.
    #[schemars(with = "Option<String>")]
    pub(crate) run_id: Option<RunId>,
    /// Of a SCHEDULE: whose next occurrence it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    schedule_id: Option<ScheduleId>,
    /// Of the run; absent for a schedule's wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<DefinitionBody>,
    /// Absent: the run's delayed start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step_name: Option<String>,
    /// The durable call of a handler that waits, or that is to be made again; of a step that waits for several things, the name
    /// of this one. Absent where the step itself waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) call: Option<Arc<str>>,
    /// Unique in its step; those that begin with `$` are the engine's.
    #[schemars(with = "String")]
    name: Arc<str>,
    #[schemars(schema_with = "words::kind")]
    pub(crate) kind: Kind,
    #[schemars(schema_with = "words::wait_status")]
    pub(crate) status: WaitStatus,
    pub(crate) created_at: Timestamp,
    /// When a DELAY, RETRY, PAUSE or SCHEDULE ends; the deadline of the others; null if there is none.
    pub(crate) resume_at: Option<Timestamp>,
    listens_for: ListensForBody,
    /// Of an APPROVAL: what is asked, and who has decided what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<ApprovalBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    response_to_send: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(crate) resume_payload: Option<Json>,
    /// Of an EVENT that has ended: the event that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<TakenEventBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) resolved_by: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_at: Option<Timestamp>,
    /// A URL that ends it without a key. Shown to callers that may end it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resume_url: Option<String>,
    /// Of an APPROVAL, in answers to `POST /waitpoints`: a link for everyone who may decide by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<ApprovalLink>,
    /// In answers to `POST /waitpoints`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) as_flow_run: Option<AsFlowRun>,
}

/// A waitpoint in the words of those who say *flow run*, beside ours.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(crate) struct AsFlowRun {
    /// The `runId`.
    #[schemars(with = "Option<String>")]
    pub(crate) flow_run_id: Option<RunId>,
    /// The `kind`.
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::kind")]
    pub(crate) kind: Kind,
    /// The `resumeAt`.
    pub(crate) resume_date_time: Option<Timestamp>,
}

/// The event that a wait took. One that was received long before the wait began was found by looking back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TakenEvent")]
pub(crate) struct TakenEventBody {
    #[schemars(with = "String")]
    id: EventUid,
    received_at: Timestamp,
}

impl From<TakenEvent> for TakenEventBody {
    fn from(event: TakenEvent) -> TakenEventBody {
        let TakenEvent { id, received_at } = event;
        TakenEventBody { id, received_at }
    }
}

/// What ends it, besides what ends any.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "type")]
#[schemars(rename = "ListensFor")]
pub(crate) enum ListensForBody {
    Time,
    Signal {
        #[schemars(with = "String")]
        signal_type: Arc<str>,
    },
    Event {
        #[schemars(with = "String")]
        event_id: Arc<str>,
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        matching: Option<String>,
        /// Events received before this are not looked at.
        since: Timestamp,
        /// Events received between `since` and this may have been forgotten before the wait began.
        #[serde(skip_serializing_if = "Option::is_none")]
        forgotten_before: Option<Timestamp>,
    },
    Call {
        allow_get: bool,
    },
    Approval,
    Child {
        #[schemars(with = "String")]
        run_id: RunId,
    },
    /// The clock: a durable call of a handler is made again.
    Attempt {
        #[schemars(with = "String")]
        call: Arc<str>,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// All that the call may have.
        max_attempts: u32,
        /// Why it failed.
        error: FailureBody,
    },
    /// A worker whose code fits what the handler has recorded.
    Code {
        #[schemars(with = "String")]
        handler: Arc<str>,
        /// The builds that do not fit, the last one last. The empty one did not say which it is.
        #[schemars(with = "Vec<String>")]
        builds: Vec<Arc<str>>,
        /// The only build that may have the task, which does not fit: an operator decides.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pinned_to: Option<Arc<str>>,
        /// What the journal holds.
        recorded: String,
        /// What the code came to instead.
        found: String,
    },
    /// Room under limits, all of it at once.
    Capacity {
        limits: Vec<LimitAskBody>,
        /// The limit in whose line it stands: one that had no room.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        waits_under: Option<Arc<str>>,
        /// 0 to 9. A level counts as much as a minute of waiting.
        priority: u8,
    },
    /// That no more starts come for a run that collects them, by the `debounce` of its workflow.
    Starts {
        /// What the starts have in common; empty where all of the workflow belong together.
        #[schemars(with = "String")]
        key: Arc<str>,
        /// How many starts there are so far.
        starts: u32,
        /// Whether the run gets the inputs of all of them.
        collect: bool,
        /// The run begins at once when it has so many.
        most: u32,
        /// The run begins then at the latest.
        until: Timestamp,
    },
}

/// A limit that room is asked of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LimitAsk")]
pub(crate) struct LimitAskBody {
    #[schemars(with = "String")]
    id: LimitId,
    #[schemars(with = "String")]
    name: Arc<str>,
    /// The workflow of the limit; absent: all of the workspace that name it share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    workflow: Option<Arc<str>>,
    /// Empty where the limit has no keys.
    #[schemars(with = "String")]
    key: Arc<str>,
}

impl From<&Ask> for LimitAskBody {
    fn from(ask: &Ask) -> LimitAskBody {
        let (name, workflow, key) = (Arc::clone(&ask.name), ask.workflow.clone(), Arc::clone(&ask.key));
        LimitAskBody { id: ask.limit, name, workflow, key }
    }
}

/// What people are asked to decide, and what they have decided so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApprovalState")]
pub(crate) struct ApprovalBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
    #[schemars(schema_with = "words::any")]
    pub(crate) content: Json,
    /// What edited content must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(crate) content_schema: Option<Json>,
    /// Stands for the content that is shown: send it along with a decision.
    pub(crate) content_digest: String,
    /// Empty: anyone with the scope `approve`.
    #[schemars(with = "Vec<String>")]
    pub(crate) approvers: Vec<Arc<str>>,
    pub(crate) quorum: u32,
    /// Whether whoever started the run may decide.
    allow_self_approval: bool,
    pub(crate) decisions: Vec<VoteBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Vote")]
pub(crate) struct VoteBody {
    #[schemars(with = "String")]
    by: Actor,
    #[schemars(schema_with = "words::decision")]
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// The link it was decided by; absent for a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<ByLinkBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VoteLink")]
pub(crate) struct ByLinkBody {
    /// Who made the link.
    #[schemars(with = "String")]
    made_by: Actor,
    /// The link is for nobody in particular.
    for_anyone: bool,
}

impl From<&ApprovalRequest> for ApprovalBody {
    fn from(request: &ApprovalRequest) -> ApprovalBody {
        let content_digest = request.content_digest();
        let ApprovalRequest {
            prompt,
            content,
            content_schema,
            approvers,
            quorum,
            allow_self_approval,
            decisions,
        } = request.clone();
        let decisions = decisions.into_iter().map(|ApprovalVote { by, decision, comment, link }| VoteBody {
            by,
            decision,
            comment,
            link: link.map(|ByLink { made_by, for_anyone }| ByLinkBody { made_by, for_anyone }),
        });
        ApprovalBody {
            prompt,
            content,
            content_schema,
            content_digest,
            approvers,
            quorum,
            allow_self_approval,
            decisions: decisions.collect(),
        }
    }
}

impl From<&ListensFor> for ListensForBody {
    fn from(listens_for: &ListensFor) -> ListensForBody {
        match listens_for {
            ListensFor::Time => ListensForBody::Time,
            ListensFor::Signal { signal_type } => {
                ListensForBody::Signal { signal_type: Arc::clone(signal_type) }
            }
            ListensFor::Event(filter) => ListensForBody::Event {
                event_id: Arc::clone(&filter.event_id),
                matching: filter.matching.as_ref().map(|matching| matching.source().to_owned()),
                since: filter.since,
                forgotten_before: filter.forgotten_before,
            },
            ListensFor::Call { allow_get } => ListensForBody::Call { allow_get: *allow_get },
            ListensFor::Approval(_) => ListensForBody::Approval,
            ListensFor::Child { run_id } => ListensForBody::Child { run_id: *run_id },
            ListensFor::Attempt(NextAttempt { call, attempt, max_attempts, error }) => {
                ListensForBody::Attempt {
                    call: Arc::clone(call),
                    attempt: *attempt,
                    max_attempts: *max_attempts,
                    error: error.into(),
                }
            }
            ListensFor::Capacity(request) => ListensForBody::Capacity {
                limits: request.asks.iter().map(LimitAskBody::from).collect(),
                waits_under: request.awaited().map(|ask| Arc::clone(&ask.name)),
                priority: request.priority,
            },
            ListensFor::Starts(collecting) => ListensForBody::Starts {
                key: Arc::clone(&collecting.key),
                starts: collecting.starts,
                collect: collecting.collect,
                most: collecting.most,
                until: collecting.until,
            },
            ListensFor::Code(mismatch) => {
                let CodeMismatch { handler, builds, pinned_to, recorded, found } = mismatch.clone();
                ListensForBody::Code { handler, builds, pinned_to, recorded, found }
            }
        }
    }
}

impl WaitpointBody {
    pub(crate) fn new(run: &Run, waitpoint: &Waitpoint) -> WaitpointBody {
        WaitpointBody {
            run_id: Some(run.id),
            definition: Some(DefinitionBody::of(&run.definition_ref)),
            step_name: waitpoint.at.map(|at| run.step_name(at)),
            ..WaitpointBody::of(run.waitpoint_id(waitpoint.number), waitpoint)
        }
    }

    pub(crate) fn of_schedule(schedule: &Schedule, waitpoint: &Waitpoint) -> WaitpointBody {
        WaitpointBody {
            schedule_id: Some(schedule.id),
            ..WaitpointBody::of(schedule.waitpoint_id(waitpoint.number), waitpoint)
        }
    }

    /// As it is shown to whoever has a link to it: not what an earlier caller sent, nor what voters remarked.
    pub(crate) fn for_link(mut self) -> WaitpointBody {
        let decision = self.resume_payload.as_deref().and_then(|payload| payload.get("decision")).cloned();
        let decision = decision.filter(|_| self.kind == Kind::Approval);
        self.resume_payload = decision.map(|decision| json!({ "decision": decision }).into());
        self.response_to_send = None;
        for vote in self.approval.iter_mut().flat_map(|approval| &mut approval.decisions) {
            vote.comment = None;
            vote.link = None;
        }
        self
    }

    /// Whose it is: its step, and the durable call of its handler.
    pub(crate) fn whose(&self) -> Option<String> {
        let step = self.step_name.as_deref()?;
        Some(self.call.as_ref().map_or_else(|| step.to_owned(), |call| format!("{step} › {call}")))
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        let payloads = self.response_to_send.iter().chain(&self.resume_payload);
        let content = self.approval.as_ref().map_or(0, |approval| approval.content.bytes());
        payloads.map(Json::bytes).sum::<usize>() + content
    }

    /// Without saying whose it is.
    fn of(id: WaitpointId, waitpoint: &Waitpoint) -> WaitpointBody {
        WaitpointBody {
            id,
            run_id: None,
            schedule_id: None,
            definition: None,
            step_name: None,
            call: waitpoint.call().cloned(),
            name: Arc::clone(&waitpoint.name),
            kind: waitpoint.kind,
            status: waitpoint.status,
            created_at: waitpoint.created_at,
            resume_at: waitpoint.resume_at,
            listens_for: (&waitpoint.listens_for).into(),
            approval: match &waitpoint.listens_for {
                ListensFor::Approval(request) => Some(request.into()),
                ListensFor::Time
                | ListensFor::Signal { .. }
                | ListensFor::Event(_)
                | ListensFor::Call { .. }
                | ListensFor::Child { .. }
                | ListensFor::Attempt(_)
                | ListensFor::Code(_)
                | ListensFor::Capacity(_)
                | ListensFor::Starts(_) => None,
            },
            response_to_send: waitpoint.response_to_send.clone(),
            resume_payload: waitpoint.shown_payload(),
            event: waitpoint.event.map(TakenEventBody::from),
            resolved_by: waitpoint.resolved_by.clone(),
            resolved_at: waitpoint.resolved_at,
            resume_url: None,
            links: Vec::new(),
            as_flow_run: None,
        }
    }
}
