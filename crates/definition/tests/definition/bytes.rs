//! Bytes that were never meant for it, for everything of the language that is read from text.

use std::str;

use abide_definition::Definition;
use abide_definition::cron::Cron;
use abide_definition::expression::{Expression, Template};
use abide_fuzz::{fuzz, outcome};
use jiff::Timestamp;
use serde_json::json;

fn expression(bytes: &[u8]) -> String {
    let Ok(source) = str::from_utf8(bytes) else { return "no text".to_owned() };
    let scope = json!({ "input": { "order": { "id": 7 }, "amount": 3 }, "list": [1, "x"], "s": "a,b", "n": -3, "b": null });
    let _ = Template::parse(&json!(source)).map(|template| template.render(&scope));
    match Expression::parse(source) {
        Ok(expression) => match expression.evaluate(&scope) {
            Ok(value) => {
                assert_eq!(Ok(value.clone()), expression.evaluate(&scope));
                format!("{:?}", value.as_ref().map(std::mem::discriminant))
            }
            Err(error) => outcome(&error),
        },
        Err(error) => {
            assert!(source.is_char_boundary(error.offset), "{error}");
            outcome(&error)
        }
    }
}

#[test]
fn fuzz_expressions() {
    fuzz("expression", &[], expression);
}

/// JSON or YAML, as somebody deploys it. What is accepted is accepted again as it was understood.
fn workflow(bytes: &[u8]) -> String {
    let Ok(text) = str::from_utf8(bytes) else { return "no text".to_owned() };
    match Definition::from_text(text) {
        Ok(checked) => {
            let again = Definition::from_json(&checked.definition.document.to_json());
            assert_eq!(again.expect("it was accepted").definition.document, checked.definition.document);
            format!("{} steps", checked.definition.document.steps.len())
        }
        Err(rejected) => outcome(&rejected),
    }
}

#[test]
fn fuzz_workflows() {
    fuzz("workflow", &["examples"], workflow);
}

/// A line, and after a line's end a zone. Times go forward.
fn cron(bytes: &[u8]) -> String {
    let Ok(text) = str::from_utf8(bytes) else { return "no text".to_owned() };
    let (line, zone) = text.split_once('\n').map_or((text, None), |(line, zone)| (line, Some(zone)));
    let cron = match Cron::parse(line, zone) {
        Ok(cron) => cron,
        Err(error) => return outcome(&error),
    };
    let mut instant = Timestamp::from_second(1_772_323_200).expect("an instant");
    for count in 0..3 {
        let Some(next) = cron.next_after(instant) else { return format!("{count} times") };
        assert!(next > instant, "{line}: {next} after {instant}");
        instant = next;
    }
    let distance = instant.as_second().ilog2();
    format!("three times, the last after 2^{distance} s")
}

#[test]
fn fuzz_cron_lines() {
    fuzz("cron", &[], cron);
}
