//! `abide serve --demo`: a few of the examples, and a demo worker. Nothing here reaches outside.

use abide_core::task::Task;
use abide_definition::Definition;
use abide_engine::{Engine, Error, TaskResult};
use anyhow::Context;
use serde_json::{Value, json};

const WORKFLOWS: [&str; 5] = [
    include_str!("../../../examples/tea-order.yaml"),
    include_str!("../../../examples/payment.json"),
    include_str!("../../../examples/lead-routing.json"),
    include_str!("../../../examples/parcel.yaml"),
    include_str!("../../../examples/rate-limited-pipeline.yaml"),
];

/// A handler's name, and what it makes of a task.
type Work = (&'static str, fn(&Task) -> TaskResult);

const HANDLERS: [Work; 14] = [
    ("reserve-tea", |task| done(task, json!({ "reserved": true }))),
    ("ship-tea", |task| done(task, json!({ "shipped": task.state["parcel"] }))),
    ("reserve-goods", |task| done(task, json!({ "reserved": true }))),
    ("ship-order", |task| done(task, json!({ "shipped": true, "paid": task.input["paid"] }))),
    ("release-goods", |task| done(task, json!({ "released": true }))),
    ("score-lead", score_lead),
    ("schedule-call", |task| done(task, json!({ "call": "tomorrow" }))),
    ("add-to-newsletter", |task| done(task, json!({ "subscribed": true }))),
    ("record-in-crm", |task| done(task, json!({ "recorded": true }))),
    ("hand-over-parcel", |task| done(task, json!({ "handedOver": task.input["parcelId"] }))),
    ("ask-carrier", |task| done(task, json!({ "asked": true }))),
    ("send-email", |task| done(task, json!({ "sent": true }))),
    ("api-call", |task| done(task, json!({ "status": 200 }))),
    ("write-log", |task| done(task, json!({ "written": true }))),
];

/// Stores the workflows and does their work from now on. Gives the workflows' names.
pub(crate) async fn start(engine: &Engine) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for text in WORKFLOWS {
        let checked = Definition::from_text(text).context("an example is a workflow")?;
        let name = checked.definition.name().to_owned();
        match engine.default_workspace().definitions().deploy_checked(checked).await {
            Ok(_) => names.push(name),
            // Somebody has made another one of the same name and version; theirs stays.
            Err(error @ Error::DefinitionExists { .. }) => tracing::warn!(%error, "not part of the demo"),
            Err(error) => return Err(error.into()),
        }
    }
    for (name, work) in HANDLERS {
        engine.handler(name, move |task: Task| std::future::ready(work(&task))).await?;
    }
    Ok(names)
}

fn done(task: &Task, output: Value) -> TaskResult {
    tracing::info!(run = %task.run_id, step = task.step_name, handler = %task.handler, "did the work of the demo");
    TaskResult::complete(output)
}

/// Leads from big companies are hot.
fn score_lead(task: &Task) -> TaskResult {
    let employees = task.input["employees"].as_u64().unwrap_or(0);
    let score = if employees >= 100 { 90 } else { 40 };
    done(task, json!({ "employees": employees }));
    let updates = [("leadScore".to_owned(), json!(score).into())];
    TaskResult::Complete { output: json!(score).into(), state_updates: Some(updates.into()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use abide_definition::{Action, Executor};

    use super::*;

    #[test]
    fn every_task_of_the_demo_has_somebody_who_does_it() {
        let known: BTreeSet<&str> = HANDLERS.iter().map(|(name, _)| *name).collect();
        for text in WORKFLOWS {
            let definition = Definition::from_text(text).unwrap().definition;
            for step in &definition.steps {
                if let Action::Work(work) = &step.action
                    && work.executor == Executor::Handler
                {
                    assert!(known.contains(&*work.handler), "{}: {}", definition.name(), work.handler);
                }
            }
        }
    }
}
