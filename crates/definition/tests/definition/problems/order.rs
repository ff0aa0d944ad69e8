use abide_definition::problem::Code;

use super::{assert_is, problem_of_steps, rejected, warnings, workflow};

#[test]
fn two_steps_cannot_have_one_name() {
    let twice = problem_of_steps("{name: a, type: task, handler: h}\n{name: a, type: task, handler: h}");
    assert_is(&twice, "/steps/1/name", Code::DuplicateName, None);
}

#[test]
fn a_name_that_means_something_else_is_reserved() {
    for name in ["end", "input", "state", "steps", "run", "event", "item", "index", "secret"] {
        let reserved = problem_of_steps(&format!("{{name: {name}, type: task, handler: h}}"));
        assert_is(&reserved, "/steps/0/name", Code::ReservedName, None);
    }
    let key = problem_of_steps("{name: a, type: task, handler: h, saveAs: state}");
    assert_is(&key, "/steps/0/saveAs", Code::ReservedName, None);
    let content = problem_of_steps("{name: a, type: approval, contentKey: steps}");
    assert_is(&content, "/steps/0/contentKey", Code::ReservedName, None);
}

#[test]
fn a_name_holds_no_brackets_control_characters_or_white_space_around_it() {
    for name in ["'a[0]'", "'a]'", "\"a\\u0007\"", "\"a\\n\"", "' a'", "'a '"] {
        let odd = problem_of_steps(&format!("{{name: {name}, type: task, handler: h}}"));
        assert_is(&odd, "/steps/0/name", Code::OutOfRange, None);
    }
    assert!(warnings("{name: 'Schritt 1: größer/kleiner?', type: task, handler: h}").is_empty());
}

#[test]
fn a_target_that_does_not_exist_comes_with_the_nearest_step() {
    let next = problem_of_steps(
        "{name: a, type: task, handler: h, next: snd-mail}\n{name: send-mail, type: task, handler: h}",
    );
    assert_is(&next, "/steps/0/next", Code::UnknownStep, Some("send-mail"));
    for (field, step) in [
        ("trueStep", "{name: a, type: condition, expression: x, trueStep: bb}"),
        ("falseStep", "{name: a, type: condition, expression: x, trueStep: end, falseStep: bb}"),
        ("onTimeout/goto", "{name: a, type: webhook, timeoutMs: 5, onTimeout: {goto: bb}}"),
        ("onTimeout/goto", "{name: a, type: approval, contentKey: k, onTimeout: {goto: bb}}"),
        ("onReject/goto", "{name: a, type: approval, contentKey: k, onReject: {goto: bb}}"),
    ] {
        let unknown = problem_of_steps(&format!("{step}\n{{name: bbb, type: task, handler: h}}"));
        assert_is(&unknown, &format!("/steps/0/{field}"), Code::UnknownStep, Some("bbb"));
    }
}

#[test]
fn jumps_go_forward_only() {
    let back =
        problem_of_steps("{name: a, type: task, handler: h}\n{name: b, type: task, handler: h, next: a}");
    assert_is(&back, "/steps/1/next", Code::BackwardJump, None);
    let own = problem_of_steps("{name: a, type: condition, expression: x, trueStep: a}");
    assert_is(&own, "/steps/0/trueStep", Code::BackwardJump, None);
    let goto = problem_of_steps(
        "{name: a, type: task, handler: h}\n{name: b, type: webhook, timeoutMs: 5, onTimeout: {goto: a}}",
    );
    assert_is(&goto, "/steps/1/onTimeout/goto", Code::BackwardJump, None);
}

#[test]
fn a_graph_has_no_next() {
    let next = problem_of_steps(
        "{name: a, type: task, handler: h, next: b}\n{name: b, type: task, handler: h, after: [a]}",
    );
    assert_is(&next, "/steps/0/next", Code::Contradiction, None);
}

#[test]
fn after_names_other_steps_once_each() {
    let unknown = problem_of_steps(
        "{name: first, type: task, handler: h}\n{name: b, type: task, handler: h, after: [firs]}",
    );
    assert_is(&unknown, "/steps/1/after/0", Code::UnknownStep, Some("first"));
    let twice = problem_of_steps(
        "{name: a, type: task, handler: h}\n{name: b, type: task, handler: h, after: [a, a]}",
    );
    assert_is(&twice, "/steps/1/after/1", Code::DuplicateName, None);
    let own = problem_of_steps("{name: a, type: task, handler: h, after: [a]}");
    assert_is(&own, "/steps/0/after/0", Code::Cycle, None);
}

