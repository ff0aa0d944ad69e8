//! `docs/reference/definitions.md`

use std::collections::BTreeMap;

use abide_core::cron::Cron;
use abide_core::definition::{Definition, PROBLEMS, RESERVED_KEYS, json_schema};
use abide_core::expression;
use abide_core::limits;
use abide_core::problem::Code;
use abide_core::time::Millis;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::documentation::page::{blocks, codes, figure, only_code, rows, table};
use crate::documentation::source::variants;
use crate::documentation::{DEFINITIONS, EXPRESSIONS, Names, STEPS_OR_CODE};

#[test]
fn every_example_of_a_definition_is_one_without_warnings() {
    let blocks: Vec<String> = blocks(DEFINITIONS).into_iter().chain(blocks(STEPS_OR_CODE)).collect();
    assert!(blocks.len() > 13, "one for each type of step");
    for block in blocks {
        let checked =
            Definition::from_text(&block).unwrap_or_else(|rejected| panic!("{rejected}\n\n{block}"));
        assert_eq!(checked.warnings, [], "{block}");
    }
}

#[test]
fn every_field_is_described_in_its_section_with_its_range_and_nothing_else_is() {
    let schema = json_schema();
    let parts = &schema["$defs"];
    let steps: Vec<&Value> = choices(&parts["Step"]).iter().map(|step| resolved(parts, step)).collect();
    let shared: Names = steps.iter().map(|step| keys(step)).reduce(|all, these| &all & &these).unwrap();
    check_fields(parts, "A workflow", &schema, &Names::new());
    check_fields(parts, "A step", steps[0], &(&keys(steps[0]) - &shared));
    for step in &steps {
        check_fields(parts, step["title"].as_str().unwrap(), step, &shared);
    }
    for (heading, part) in [
        ("Messages", "Message"),
        ("Tools", "Tool"),
        ("Retries", "Retry"),
        ("Events that start runs", "StartOn"),
        ("Tools and prompts of agents", "Mcp"),
        ("When a run fails or is cancelled", "Hook"),
    ] {
        check_fields(parts, heading, &parts[part], &Names::new());
    }
    let guardrails = choices(&parts["Guardrail"]).iter();
    let documented: Names = table(DEFINITIONS, "Guardrails").names("field");
    assert_eq!(documented, guardrails.flat_map(keys).collect::<Names>());
}

/// All fields of an object but those described elsewhere.
fn check_fields(parts: &Value, heading: &str, object: &Value, elsewhere: &Names) {
    let table = table(DEFINITIONS, heading);
    let fields = &keys(object) - elsewhere;
    assert_eq!(table.names("field"), fields, "{heading}");
    let required: Vec<&str> =
        object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for field in &fields {
        let [_, value] =
            table.rows(["field", "value"]).into_iter().find(|[name, _]| codes(name).contains(field)).unwrap();
        let (place, schema) = (format!("`{field}` of {heading}: {value}"), &object["properties"][field]);
        assert_eq!(value.contains("required"), required.contains(&field.as_str()), "{place}");
        // All types of step have one of their own here.
        if field != "type" {
            let told: Names = codes(&value).into_iter().collect();
            assert!(words_of(parts, schema).is_subset(&told), "{place}");
        }
        let told: Names =
            value.split([' ', ';', '(']).map(|word| word.trim_matches(',').to_owned()).collect();
        assert!(figures_of(schema).is_subset(&told), "{place}");
    }
}

/// The texts that a field may have, and no other.
fn words_of(parts: &Value, schema: &Value) -> Names {
    let schema = resolved(parts, schema);
    let inside = choices(schema).iter().chain(schema.get("items")).flat_map(|inner| words_of(parts, inner));
    let listed = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    let is_jump = schema["properties"].as_object().is_some_and(|fields| fields.len() == 1);
    let goto = schema["properties"].get("goto").filter(|_| is_jump).map(|_| "goto".to_owned());
    inside.chain(listed.filter_map(Value::as_str).map(str::to_owned)).chain(goto).collect()
}

/// The ends of a field's range, where they are worth saying.
fn figures_of(schema: &Value) -> Names {
    let ends = ["maximum", "maxLength", "maxItems", "minimum"];
    let said = |end: f64| end > 1.0 && end < f64::from(u32::MAX);
    let own = ends.iter().filter_map(|end| schema[end].as_f64()).filter(|end| said(*end)).map(figure);
    own.chain(schema.get("items").into_iter().flat_map(figures_of)).collect()
}

#[test]
fn every_code_of_a_problem_is_explained_by_something_wrong_and_something_right() {
    let check = |fields: &str| {
        let own_name = if fields.starts_with("name:") { "" } else { "name: this, " };
        let workflow = blocks(DEFINITIONS).pop().unwrap();
        let step = "{name: this, type: task, handler: work}";
        assert!(workflow.contains(step), "the last example is the one that problems are shown in");
        Definition::from_text(&workflow.replace(step, &format!("{{{own_name}{fields}}}")))
    };
    let rows = rows(DEFINITIONS, ["code", "wrong", "right"]);
    for [code, wrong, right] in &rows {
        let found = match check(&only_code(wrong)) {
            Ok(checked) => checked.warnings,
            Err(rejected) => rejected.problems,
        };
        let found: Vec<Value> = found.iter().map(|problem| json!(problem.code)).collect();
        assert_eq!(found, [json!(only_code(code))], "{wrong}");
        let checked = check(&only_code(right)).unwrap_or_else(|rejected| panic!("{rejected}: {right}"));
        assert_eq!(checked.warnings, [], "{right}");
    }
    assert_eq!(
        rows.iter().map(|[code, ..]| only_code(code)).collect::<Names>(),
        variants::<Code>(json!("?"))
    );
}

