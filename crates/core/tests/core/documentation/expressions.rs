//! `docs/reference/expressions.md`: everything is evaluated in a run with the data of the page.

use std::sync::Arc;

use abide_core::command::{Command, Context, NewRun, TaskCompleted, decide, start};
use abide_core::definition::Definition;
use abide_core::expression::Function;
use abide_core::id::{RunId, StepAddress};
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, ListensFor};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::documentation::page::{blocks, only_code, rows, table};
use crate::documentation::{EXPRESSIONS, Names};

#[test]
fn every_expression_gives_what_the_page_says() {
    let rows = rows(EXPRESSIONS, ["expression", "result"]);
    assert!(rows.len() > 80);
    for [source, result] in rows {
        let evaluated = evaluated(&only_code(&source));
        assert!(evaluated.is(&result), "{source}: the page says {result}, not {evaluated:?}");
    }
}

#[test]
fn expressions_are_read_as_the_page_says() {
    for [source, grouped] in rows(EXPRESSIONS, ["expression", "is read as"]) {
        let value = evaluated(&only_code(&source));
        assert!(matches!(value, Evaluated::Value(_)), "{source}: {value:?}");
        assert_eq!(value, evaluated(&only_code(&grouped)), "{source}");
    }
}

#[test]
fn what_to_write_instead_of_a_mistake_has_a_value() {
    for [mistake, mended] in rows(EXPRESSIONS, ["expression", "write"]) {
        let value = evaluated(&only_code(&mended));
        assert!(matches!(value, Evaluated::Value(_)), "{mended}: {value:?}");
        assert_ne!(evaluated(&only_code(&mistake)), value, "{mistake} is no mistake");
    }
}

#[test]
fn every_function_has_an_example_that_calls_it() {
    let table = table(EXPRESSIONS, "Functions");
    let mut described = Names::new();
    for [signatures, example] in table.rows(["function", "expression"]) {
        let name = signatures.trim_matches('`').split('(').next().unwrap().to_owned();
        assert!(example.contains(&name), "{signatures}: {example}");
        described.insert(name);
    }
    assert_eq!(described, Function::ALL.map(|function| function.name().to_owned()).into());
}

#[test]
fn every_template_renders_as_the_page_says() {
    for [template, result] in rows(EXPRESSIONS, ["template", "result"]) {
        let rendered = rendered(&only_code(&template));
        assert!(rendered.is(&result), "{template}: the page says {result}, not {rendered:?}");
    }
}

#[test]
fn events_match_as_the_page_says() {
    for [matching, event, taken] in rows(EXPRESSIONS, ["match", "event", "taken"]) {
        let wait =
            json!({"name": "wait", "type": "wait_for_event", "eventId": "e", "match": only_code(&matching)});
        let run =
            run_of_the_page(|definition| definition["steps"].as_array_mut().unwrap().push(wait)).unwrap();
        let ListensFor::Event(filter) = &run.open_waitpoints().next().unwrap().listens_for else { panic!() };
        let event: Value = serde_json::from_str(&only_code(&event)).unwrap();
        assert_eq!(if filter.accepts(&event) { "yes" } else { "no" }, taken, "{matching} of {event}");
    }
}

/// What became of an expression or a template.
#[derive(Debug, PartialEq)]
enum Evaluated {
    Value(Value),
    Undefined,
    Error(String),
    Refused(String),
}

impl Evaluated {
    /// Of a value the page may give any spelling, of a message any part.
    fn is(&self, told: &str) -> bool {
        let told = told.replace('`', "");
        let quotes = |kind: &str, message: &str| {
            told.strip_prefix(kind).is_some_and(|part| message.replace('`', "").contains(part))
        };
        match self {
            Evaluated::Value(value) => serde_json::from_str::<Value>(&told).is_ok_and(|told| told == *value),
            Evaluated::Undefined => told == "undefined",
            Evaluated::Error(message) => quotes("error: ", message),
            Evaluated::Refused(message) => quotes("refused: ", message),
        }
    }
}

fn evaluated(source: &str) -> Evaluated {
    let checked =
        run_of_the_page(|definition| definition["steps"][0]["when"] = json!(format!("({source}) or true")));
    if let Err(message) = checked {
        return Evaluated::Refused(message);
    }
    let evaluated = rendered(&format!("{{{{ {source} }}}}"));
    if let Evaluated::Error(message) = &evaluated
        && message.starts_with(&format!("`{source}` is undefined"))
    {
        return Evaluated::Undefined;
    }
    evaluated
}

fn rendered(template: &str) -> Evaluated {
    match run_of_the_page(|definition| definition["output"] = json!(template)) {
        Err(message) => Evaluated::Refused(message),
        Ok(run) => match (&run.output, &run.error) {
            (Some(output), None) => Evaluated::Value(Value::clone(output)),
            (None, Some(error)) => Evaluated::Error(error.message.clone()),
            (_, _) => panic!("{template}: the run is {}", run.status),
        },
    }
}

/// A run with the data of the page, of a definition with something more in it; or why that is none.
fn run_of_the_page(change: impl FnOnce(&mut Value)) -> Result<Run, String> {
    let data: Value = serde_json::from_str(&blocks(EXPRESSIONS)[0]).unwrap();
    let steps = data["steps"].as_object().unwrap().iter().map(|(name, step)| {
        let is_skipped = step["status"] == json!("SKIPPED");
        json!({"name": name, "type": "task", "handler": "h", "when": if is_skipped { "false" } else { "true" }})
    });
    let about = &data["run"];
    let mut definition =
        json!({"name": about["name"], "version": about["version"], "steps": steps.collect::<Vec<_>>()});
    change(&mut definition);
    let definition = Definition::from_value(definition).map_err(|rejected| rejected.to_string())?.definition;
    let context = Context {
        now: Timestamp::UNIX_EPOCH,
        random: 0,
        by: Actor::new("test"),
        traceparent: None,
        bounds: Default::default(),
    };
    let tags = serde_json::from_value(about["tags"].clone()).unwrap();
    let new = NewRun { tags, ..NewRun::new(RunId(1), Arc::new(definition), data["input"].clone().into()) };
    let (mut run, _) = start(new, &context).unwrap();
    let mut state = Some(serde_json::from_value(data["state"].clone()).unwrap());
    while let Some((at, lease_epoch)) = task_out(&run) {
        let output = data["steps"][run.step_name(at)]["output"].clone().into();
        let completed = TaskCompleted { at, lease_epoch, output, state_updates: state.take() };
        decide(&mut run, Command::TaskCompleted(completed), &context).unwrap();
    }
    Ok(run)
}

fn task_out(run: &Run) -> Option<(StepAddress, u32)> {
    run.step_runs().find_map(|(at, step)| Some((at, step.task.as_ref().filter(|task| task.out)?.lease_epoch)))
}
