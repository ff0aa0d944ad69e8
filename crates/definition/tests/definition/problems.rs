//! One test for each thing that can be wrong with a document: its place, its code, the nearest valid name.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kinds;
mod mcp;
mod order;
mod shape;
mod times;

use abide_definition::problem::{Code, Problem};
use abide_definition::{Definition, PROBLEMS, Rejected};

fn rejected(text: &str) -> Rejected {
    match Definition::from_text(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(rejected) => rejected,
    }
}

/// The only problem of the document.
fn problem(text: &str) -> Problem {
    let rejected = rejected(text);
    assert_eq!(rejected.problems.len(), 1, "{rejected}");
    rejected.problems.into_iter().next().unwrap()
}

/// The only problem of a workflow of these steps.
fn problem_of_steps(steps: &str) -> Problem {
    problem(&workflow(steps))
}

fn workflow(steps: &str) -> String {
    let steps: String = steps.trim().lines().map(|step| format!("  - {}\n", step.trim())).collect();
    format!("name: w\nsteps:\n{steps}")
}

/// The warnings of a workflow of these steps.
fn warnings(steps: &str) -> Vec<Problem> {
    Definition::from_text(&workflow(steps)).unwrap().warnings
}

#[track_caller]
fn assert_is(problem: &Problem, pointer: &str, code: Code, nearest: Option<&str>) {
    assert_eq!((problem.pointer.as_str(), problem.code), (pointer, code), "{problem}");
    assert_eq!(problem.nearest.as_deref(), nearest, "{problem}");
}

#[test]
fn all_problems_are_told_at_once_from_top_to_bottom() {
    let rejected = rejected(
        r#"
        version: 1
        timeout: soon
        steps:
          - {name: a, type: tsk, handler: h}
          - {name: b, type: wait, durationMs: 30s}
          - {name: b, type: condition, expression: "x ==", trueStep: nowhere, falseStep: a}
          - {name: c, type: wait}
          - {name: d, type: task, handler: h, colour: red, saveAs: input}
          - {name: e, type: task, handler: h, input: {x: "{{ steps.dd.output }}"}}
        "#,
    );
    let told: Vec<(&str, Code)> =
        rejected.problems.iter().map(|problem| (problem.pointer.as_str(), problem.code)).collect();
    assert_eq!(
        told,
        [
            ("", Code::MissingField),
            ("/steps/0/type", Code::UnknownValue),
            ("/steps/1/durationMs", Code::WrongType),
            ("/steps/2/expression", Code::BadExpression),
            ("/steps/2/falseStep", Code::BackwardJump),
            ("/steps/2/name", Code::DuplicateName),
            ("/steps/2/trueStep", Code::UnknownStep),
            ("/steps/3", Code::Contradiction),
            ("/steps/4/colour", Code::UnknownField),
            ("/steps/4/saveAs", Code::ReservedName),
            ("/steps/5/input/x", Code::UnknownStep),
            ("/timeout", Code::BadDuration),
            ("/version", Code::WrongType),
        ]
    );
    let shown = rejected.to_string();
    assert!(shown.starts_with("13 problems\n") && shown.lines().count() == 14, "{shown}");
}

#[test]
fn a_step_without_a_name_makes_no_other_step_look_wrong() {
    let only = problem_of_steps(
        "{name: a, type: condition, expression: x, trueStep: b}
         {type: wait, durationMs: 5}",
    );
    assert_is(&only, "/steps/1", Code::MissingField, None);
}

#[test]
fn more_problems_than_anybody_reads_are_not_all_listed() {
    let fields: String = (0..2 * PROBLEMS).map(|number| format!("x{number}: 1\n")).collect();
    let rejected = rejected(&format!("name: w\nsteps: [{{name: a, type: task, handler: h}}]\n{fields}"));
    assert_eq!(rejected.problems.len(), PROBLEMS + 1);
    assert_is(&rejected.problems[0], "", Code::LimitExceeded, None);
}
