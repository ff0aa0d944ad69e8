//! What each type of step does, from its fields. The types that do work outside the core are in `work`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Compiler, Place};
use crate::BY_SCOPE;
use crate::document::{self, MapStepKind, Respond, StepKind};
use crate::expression::Template;
use crate::json::Json;
use crate::limits;
use crate::problem::{Code, Problem, pointer};
use crate::retry::RetryPolicy;
use crate::time::Millis;
use crate::{Action, Approval, Escalation, Items, Map, OnApprovalTimeout, OnTimeout, Step, Target};

impl Compiler<'_> {
    pub(super) fn action(&mut self, step: &document::Step, name: &Arc<str>) -> Option<Action> {
        match &step.kind {
            StepKind::Task(task) => Some(self.task(task)),
            StepKind::Wait(wait) => self.until(wait).map(Action::Wait),
            StepKind::Condition(condition) => self.condition(condition),
            StepKind::ExternalEvent(signal) => Some(self.signal(signal)),
            StepKind::WaitForEvent(event) => self.event(event),
            StepKind::Webhook(webhook) => Some(self.webhook(webhook)),
            StepKind::Approval(approval) => Some(self.approval(approval)),
            StepKind::Llm(llm) => self.llm(llm),
            StepKind::Http(http) => self.http(http),
            StepKind::Notify(notify) => self.notify(notify),
            StepKind::Respond(respond) => {
                let pointer = self.place.pointer.clone();
                Some(Action::Respond { response: self.reply(&pointer, respond)? })
            }
            StepKind::Workflow(child) => Some(self.child(child)),
            StepKind::Map(map) => self.map(step, map, name),
            StepKind::WaitAny(any) => self.wait_any(any),
            StepKind::WaitAll(all) => self.wait_all(all),
            StepKind::WaitSome(some) => self.wait_some(some),
        }
    }

    fn item_action(&mut self, kind: &MapStepKind) -> Option<Action> {
        match kind {
            MapStepKind::Task(task) => Some(self.task(task)),
            MapStepKind::Wait(wait) => self.until(wait).map(Action::Wait),
            MapStepKind::ExternalEvent(signal) => Some(self.signal(signal)),
            MapStepKind::WaitForEvent(event) => self.event(event),
            MapStepKind::Webhook(webhook) => Some(self.webhook(webhook)),
            MapStepKind::Llm(llm) => self.llm(llm),
            MapStepKind::Http(http) => self.http(http),
            MapStepKind::Notify(notify) => self.notify(notify),
            MapStepKind::Workflow(child) => Some(self.child(child)),
        }
    }

    fn condition(&mut self, condition: &document::Condition) -> Option<Action> {
        let expression = self.expression("expression", &condition.expression);
        let on_true = self.target(&self.place.field("trueStep"), &condition.true_step);
        let on_false = condition
            .false_step
            .as_deref()
            .and_then(|name| self.target(&self.place.field("falseStep"), name));
        Some(Action::Condition { expression: expression?, on_true: on_true?, on_false })
    }

    pub(super) fn signal(&mut self, signal: &document::ExternalEvent) -> Action {
        self.plain("signalType", &signal.signal_type);
        let deadline = self.deadline(
            signal.timeout_ms,
            signal.timeout.as_deref(),
            signal.on_timeout.as_ref(),
            OnTimeout::Fail,
        );
        Action::Signal { signal_type: Arc::from(signal.signal_type.as_str()), deadline }
    }

    pub(super) fn event(&mut self, event: &document::WaitForEvent) -> Option<Action> {
        let event_id = self.text_template("eventId", &event.event_id);
        let matching = event.r#match.as_deref().and_then(|source| self.event_expression("match", source));
        let lookback = self.length("lookbackMs", event.lookback_ms, "lookback", event.lookback.as_deref());
        let deadline = self.deadline(
            event.timeout_ms,
            event.timeout.as_deref(),
            event.on_timeout.as_ref(),
            OnTimeout::Continue,
        );
        Some(Action::Event { event_id: event_id?, matching, lookback, deadline })
    }

    pub(super) fn webhook(&mut self, webhook: &document::Webhook) -> Action {
        let at = self.place.field("responseToSend");
        let response = webhook.response_to_send.as_ref().and_then(|reply| self.reply(&at, reply));
        let deadline = self.deadline(
            webhook.timeout_ms,
            webhook.timeout.as_deref(),
            webhook.on_timeout.as_ref(),
            OnTimeout::Fail,
        );
        let (allow_get, allow_sync) = (webhook.allow_get, webhook.allow_sync);
        let keep_headers = self.kept_headers("keepHeaders", webhook.keep_headers.as_deref());
        Action::Webhook { response, allow_get, allow_sync, keep_headers, deadline }
    }

    /// `{status, headers, body}`, whole.
    fn reply(&mut self, at: &str, reply: &Respond) -> Option<Template> {
        let outer = std::mem::replace(&mut self.place.pointer, at.to_owned());
        let headers = match &reply.headers {
            Some(headers) => self.headers("headers", headers),
            None => Some(Template::constant(json!({}))),
        };
        let body = self.template("body", reply.body.as_ref().unwrap_or(&Value::Null));
        self.place.pointer = outer;
        let status = Template::constant(json!(reply.status.unwrap_or(200)));
        Some(Template::object(vec![
            ("status".to_owned(), status),
            ("headers".to_owned(), headers?),
            ("body".to_owned(), body?),
        ]))
    }

    pub(super) fn approval(&mut self, approval: &document::Approval) -> Action {
        self.state_key("contentKey", &approval.content_key);
        let approvers = approval.approvers.as_deref().unwrap_or_default();
        self.approvers("approvers", approvers);
        let quorum = approval.quorum.unwrap_or(1);
        // How many keys have a scope is not known here.
        let is_counted = !approvers.is_empty() && approvers.iter().all(|name| !name.starts_with(BY_SCOPE));
        if is_counted && quorum as usize > approvers.len() {
            let at = self.place.field("quorum");
            self.findings.problem(|| {
                let message = format!("{quorum} must approve, but only {} may", approvers.len());
                Problem::new(at, Code::OutOfRange, message).expected(format!("at most {}", approvers.len()))
            });
        }
        if let Some(schema) = &approval.content_schema {
            self.content_schema(schema);
        }
        let prompt = approval.prompt.as_deref().and_then(|prompt| self.text_template("prompt", prompt));
        let timeout = self.timeout(approval.timeout_ms, approval.timeout.as_deref());
        let on_timeout = self.on_approval_timeout(approval.on_timeout.as_ref());
        let on_reject = self.on_timeout("onReject", approval.on_reject.as_ref());
        let (remind_after, escalation) =
            (self.reminders(approval, timeout), self.escalation(approval, timeout));
        Action::Approval(Approval {
            content_key: Arc::from(approval.content_key.as_str()),
            content_schema: approval.content_schema.clone().map(Json::new),
            prompt,
            approvers: approvers.iter().map(|approver| Arc::from(approver.as_str())).collect(),
            quorum,
            allow_self_approval: approval.allow_self_approval.unwrap_or(true),
            remind_after,
            escalation,
            timeout,
            on_timeout,
            on_reject: on_reject.unwrap_or(OnTimeout::Fail),
        })
    }

    fn content_schema(&mut self, schema: &Value) {
        let bytes = schema.to_string().len();
        if bytes > limits::CONTENT_SCHEMA_BYTES {
            let at = self.place.field("contentSchema");
            self.findings.problem(|| {
                let message = format!("it has {bytes} bytes");
                let expected = format!("at most {} bytes", limits::CONTENT_SCHEMA_BYTES);
                Problem::new(at, Code::OutOfRange, message).expected(expected)
            });
        }
        self.schema("contentSchema", schema);
    }

    fn reminders(&mut self, approval: &document::Approval, timeout: Option<Millis>) -> Vec<Millis> {
        let given = approval.remind_after.iter().flatten();
        let lengths: Vec<Millis> = given.filter_map(|text| self.length_text("remindAfter", text)).collect();
        lengths.iter().for_each(|length| self.before_the_deadline("remindAfter", *length, timeout));
        lengths
    }

    fn escalation(&mut self, approval: &document::Approval, timeout: Option<Millis>) -> Option<Escalation> {
        let (ms, text) = (approval.escalate_after_ms, approval.escalate_after.as_deref());
        let after = self.length("escalateAfterMs", ms, "escalateAfter", text);
        let to = approval.escalate_to.as_deref().unwrap_or_default();
        self.approvers("escalateTo", to);
        let problem = match (after, to, &approval.approvers) {
            (None, [], _) => return None,
            (Some(_), [], _) => ("escalateAfter", "`escalateTo` says who may decide then, and is not given"),
            (None, _, _) => ("escalateTo", "`escalateAfter` says when they may decide, and is not given"),
            (Some(_), _, None) => {
                ("escalateTo", "anyone may decide already; `approvers` names those who may")
            }
            (Some(after), to, Some(_)) => {
                self.before_the_deadline("escalateAfter", after, timeout);
                let to = to.iter().map(|name| Arc::from(name.as_str())).collect();
                return Some(Escalation { after, to });
            }
        };
        let at = self.place.field(problem.0);
        self.findings.problem(|| Problem::new(at, Code::Contradiction, problem.1));
        None
    }

    fn before_the_deadline(&mut self, field: &str, length: Millis, timeout: Option<Millis>) {
        let at = self.place.field(field);
        if let Some(timeout) = timeout.filter(|timeout| length >= *timeout) {
            self.findings.problem(|| {
                let message = format!("{length} is not before the time is over, after {timeout}");
                Problem::new(at, Code::Contradiction, message).expected(format!("less than {timeout}"))
            });
        }
    }

    fn approvers(&mut self, field: &str, approvers: &[String]) {
        for (index, approver) in approvers.iter().enumerate() {
            let at = pointer(&self.place.field(field), index);
            self.plain_at(&at, approver);
            if let Some(scope) = approver.strip_prefix(BY_SCOPE)
                && !["approve", "admin"].contains(&scope)
            {
                let at = at.clone();
                self.findings.problem(|| {
                    Problem::new(at, Code::UnknownValue, format!("no key decides by the scope `{scope}`"))
                        .expected("`scope:approve` or `scope:admin`")
                });
            }
            if approvers[..index].contains(approver) {
                self.findings
                    .problem(|| Problem::new(at, Code::DuplicateName, "this approver is named twice"));
            }
        }
    }

    fn on_approval_timeout(&mut self, given: Option<&document::OnApprovalTimeout>) -> OnApprovalTimeout {
        match given {
            None | Some(document::OnApprovalTimeout::Fail) => OnApprovalTimeout::Fail,
            Some(document::OnApprovalTimeout::Continue) => OnApprovalTimeout::Continue,
            Some(document::OnApprovalTimeout::Approve) => OnApprovalTimeout::Approve,
            Some(document::OnApprovalTimeout::Reject) => OnApprovalTimeout::Reject,
            Some(document::OnApprovalTimeout::Goto(name)) => {
                self.goto("onTimeout", name).map_or(OnApprovalTimeout::Fail, OnApprovalTimeout::Goto)
            }
        }
    }

    pub(super) fn child(&mut self, child: &document::SubWorkflow) -> Action {
        self.plain("definition", &child.definition);
        if let Some(version) = &child.version {
            self.plain("version", version);
        }
        let input = child.input.as_ref().and_then(|input| self.template("input", input));
        Action::Child {
            definition: Arc::from(child.definition.as_str()),
            version: child.version.as_deref().map(Arc::from),
            input: input.unwrap_or_else(|| Template::constant(json!({}))),
            wait: child.wait.unwrap_or(true),
        }
    }

    fn map(&mut self, step: &document::Step, map: &document::Map, name: &Arc<str>) -> Option<Action> {
        let items = self.items(&map.items);
        let index = self.place.step;
        self.place = Place { pointer: self.place.field("step"), in_map: true, ..Place::step(index) };
        if let Some(retry) = &map.step.retry {
            self.retry_range(&self.place.field("retry"), retry);
        }
        let action = self.item_action(&map.step.kind);
        self.place = Place::step(index);
        let retry = map.step.retry.as_ref().or(step.retry.as_ref());
        let item_step = Step {
            name: name.clone(),
            when: None,
            save_as: None,
            retry: RetryPolicy::new(retry, self.document.default_retry.as_ref()),
            action: action?,
            next: Target::End,
            after: Vec::new(),
            before: Vec::new(),
        };
        Some(Action::Map(Map {
            items: items?,
            step: Box::new(item_step),
            concurrency: map.concurrency.unwrap_or(limits::MAP_CONCURRENCY),
            collect_failures: map.on_item_failure == Some(document::OnItemFailure::Collect),
        }))
    }

    fn items(&mut self, items: &Value) -> Option<Items> {
        const FIELD: &str = "items";
        let at = self.place.field(FIELD);
        match items {
            Value::String(text) if text.contains(super::text::OPENING) => {
                self.template(FIELD, items).map(Items::Template)
            }
            Value::String(source) => self.expression(FIELD, source).map(Items::Expression),
            Value::Array(list) if list.len() > limits::MAP_ITEMS => {
                self.findings.problem(|| {
                    let message =
                        format!("{} items are more than the limit of {}", list.len(), limits::MAP_ITEMS);
                    Problem::new(at, Code::LimitExceeded, message)
                });
                None
            }
            Value::Array(_) => self.template(FIELD, items).map(Items::Template),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                self.findings.problem(|| {
                    Problem::new(at, Code::WrongType, "this is not a list").expected(
                        "a list, or an expression or template that gives one, such as `input.orders`",
                    )
                });
                None
            }
        }
    }
}