#[test]
fn each_cycle_is_told_once_with_its_steps_in_order() {
    let rejected = rejected(&workflow(
        "{name: free, type: task, handler: h}
         {name: a, type: task, handler: h, after: [free, c]}
         {name: b, type: task, handler: h, after: [a]}
         {name: c, type: task, handler: h, after: [b]}
         {name: behind, type: task, handler: h, after: [c]}
         {name: x, type: task, handler: h, after: [y, behind]}
         {name: y, type: task, handler: h, after: [x]}",
    ));
    let messages: Vec<&str> = rejected.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "these steps wait for each other: `a` → `b` → `c` → `a`",
            "these steps wait for each other: `x` → `y` → `x`"
        ]
    );
    assert_is(&rejected.problems[0], "/steps/1/after", Code::Cycle, None);
    assert_is(&rejected.problems[1], "/steps/5/after", Code::Cycle, None);
}

#[test]
fn the_target_of_a_jump_in_a_graph_is_after_the_jump() {
    let apart = problem_of_steps(
        "{name: a, type: condition, expression: x, trueStep: c}
         {name: b, type: task, handler: h, after: [a]}
         {name: c, type: task, handler: h, after: [b]}",
    );
    assert_is(&apart, "/steps/0/trueStep", Code::BackwardJump, None);
    assert_eq!(apart.expected.as_deref(), Some("`a` in the `after` of `c`"));
    let goto = problem_of_steps(
        "{name: a, type: webhook, timeoutMs: 5, onTimeout: {goto: b}}
         {name: b, type: task, handler: h, after: []}",
    );
    assert_is(&goto, "/steps/0/onTimeout/goto", Code::BackwardJump, None);
}

#[test]
fn a_jump_out_of_a_map_is_refused() {
    let jump = problem_of_steps(
        "{name: a, type: map, items: input.x, step: {type: webhook, timeoutMs: 5, onTimeout: {goto: b}}}
         {name: b, type: task, handler: h}",
    );
    assert_is(&jump, "/steps/0/step/onTimeout/goto", Code::Contradiction, None);
}

#[test]
fn a_branch_that_runs_into_the_other_one_is_doubtful() {
    let into = warnings(
        "{name: a, type: condition, expression: x, trueStep: b, falseStep: c}
         {name: b, type: task, handler: h}
         {name: c, type: task, handler: h}",
    );
    assert_eq!(into.len(), 1);
    assert_is(&into[0], "/steps/1", Code::FallThrough, None);
    assert!(into[0].expected.as_ref().unwrap().contains("`next`"));
    for next in ["end", "c", "d"] {
        let meant = warnings(&format!(
            "{{name: a, type: condition, expression: x, trueStep: b, falseStep: c}}
             {{name: b, type: task, handler: h, next: {next}}}
             {{name: c, type: task, handler: h}}
             {{name: d, type: task, handler: h}}"
        ));
        assert_eq!(meant, [], "{next}");
    }
    let jump_over = warnings(
        "{name: a, type: condition, expression: x, trueStep: c}
         {name: b, type: task, handler: h}
         {name: c, type: task, handler: h}",
    );
    assert_eq!(jump_over, [], "a condition without `falseStep` jumps over what follows");
}

#[test]
fn a_fall_through_is_found_behind_other_steps_and_whichever_branch_comes_first() {
    let behind = warnings(
        "{name: a, type: condition, expression: x, trueStep: d, falseStep: b}
         {name: b, type: task, handler: h}
         {name: c, type: task, handler: h}
         {name: d, type: task, handler: h}",
    );
    assert_eq!(behind.len(), 1);
    assert_is(&behind[0], "/steps/2", Code::FallThrough, None);
}

#[test]
fn a_step_no_way_leads_to_is_doubtful() {
    let lost = warnings(
        "{name: a, type: task, handler: h, next: c}
         {name: b, type: task, handler: h}
         {name: c, type: task, handler: h, next: end}
         {name: d, type: task, handler: h}",
    );
    assert_eq!(lost.len(), 2);
    assert_is(&lost[0], "/steps/1", Code::Unreachable, None);
    assert_is(&lost[1], "/steps/3", Code::Unreachable, None);
    let found = warnings(
        "{name: a, type: webhook, timeoutMs: 5, onTimeout: {goto: c}, next: b}
         {name: b, type: approval, contentKey: k, onTimeout: {goto: d}, onReject: {goto: e}, next: end}
         {name: c, type: task, handler: h, next: end}
         {name: d, type: task, handler: h, next: end}
         {name: e, type: task, handler: h}",
    );
    assert_eq!(found, []);
}
