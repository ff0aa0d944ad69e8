//! Steps that wait for several things at once, in code.

use std::collections::BTreeMap;

use super::kinds;
use crate::document::{
    Approval, ExternalEvent, Member, MemberApproval, MemberExternalEvent, MemberWaitAll, MemberWaitAny,
    MemberWaitForEvent, MemberWaitSome, MemberWebhook, MemberWorkflow, OnRejectedMember, OnTimeout, Step,
    StepKind, SubWorkflow, WaitAll, WaitAny, WaitForEvent, WaitSome, Webhook, Workflow,
};
use crate::problem::{Code, Problem, pointer};

type Waits = BTreeMap<String, Member>;

/// Several waits at once. `waits` adds them to an empty workflow, each as a step whose name is that of the wait.
///
/// ```
/// # use abide_definition::document::Workflow;
/// # use jiff::ToSpan;
/// Workflow::new("order")
///     .wait_any("outcome", |waits| {
///         waits.wait_for_event("paid", "order.paid").signal("withdrawn", "withdraw").sleep("late", 72.hours())
///     })
///     .goto("withdrawn", "refund")
///     .task("ship", "ship")
///     .task("refund", "refund");
/// ```
impl Workflow {
    /// Waits for the first of several waits; the others are cancelled with it.
    pub fn wait_any(mut self, name: impl Into<String>, waits: impl FnOnce(Workflow) -> Workflow) -> Workflow {
        let waits = self.waits(waits);
        self.add(name, StepKind::WaitAny(WaitAny { waits, ..WaitAny::default() }))
    }

    /// Waits for all of several waits.
    pub fn wait_all(mut self, name: impl Into<String>, waits: impl FnOnce(Workflow) -> Workflow) -> Workflow {
        let waits = self.waits(waits);
        self.add(name, StepKind::WaitAll(WaitAll { waits, ..WaitAll::default() }))
    }

    /// Waits for `count` of several waits; the others are cancelled with the last of them.
    pub fn wait_some(
        mut self,
        name: impl Into<String>,
        count: u32,
        waits: impl FnOnce(Workflow) -> Workflow,
    ) -> Workflow {
        let waits = self.waits(waits);
        self.add(name, StepKind::WaitSome(WaitSome { waits, count, ..WaitSome::default() }))
    }

    /// The step to go on with when the wait of this name comes first.
    pub fn goto(self, wait: impl Into<String>, step: impl Into<String>) -> Workflow {
        self.of_kind("goto", "a `wait_any` or a `wait_some`", |kind| {
            kinds::goto(kind).map(|goto| {
                goto.get_or_insert_default().insert(wait.into(), step.into());
            })
        })
    }

    fn waits(&mut self, waits: impl FnOnce(Workflow) -> Workflow) -> Waits {
        let at = format!("/steps/{}/waits", self.steps.len());
        let inside = waits(Workflow::default());
        let mut members = Waits::new();
        for (index, step) in inside.steps.into_iter().enumerate() {
            let (name, place) = (step.name.clone(), pointer(&at, &step.name));
            let of_step = format!("/steps/{index}");
            let own = inside.misfits.iter().filter_map(|misfit| {
                let rest = misfit.pointer.strip_prefix(&of_step)?;
                (rest.is_empty() || rest.starts_with('/'))
                    .then(|| Problem { pointer: format!("{place}{rest}"), ..misfit.clone() })
            });
            self.misfits.extend(own);
            match member(step) {
                Ok(member) => {
                    if members.insert(name.clone(), member).is_some() {
                        let message = format!("there is another wait `{name}`");
                        self.misfits.push(Problem::new(place, Code::DuplicateName, message));
                    }
                }
                Err(message) => self.misfits.push(Problem::new(place, Code::Contradiction, message)),
            }
        }
        members
    }
}