#[test]
fn durations_are_as_long_as_the_page_says() {
    for [text, ms] in rows(DEFINITIONS, ["duration", "milliseconds"]) {
        assert_eq!(figure(Millis::parse(&only_code(&text)).unwrap().as_u64()), ms, "{text}");
    }
}

#[test]
fn cron_lines_come_when_the_page_says() {
    for [line, zone, after, comes_at] in rows(DEFINITIONS, ["cron", "zone", "after", "comes at"]) {
        let cron = Cron::parse(&only_code(&line), Some(&only_code(&zone))).unwrap();
        let next = cron.next_after(after.parse().unwrap());
        assert_eq!(next, Some(comes_at.parse::<Timestamp>().unwrap()), "{line} after {after}");
    }
}

#[test]
fn every_limit_is_listed_with_its_figure() {
    macro_rules! figures {
        ($($module:ident::$name:ident)*) => { BTreeMap::from([$((stringify!($name).to_owned(), figure($module::$name))),*]) };
    }
    let figures: BTreeMap<String, String> = figures![
        limits::HOOK_VALUE_BYTES limits::HOOK_MESSAGE_CHARS limits::HTTP_URL_BYTES limits::HTTP_HEADERS limits::HTTP_FAIL_ON
        limits::LOG_BYTES limits::LOG_LINE_BYTES limits::LOG_LINES
        limits::CONTENT_SCHEMA_BYTES limits::FAILURE_STACK_BYTES limits::FAILURE_CAUSE_BYTES limits::FAILURE_CAUSES
        limits::SENTENCE_CHARS limits::START_KEY_CHARS limits::MCP_NAME_CHARS limits::MCP_ASKS
        limits::PAYLOAD_BYTES limits::STATE_BYTES limits::DEFINITION_BYTES limits::NESTING
        limits::WORKFLOW_NAME_CHARS limits::VERSION_CHARS limits::DESCRIPTION_CHARS limits::STEP_NAME_CHARS
        limits::NAME_CHARS limits::STEPS limits::TAGS limits::EXPRESSION_BYTES limits::EXPRESSION_DEPTH
        limits::WAIT limits::WAIT_WITHOUT_WARNING limits::RETRY_ATTEMPTS limits::BACKOFF_MS
        limits::BACKOFF_MULTIPLIER limits::CALL_ATTEMPTS limits::ATTEMPT_ERROR_CHARS limits::MISMATCH_CHARS
        limits::BUILD_CHARS limits::UNFIT_BUILDS limits::LOST_LEASES limits::MAILBOX limits::MAILBOX_BYTES limits::WAITPOINTS limits::MOVES
        limits::JOURNAL_ENTRIES limits::MAP_ITEMS limits::MAP_CONCURRENCY limits::LIMITS
        limits::LIMIT_KEY_CHARS limits::LIMIT_NAME_CHARS limits::LIMIT_CONCURRENCY limits::LIMIT_RATE limits::LIMIT_KEYS_SET limits::LIMITS_SET
        limits::MOVES_BETWEEN_LINES limits::REPLACED_AT_MOST limits::DEBOUNCED_STARTS limits::DEBOUNCED_BYTES limits::PRIORITY limits::HEAD_START limits::RATE_KEPT limits::GROUP_WAITS limits::GROUP_DEPTH limits::APPROVERS limits::CHILD_DEPTH
        limits::WEBHOOK_VALUE_BYTES limits::SCHEDULE_EVERY limits::SCHEDULE_LATE limits::SCHEDULE_CATCH_UP
        limits::SCHEDULE_QUEUE limits::SCHEDULE_WAITS
        limits::DECISION_RECORDS limits::DECISION_BYTES limits::DECISION_WORK limits::RENDERED_RECORDED
        limits::RENDERED_AT_ONCE limits::SCHEMA_NODES limits::SCHEMA_DEPTH limits::SCHEMA_WAYS
        limits::SCHEMA_PATTERNS limits::SCHEMA_PATTERN_BYTES limits::SCHEMA_WORK limits::SCHEMA_WORK_EXPLAINED
        limits::SCHEMA_WORK_QUICK
        expression::EVALUATION_BYTES expression::EVALUATION_READ_BYTES
    ];
    for page in [DEFINITIONS, EXPRESSIONS] {
        for [name, told] in table(page, "Limits").rows(["limit", "figure"]) {
            assert_eq!(told.split(' ').next(), figures.get(&only_code(&name)).map(String::as_str), "{name}");
        }
    }
    let sources =
        [include_str!("../../../src/limits.rs"), include_str!("../../../../definition/src/limits.rs")];
    let lines = sources.iter().flat_map(|source| source.lines());
    let constants = lines.filter_map(|line| line.strip_prefix("pub const "));
    let constants: Names = constants.map(|line| line.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(table(DEFINITIONS, "Limits").names("limit"), constants);
    assert!(DEFINITIONS.contains(&format!("At most {} are listed", figure(PROBLEMS))));
}

#[test]
fn every_reserved_key_is_named() {
    let (_, section) = DEFINITIONS.split_once("### Reserved keys").unwrap();
    let told: Vec<String> = codes(section).into_iter().take(RESERVED_KEYS.len()).collect();
    assert_eq!(told, RESERVED_KEYS);
}

fn choices(schema: &Value) -> &[Value] {
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    choices.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn resolved<'s>(parts: &'s Value, schema: &'s Value) -> &'s Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
    name.map_or(schema, |name| &parts[name])
}

fn keys(object: &Value) -> Names {
    object["properties"].as_object().unwrap().keys().cloned().collect()
}
