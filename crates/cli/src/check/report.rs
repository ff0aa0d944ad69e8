//! The findings of a check, for people and for programs.

use std::io::{self, Write};

use abide_definition::problem::{Code, Problem};
use abide_definition::{Location, Locations};
use serde_json::{Value, json};

use super::{Outcome, draw};
use crate::terminal;

pub(super) fn as_text(outcome: &Outcome, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<()> {
    let file = &outcome.file;
    match &outcome.result {
        Err(error) => terminal::line(err, &format!("{file}: cannot be read: {error}")),
        Ok(Err(rejected)) => {
            findings(outcome, &rejected.problems, &rejected.warnings, out)?;
            let (problems, warnings) = (rejected.problems.len(), rejected.warnings.len());
            terminal::line(out, &format!("{file}: {}", counts(problems, warnings)))
        }
        Ok(Ok(checked)) => {
            let definition = &checked.definition;
            findings(outcome, &[], &checked.warnings, out)?;
            let summary = match checked.warnings.len() {
                0 => "good".to_owned(),
                count => counts(0, count),
            };
            terminal::line(
                out,
                &format!("{file}: {summary}: {} {}", definition.name(), definition.version()),
            )?;
            draw::definition(definition, out)
        }
    }
}

pub(super) fn all_findings(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    match &outcome.result {
        Ok(Ok(checked)) => findings(outcome, &[], &checked.warnings, out),
        Ok(Err(rejected)) => findings(outcome, &rejected.problems, &rejected.warnings, out),
        Err(_) => Ok(()),
    }
}

/// `2 problems, 1 warning`
fn counts(problems: usize, warnings: usize) -> String {
    let count = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        count => Some(format!("{count} {what}s")),
    };
    let counted: Vec<String> =
        count(problems, "problem").into_iter().chain(count(warnings, "warning")).collect();
    counted.join(", ")
}

fn findings(
    outcome: &Outcome,
    problems: &[Problem],
    warnings: &[Problem],
    out: &mut dyn Write,
) -> io::Result<()> {
    let locations = Locations::of(&outcome.text);
    let all = problems
        .iter()
        .map(|problem| ("error", problem))
        .chain(warnings.iter().map(|warning| ("warning", warning)));
    for (severity, problem) in all {
        let place = match locations.find(&problem.pointer) {
            Some(Location { line, column }) => format!("{}:{line}:{column}", outcome.file),
            None => outcome.file.clone(),
        };
        let pointer = if problem.pointer.is_empty() { "/" } else { &problem.pointer };
        let message = &problem.message;
        terminal::line(
            out,
            &format!("{place}: {severity}[{}] {pointer}: {message}", code_name(problem.code)),
        )?;
        if let Some(expected) = &problem.expected {
            terminal::line(out, &format!("    expected {expected}"))?;
        }
        if let Some(nearest) = &problem.nearest {
            terminal::line(out, &format!("    did you mean `{nearest}`?"))?;
        }
    }
    Ok(())
}

fn code_name(code: Code) -> String {
    match serde_json::to_value(code) {
        Ok(Value::String(name)) => name,
        Ok(_) | Err(_) => format!("{code:?}"),
    }
}

pub(super) fn as_json(outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
    let files: Vec<Value> = outcomes.iter().map(file_as_json).collect();
    serde_json::to_writer_pretty(&mut *out, &files)?;
    writeln!(out)
}

fn file_as_json(outcome: &Outcome) -> Value {
    let file = &outcome.file;
    let located = |problems: &[Problem]| located(&outcome.text, problems);
    match &outcome.result {
        Err(error) => {
            json!({"file": file, "ok": false, "error": error.to_string(), "problems": [], "warnings": []})
        }
        Ok(Err(rejected)) => {
            let (problems, warnings) = (located(&rejected.problems), located(&rejected.warnings));
            json!({"file": file, "ok": false, "problems": problems, "warnings": warnings})
        }
        Ok(Ok(checked)) => {
            let (name, version) = (checked.definition.name(), checked.definition.version());
            let warnings = located(&checked.warnings);
            json!({"file": file, "ok": true, "name": name, "version": version, "problems": [], "warnings": warnings})
        }
    }
}

/// The problems, each with its line and column where they are known.
fn located(text: &str, problems: &[Problem]) -> Vec<Value> {
    let locations = Locations::of(text);
    let with_place = |problem: &Problem| {
        let mut value = json!(problem);
        if let Some(Location { line, column }) = locations.find(&problem.pointer) {
            value["line"] = json!(line);
            value["column"] = json!(column);
        }
        value
    };
    problems.iter().map(with_place).collect()
}