/// One of several waits, from a step that says no more than such a wait can.
fn member(step: Step) -> Result<Member, String> {
    let Step { name: _, description, when, save_as, retry, after, next, kind } = step;
    if description.is_some()
        || when.is_some()
        || save_as.is_some()
        || retry.is_some()
        || after.is_some()
        || next.is_some()
    {
        return Err(
            "one of several waits has no description, condition, key, retry or order of its own".to_owned()
        );
    }
    let type_name = kind.type_name();
    member_of(kind).ok_or_else(|| {
        format!("a `{type_name}` cannot be one of several waits, or has a deadline, reply, reminder or jump of its own")
    })
}

/// `None`: it is no wait, or says more than one of several can.
fn member_of(kind: StepKind) -> Option<Member> {
    Some(match kind {
        StepKind::Wait(wait) => Member::Wait(wait),
        StepKind::ExternalEvent(signal) => {
            let signal_type = signal.signal_type.clone();
            let plain = ExternalEvent { signal_type: signal_type.clone(), ..ExternalEvent::default() };
            (signal == plain).then_some(Member::ExternalEvent(MemberExternalEvent { signal_type }))?
        }
        StepKind::WaitForEvent(event) => event_member(event)?,
        StepKind::Webhook(webhook) => {
            let Webhook {
                response_to_send,
                timeout_ms,
                timeout,
                allow_get,
                allow_sync,
                keep_headers,
                on_timeout,
            } = webhook;
            let is_plain = response_to_send.is_none()
                && timeout_ms.is_none()
                && timeout.is_none()
                && on_timeout.is_none();
            is_plain.then_some(Member::Webhook(MemberWebhook { allow_get, allow_sync, keep_headers }))?
        }
        StepKind::Approval(approval) => approval_member(approval)?,
        StepKind::Workflow(SubWorkflow { definition, version, input, wait }) => {
            let child = MemberWorkflow { definition, version, input };
            wait.unwrap_or(true).then_some(Member::Workflow(child))?
        }
        StepKind::WaitAny(any) => {
            let plain = WaitAny { waits: any.waits.clone(), ..WaitAny::default() };
            (any == plain).then_some(Member::WaitAny(MemberWaitAny { waits: any.waits }))?
        }
        StepKind::WaitAll(all) => {
            let plain = WaitAll { waits: all.waits.clone(), ..WaitAll::default() };
            (all == plain).then_some(Member::WaitAll(MemberWaitAll { waits: all.waits }))?
        }
        StepKind::WaitSome(some) => {
            let count = some.count;
            let plain = WaitSome { waits: some.waits.clone(), count, ..WaitSome::default() };
            (some == plain).then_some(Member::WaitSome(MemberWaitSome { waits: some.waits, count }))?
        }
        StepKind::Task(_)
        | StepKind::Condition(_)
        | StepKind::Llm(_)
        | StepKind::Http(_)
        | StepKind::Notify(_)
        | StepKind::Respond(_)
        | StepKind::Map(_) => return None,
    })
}

fn event_member(event: WaitForEvent) -> Option<Member> {
    let WaitForEvent { event_id, r#match, timeout_ms, timeout, lookback_ms, lookback, on_timeout } = event;
    if timeout_ms.is_some() || timeout.is_some() || on_timeout.is_some() {
        return None;
    }
    Some(Member::WaitForEvent(MemberWaitForEvent { event_id, r#match, lookback_ms, lookback }))
}

fn approval_member(approval: Approval) -> Option<Member> {
    let on_reject = match &approval.on_reject {
        None => None,
        Some(OnTimeout::Fail) => Some(OnRejectedMember::Fail),
        Some(OnTimeout::Continue) => Some(OnRejectedMember::Continue),
        Some(OnTimeout::Goto(_)) => return None,
    };
    let plain = Approval {
        remind_after: None,
        escalate_after_ms: None,
        escalate_after: None,
        escalate_to: None,
        timeout_ms: None,
        timeout: None,
        on_timeout: None,
        ..approval.clone()
    };
    if approval != plain {
        return None;
    }
    let Approval { content_key, content_schema, prompt, approvers, allow_self_approval, quorum, .. } =
        approval;
    Some(Member::Approval(MemberApproval {
        content_key,
        content_schema,
        prompt,
        approvers,
        allow_self_approval,
        quorum,
        on_reject,
    }))
}
