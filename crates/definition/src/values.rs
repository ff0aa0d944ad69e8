//! The places of a document where any JSON may stand.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{
    Guardrail, Http, Llm, MapStepKind, Member, Notify, Respond, StepKind, SubWorkflow, Task, Workflow,
};
use crate::limits::GROUP_DEPTH;

/// All of them, so that what code has built is measured before anything recurses into it.
pub(super) fn of(workflow: &mut Workflow) -> Vec<&mut Value> {
    let mut values = Vec::new();
    values.extend(&mut workflow.input_schema);
    values.extend(&mut workflow.output);
    values.extend(&mut workflow.priority);
    let starts = workflow.start_on.iter_mut().flatten();
    values.extend(starts.filter_map(|start| start.input.as_mut()));
    let restarts = workflow.restart_on.iter_mut().flatten();
    values.extend(restarts.filter_map(|restart| restart.input.as_mut()));
    let hooks = workflow.on_failure.iter_mut().chain(&mut workflow.on_cancel);
    values.extend(hooks.filter_map(|hook| hook.config.as_mut()));
    let mcp = workflow.mcp.iter_mut().flat_map(|mcp| [&mut mcp.ask_first, &mut mcp.ask]);
    for ask in mcp.flatten().flat_map(|asks| asks.values_mut()) {
        values.extend(&mut ask.schema);
        values.extend(&mut ask.sampling);
    }
    for step in &mut workflow.steps {
        match &mut step.kind {
            StepKind::Task(task) => of_task(task, &mut values),
            StepKind::Webhook(webhook) => {
                webhook.response_to_send.iter_mut().for_each(|reply| of_reply(reply, &mut values));
            }
            StepKind::Llm(llm) => of_llm(llm, &mut values),
            StepKind::Http(http) => of_http(http, &mut values),
            StepKind::Notify(notify) => of_notify(notify, &mut values),
            StepKind::Respond(respond) => of_reply(respond, &mut values),
            StepKind::Workflow(child) => of_child(child, &mut values),
            StepKind::Map(map) => {
                values.push(&mut map.items);
                match &mut map.step.kind {
                    MapStepKind::Task(task) => of_task(task, &mut values),
                    MapStepKind::Webhook(webhook) => {
                        webhook.response_to_send.iter_mut().for_each(|reply| of_reply(reply, &mut values));
                    }
                    MapStepKind::Llm(llm) => of_llm(llm, &mut values),
                    MapStepKind::Http(http) => of_http(http, &mut values),
                    MapStepKind::Notify(notify) => of_notify(notify, &mut values),
                    MapStepKind::Workflow(child) => of_child(child, &mut values),
                    MapStepKind::Wait(_) | MapStepKind::ExternalEvent(_) | MapStepKind::WaitForEvent(_) => {}
                }
            }
            StepKind::Approval(approval) => values.extend(&mut approval.content_schema),
            StepKind::WaitAny(any) => of_waits(&mut any.waits, 1, &mut values),
            StepKind::WaitAll(all) => of_waits(&mut all.waits, 1, &mut values),
            StepKind::WaitSome(some) => of_waits(&mut some.waits, 1, &mut values),
            StepKind::Wait(_)
            | StepKind::Condition(_)
            | StepKind::ExternalEvent(_)
            | StepKind::WaitForEvent(_) => {}
        }
    }
    values
}

fn of_task<'d>(task: &'d mut Task, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut task.config);
    values.extend(&mut task.input);
}

fn of_llm<'d>(llm: &'d mut Llm, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut llm.output_schema);
    values.extend(llm.tools.iter_mut().flatten().filter_map(|tool| tool.parameters.as_mut()));
    for guardrail in llm.guardrails.iter_mut().flatten() {
        match guardrail {
            Guardrail::SchemaValidation { schema, .. } => values.extend(schema),
            Guardrail::ContentSafety { .. } | Guardrail::ConfidenceThreshold { .. } => {}
        }
    }
}

fn of_http<'d>(http: &'d mut Http, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut http.body);
}

fn of_notify<'d>(notify: &'d mut Notify, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut notify.data);
}

fn of_reply<'d>(reply: &'d mut Respond, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut reply.body);
}

/// Groups are looked into as deep as they may be nested: others are refused before anything looks at them.
fn of_waits<'d>(waits: &'d mut BTreeMap<String, Member>, depth: usize, values: &mut Vec<&'d mut Value>) {
    for member in waits.values_mut() {
        match member {
            Member::Approval(approval) => values.extend(&mut approval.content_schema),
            Member::Workflow(child) => values.extend(&mut child.input),
            Member::WaitAny(any) if depth < GROUP_DEPTH => of_waits(&mut any.waits, depth + 1, values),
            Member::WaitAll(all) if depth < GROUP_DEPTH => of_waits(&mut all.waits, depth + 1, values),
            Member::WaitSome(some) if depth < GROUP_DEPTH => of_waits(&mut some.waits, depth + 1, values),
            Member::Wait(_)
            | Member::ExternalEvent(_)
            | Member::WaitForEvent(_)
            | Member::Webhook(_)
            | Member::WaitAny(_)
            | Member::WaitAll(_)
            | Member::WaitSome(_) => {}
        }
    }
}

fn of_child<'d>(child: &'d mut SubWorkflow, values: &mut Vec<&'d mut Value>) {
    values.extend(&mut child.input);
}
