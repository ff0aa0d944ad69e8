//! What can be wrong with a workflow that agents see.

use abide_definition::Definition;
use abide_definition::problem::Code;

use super::{assert_is, problem, rejected};

fn tool(name: &str, more: &str) -> String {
    format!("name: {name}\n{more}\nsteps:\n  - {{name: a, type: task, handler: h}}\n")
}

#[test]
fn a_tool_has_a_name_that_clients_take() {
    for good in ["delete_file", "crm/find-account.v2", "A1"] {
        assert!(Definition::from_text(&tool(good, "mcp: {}")).is_ok(), "{good}");
    }
    for bad in ["delete file", "löschen", &"x".repeat(65)] {
        assert_is(&problem(&tool(bad, "mcp: {}")), "/name", Code::OutOfRange, None);
        assert!(Definition::from_text(&tool(bad, "")).is_ok(), "only of tools");
    }
    assert_is(&problem(&tool("abide_tool", "mcp: {}")), "/name", Code::ReservedName, None);
}

#[test]
fn the_arguments_of_a_tool_are_an_object() {
    let wrong = "inputSchema: {type: string}\nmcp: {}";
    assert_is(&problem(&tool("w", wrong)), "/inputSchema", Code::BadSchema, None);
}

#[test]
fn a_caller_is_asked_in_exactly_one_way() {
    for ask in ["{}", "{message: Who?, roots: true}", "{roots: false}"] {
        let found = problem(&tool("w", &format!("mcp: {{ask: {{who: {ask}}}}}")));
        assert_is(&found, "/mcp/ask/who", Code::Contradiction, None);
    }
    let found =
        problem(&tool("w", "mcp: {ask: {m: {sampling: {}, schema: {type: object, properties: {}}}}}"));
    assert_is(&found, "/mcp/ask/m/schema", Code::Contradiction, None);
}

#[test]
fn a_form_is_an_object_of_plain_fields() {
    for schema in ["{type: string}", "{type: object}", "{type: object, properties: {a: {type: object}}}"] {
        let found = problem(&tool("w", &format!("mcp: {{ask: {{a: {{message: A?, schema: {schema}}}}}}}")));
        assert_is(&found, "/mcp/ask/a/schema", Code::BadSchema, None);
    }
}

#[test]
fn what_is_asked_first_sees_the_input_and_nothing_else() {
    let found = problem(&tool("w", "mcp: {askFirst: {a: {message: \"{{ state.x }}\"}}}"));
    assert_is(&found, "/mcp/askFirst/a/message", Code::BadTemplate, None);
    assert!(Definition::from_text(&tool("w", "mcp: {ask: {a: {message: \"{{ state.x }}\"}}}")).is_ok());
}

#[test]
fn a_prompt_is_no_task() {
    let found = problem(&tool("w", "mcp: {kind: prompt, task: always}"));
    assert_is(&found, "/mcp/task", Code::Contradiction, None);
}

#[test]
fn a_word_that_is_not_known_is_told_with_the_nearest() {
    let found = rejected(&tool("w", "mcp: {tasks: always}"));
    assert_is(&found.problems[0], "/mcp/tasks", Code::UnknownField, Some("task"));
}

#[test]
fn so_much_may_be_asked_and_no_more() {
    let asks = |count: usize| -> String {
        let asks: Vec<String> = (0..count).map(|number| format!("a{number}: {{roots: true}}")).collect();
        tool("w", &format!("mcp: {{ask: {{{}}}}}", asks.join(", ")))
    };
    assert!(Definition::from_text(&asks(50)).is_ok());
    assert_is(&problem(&asks(51)), "/mcp/ask", Code::LimitExceeded, None);
}
