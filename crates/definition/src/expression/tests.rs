use serde_json::json;

use super::*;
use crate::limits::{EXPRESSION_BYTES, EXPRESSION_DEPTH};

fn scope() -> Value {
    json!({
        "input": {"orderId": "A-7", "region": "EU", "amount": 120, "lines": [{"sku": "x"}, {"sku": "y"}]},
        "steps": {"call-api": {"output": {"ok": true}}, "step-2": {"output": 7}},
        "leadScore": 85, "name": "Ada", "nothing": null, "empty": {}, "key": "region", "index": 1,
        "in": "a word", "big": 9007199254740993_u64, "größe": 3, "list": [1, 2, 3],
    })
}

fn evaluate(source: &str) -> Result<Option<Value>, EvaluationError> {
    Expression::parse(source).unwrap_or_else(|error| panic!("{source}: {error}")).evaluate(&scope())
}

#[track_caller]
fn gives(source: &str, expected: Value) {
    assert_eq!(evaluate(source), Ok(Some(expected)), "{source}");
}

#[track_caller]
fn is_undefined(source: &str) {
    assert_eq!(evaluate(source), Ok(None), "{source}");
}

#[track_caller]
fn fails(source: &str, message: &str) {
    assert_eq!(evaluate(source).map_err(|error| error.message), Err(message.to_owned()), "{source}");
}

#[track_caller]
fn is_refused(source: &str, expected: &str) {
    let error = Expression::parse(source).unwrap_err().to_string();
    assert_eq!(error, expected, "{source}");
}

#[test]
fn operators_bind_as_the_table_says() {
    for (source, same) in [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("10 - 4 - 3", "(10 - 4) - 3"),
        ("2 * 3 % 4", "(2 * 3) % 4"),
        ("12 / 3 * 2", "(12 / 3) * 2"),
        ("-2 + 5", "(-2) + 5"),
        ("-2 | abs", "(-2) | abs"),
        ("1 + -3 | abs", "1 + ((-3) | abs)"),
        ("2 * -3 | abs", "2 * ((-3) | abs)"),
        ("name | length > 2", "(name | length) > 2"),
        ("missing | default(2) + 1 == 3", "((missing | default(2)) + 1) == 3"),
        ("missing ?? 1 + 1", "missing ?? (1 + 1)"),
        ("missing ?? 1 == 1", "(missing ?? 1) == 1"),
        ("nothing ?? missing ?? 3", "(nothing ?? missing) ?? 3"),
        ("not 1 == 2", "not (1 == 2)"),
        ("!1 == 2", "not (1 == 2)"),
        ("not true or true", "(not true) or true"),
        ("not false and false", "(not false) and false"),
        ("true or false and false", "true or (false and false)"),
        ("true || false && false", "true or (false and false)"),
        ("false or true ? 1 : 2", "(false or true) ? 1 : 2"),
        ("true ? 1 : true ? 2 : 3", "true ? 1 : (true ? 2 : 3)"),
        ("false ? 1 : false ? 2 : 3", "false ? 1 : (false ? 2 : 3)"),
        ("true ? false ? 1 : 2 : 3", "true ? (false ? 1 : 2) : 3"),
        ("1 in [1] and 4 not in list", "(1 in [1]) and (not (4 in list))"),
        ("1 + 1 in [2]", "(1 + 1) in [2]"),
    ] {
        let (value, grouped) = (evaluate(source), evaluate(same));
        assert!(value.is_ok(), "{source}: {value:?}");
        assert_eq!(value, grouped, "{source}");
    }
    gives("10 - 4 - 3", json!(3));
    gives("-2 | abs", json!(2));
    gives("false ? 1 : false ? 2 : 3", json!(3));
    gives("7 / 2", json!(3.5));
}

#[test]
fn literals_are_json_with_two_kinds_of_quotes() {
    gives("42", json!(42));
    gives("-9223372036854775808", json!(i64::MIN));
    gives("18446744073709551615", json!(u64::MAX));
    gives("1.5e3", json!(1500.0));
    gives("'it\\'s'", json!("it's"));
    gives("[1, 'a', null, [true]]", json!([1, "a", null, [true]]));
    gives("[]", json!([]));
    gives("[leadScore, name]", json!([85, "Ada"]));
}

#[test]
fn paths_go_through_names_keys_and_places() {
    gives("input.orderId", json!("A-7"));
    gives("input['orderId']", json!("A-7"));
    gives("input.lines[0].sku", json!("x"));
    gives("input.lines[-1].sku", json!("y"));
    gives("input[key]", json!("EU"));
    gives("input.lines[index]['sku']", json!("y"));
    gives("input.lines[index - 1].sku", json!("x"));
    gives("input.lines[1.0].sku", json!("y"));
    gives("(input).orderId", json!("A-7"));
    gives("first(input.lines).sku", json!("x"));
    gives("(input.lines | last).sku", json!("y"));
    gives("[10, 20][1]", json!(20));
    gives("split('a,b', ',')[-1]", json!("b"));
    gives("größe", json!(3));
    for source in [
        "missing",
        "missing.deep.er",
        "input.missing",
        "name.length",
        "leadScore[0]",
        "input.lines[2]",
        "input.lines[-3]",
        "input.lines[-9223372036854775808]",
        "input.lines['0']",
        "input.lines[0.5]",
        "input[0]",
        "input[missing]",
        "input[nothing]",
        "[10][-2]",
        "nothing.x",
    ] {
        is_undefined(source);
    }
    fails("input[list]", "what is in brackets must be a string or a number, but `list` is a list");
}

#[test]
fn a_hyphen_is_part_of_a_name_before_a_letter_and_a_minus_elsewhere() {
    gives("steps.call-api.output.ok", json!(true));
    gives("leadScore-1", json!(84));
    gives("leadScore - index", json!(84));
    gives("leadScore -index", json!(84));
    gives("steps['step-2'].output", json!(7));
    is_undefined("leadScore-index");
    is_refused(
        "steps.step-2.output",
        "column 12: a number has no members; a name with a hyphen before a digit is written in brackets: \
         `steps[\"step-2\"]`",
    );
}

#[test]
fn words_of_the_language_are_names_after_a_dot() {
    let scope = json!({"a": {"in": 1, "not": 2, "true": 3, "length": 4}, "length": 5});
    for (source, expected) in [("a.in", 1), ("a.not", 2), ("a.true", 3), ("a.length", 4), ("length", 5)] {
        assert_eq!(
            Expression::parse(source).unwrap().evaluate(&scope),
            Ok(Some(json!(expected))),
            "{source}"
        );
    }
}

#[test]
fn undefined_is_falsy_equals_null_and_has_no_order() {
    for source in [
        "missing == null",
        "missing == nothing",
        "missing == other",
        "not missing",
        "not (missing < 1)",
        "not (missing >= 1)",
        "not (1 < nothing)",
        "not (nothing <= nothing)",
        "missing != 0",
        "missing != false",
        "missing != ''",
        "not ('x' in missing)",
        "'x' not in nothing",
        "missing not in 'text'",
        "missing not in empty",
        "missing in [null]",
        "(missing ?? 1) == 1",
        "length(missing) == 0",
    ] {
        gives(source, json!(true));
    }
    is_undefined("missing ?? other");
    is_undefined("true ? missing : 1");
}

#[test]
fn arithmetic_and_functions_refuse_undefined_and_name_the_path() {
    for source in [
        "input.missing + 1",
        "1 * input.missing",
        "-input.missing",
        "lower(input.missing)",
        "[input.missing]",
    ] {
        let error = evaluate(source).unwrap_err();
        assert_eq!(error.path.as_deref(), Some("input.missing"), "{source}");
        assert_eq!(
            error.message, "`input.missing` is undefined; give a default: `input.missing ?? …`",
            "{source}"
        );
    }
    let error = evaluate("first([]) + 1").unwrap_err();
    assert_eq!((error.path, error.message.contains("`first([])` is undefined")), (None, true));
}

#[test]
fn what_is_empty_is_falsy() {
    for falsy in ["null", "false", "0", "0.0", "-0.0", "''", "[]", "empty", "missing"] {
        gives(&format!("{falsy} ? 1 : 2"), json!(2));
    }
    for truthy in ["true", "1", "-1", "0.1", "' '", "[0]", "input", "'false'"] {
        gives(&format!("{truthy} ? 1 : 2"), json!(1));
    }
}

#[test]
fn equality_is_strict_but_numbers_compare_by_value() {
    for source in [
        "1 == 1.0",
        "'1' != 1",
        "true != 1",
        "'true' != true",
        "null != false",
        "[1, [2.0]] == [1.0, [2]]",
        "input.lines[0] != input.lines[1]",
        "big == 9007199254740993",
        "big != 9007199254740992.0",
        "9007199254740993 in [big]",
        "2.0 in list",
        "'2' not in list",
        "'EU' in 'EU, US'",
        "'region' in input",
        "'EU' not in input",
    ] {
        gives(source, json!(true));
    }
}

#[test]
fn only_numbers_and_strings_have_an_order() {
    gives("leadScore >= 80 and input.region == \"EU\"", json!(true));
    gives("'a' < 'b'", json!(true));
    gives("big > 9007199254740992.0", json!(true));
    gives("3 <= 3.0", json!(true));
    fails(
        "input.orderId > 5",
        "only two numbers or two strings have an order, but `input.orderId` is a string and `5` is a number",
    );
    fails(
        "[1] < [2]",
        "only two numbers or two strings have an order, but `[1]` is a list and `[2]` is a list",
    );
    let error = evaluate("5 < input.orderId").unwrap_err();
    assert_eq!(error.path.as_deref(), Some("input.orderId"));
    fails(
        "1 in leadScore",
        "`in` looks for anything in a list, and for a string in a string or an object, but `leadScore` is a number \
         and a number is looked for",
    );
    assert!(evaluate("1 in 'text'").is_err());
}

#[test]
fn addition_adds_numbers_or_joins_strings() {
    gives("1 + 2.5", json!(3.5));
    gives("name + ' ' + input.region + '!'", json!("Ada EU!"));
    gives("'n: ' + string(leadScore)", json!("n: 85"));
    fails(
        "'n: ' + leadScore",
        "`'n: '` is a string and `leadScore` is a number: they have no `+`; write `string(leadScore)`",
    );
    fails(
        "leadScore + name",
        "`leadScore` is a number and `name` is a string: they have no `+`; write `string(leadScore)`",
    );
    fails(
        "list + 1",
        "`list` is a list and `1` is a number: they have no `+`, which is for two numbers or two strings",
    );
    fails("name * 2", "`name` is a string and `2` is a number: they have no `*`, which is for two numbers");
    fails(
        "1 + nothing",
        "`1` is a number and `nothing` is null: they have no `+`, which is for two numbers or two strings",
    );
    fails("-name", "`-` needs a number, but `name` is a string");
}

#[test]
fn arithmetic_is_exact_or_an_error() {
    gives("big + 2", json!(9_007_199_254_740_995_u64));
    gives("18446744073709551615 - 1", json!(u64::MAX - 1));
    gives("6 / 3", json!(2));
    gives("-7 % 3", json!(-1));
    fails("18446744073709551615 + 1", "`18446744073709551615` + `1` is an integer of more than 64 bits");
    fails("leadScore / 0", "`leadScore` / `0` is a division by zero");
    fails("1 + 1 % 0", "`1` % `0` is a division by zero");
    fails("1 + 2 - 3 + 1e308 * 10", "`1e308` * `10` is not a finite number");
    fails(
        "1 - 1 + 18446744073709551615 + 1",
        "`1 - 1 + 18446744073709551615` + `1` is an integer of more than 64 bits",
    );
    fails("-18446744073709551615", "-18446744073709551615 is an integer of more than 64 bits");
}

#[test]
fn and_and_or_stop_early_and_give_booleans() {
    gives("true or 1 / 0 > 0", json!(true));
    gives("false and 1 / 0 > 0", json!(false));
    gives("leadScore and name", json!(true));
    gives("missing or ''", json!(false));
    gives("true ? 1 : 1 / 0", json!(1));
    gives("name ?? 1 / 0", json!("Ada"));
    gives("default(name, 1 / 0)", json!("Ada"));
    assert!(evaluate("true and 1 / 0 > 0").is_err());
}

#[test]
fn a_pipe_is_a_call_with_a_first_argument() {
    gives("name | lower", json!("ada"));
    gives("missing | default(\"friend\") | upper", json!("FRIEND"));
    gives("input.region | starts_with('E')", json!(true));
    gives("[name | upper, name | length] | join('-')", json!("ADA-3"));
    gives("list | max", json!(3));
}

#[test]
fn what_cannot_be_parsed_says_where_and_why() {
    for (source, expected) in [
        ("", "column 1: the expression is empty"),
        ("   ", "column 1: the expression is empty"),
        ("1 +", "column 4: expected a value, found the end"),
        ("größe == = 1", "column 10: `=` means nothing here; compare with `==`"),
        ("a b", "column 3: expected an operator or the end, found `b`"),
        ("(1", "column 3: expected `)`, found the end"),
        ("[1 2]", "column 4: expected `,` or `]`, found `2`"),
        ("[1,]", "column 4: expected a value, found `]`"),
        ("a.", "column 3: expected a name, found the end"),
        ("a.-1", "column 3: expected a name, found `-`"),
        ("a ? b", "column 6: expected `:` and the value for when it is false, found the end"),
        ("a?.b", "column 3: `?.` is written `.`: a member of something undefined is undefined"),
        ("1 < 2 < 3", "column 7: comparisons do not chain; join them with `and`, or use parentheses"),
        ("a == b != c", "column 8: comparisons do not chain; join them with `and`, or use parentheses"),
        ("a == not b", "column 6: `not` of a part needs parentheses: `(not a)`"),
        ("lenght(a)", "column 1: there is no function `lenght`; did you mean `length`?"),
        ("a | uper", "column 5: there is no function `uper`; did you mean `upper`?"),
        ("a.b(c)", "column 1: only functions can be called, by their bare name"),
        ("length()", "column 1: `length` takes 1 argument, counting what is piped into it, not 0"),
        ("a | length(b)", "column 5: `length` takes 1 argument, counting what is piped into it, not 2"),
        ("round(1, 2, 3)", "column 1: `round` takes 1 to 2 arguments, counting what is piped into it, not 3"),
        ("min()", "column 1: `min` takes at least 1, counting what is piped into it, not 0"),
        ("a | first.b", "column 10: the members of a filter's result need parentheses: `(x | first).name`"),
        ("a | 3", "column 5: expected a function's name, found `3`"),
        ("and", "column 1: expected a value, found `and`"),
    ] {
        is_refused(source, expected);
    }
    let error = Expression::parse("größe == = 1").unwrap_err();
    assert_eq!(error.offset, 11, "in bytes");
    assert!(Expression::parse("xyzzy(1)").unwrap_err().message.contains("known are default, length"));
}

#[test]
fn paths_are_what_the_scope_is_asked_for_in_order() {
    let source =
        "event.orderId == input.orderId and a['b c'].d[x.y][0].z > (p | default(q))[r] ? s : first(t.u).v";
    let paths: Vec<String> =
        Expression::parse(source).unwrap().paths().into_iter().map(|path| path.join(".")).collect();
    assert_eq!(paths, ["event.orderId", "input.orderId", "a.b c.d", "x.y", "p", "q", "r", "s", "t.u"]);
    assert!(Expression::parse("1 + 1").unwrap().paths().is_empty());
}

#[test]
fn a_scope_may_resolve_any_prefix_of_a_path() {
    struct Prefixes(Value);
    impl Scope for Prefixes {
        fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
            match path {
                ["steps", _, ..] => Some((Cow::Owned(json!({"output": {"list": [1, 2, 3]}})), 2)),
                ["steps"] => Some((Cow::Owned(json!({})), 1)),
                ["all", ..] => Some((Cow::Borrowed(&self.0), path.len())),
                [..] => None,
            }
        }
    }
    let scope = Prefixes(json!("whole"));
    for (source, expected) in [
        ("steps.a.output.list[-1]", Some(json!(3))),
        ("steps.a.missing.x", None),
        ("steps", Some(json!({}))),
        ("all.of.it", Some(json!("whole"))),
        ("a.b.c.d.e.f.g.h.i.j.k", None),
        ("all.b.c.d.e.f.g.h.i.j.k", Some(json!("whole"))),
        ("other", None),
    ] {
        assert_eq!(Expression::parse(source).unwrap().evaluate(&scope), Ok(expected), "{source}");
    }
}

#[test]
fn an_expression_is_stored_as_its_source() {
    let expression = Expression::parse("a.b  > 1").unwrap();
    assert_eq!(serde_json::to_value(&expression).unwrap(), json!("a.b  > 1"));
    let read: Expression = serde_json::from_value(json!("a.b  > 1")).unwrap();
    assert_eq!(read, expression);
    assert_ne!(read, Expression::parse("a.b > 1").unwrap());
    let error = serde_json::from_value::<Expression>(json!("a.b >")).unwrap_err();
    assert!(error.to_string().contains("column 6"), "{error}");
}

#[test]
fn an_expression_has_a_longest_source_and_a_deepest_nesting() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Expression::parse(&nested(EXPRESSION_DEPTH)).is_ok());
    let error = Expression::parse(&nested(EXPRESSION_DEPTH + 1)).unwrap_err();
    assert_eq!(error.message, "the expression is nested deeper than the limit of 64");
    let long = format!("1{}", " ".repeat(EXPRESSION_BYTES));
    assert_eq!(
        Expression::parse(&long).unwrap_err().message,
        "the expression has 4097 bytes; the limit is 4096"
    );
}

#[test]
fn a_short_expression_cannot_produce_without_end() {
    let scope = json!({"state": {"text": "x".repeat(1024 * 1024)}, "small": "y"});
    let repeated = |part: &str, operator: &str| vec![part; 130].join(operator);
    for source in [
        repeated("json(state)", "+"),
        repeated("upper(state.text)", "+"),
        format!("[{}]", repeated("state", ",")),
        repeated("split(state.text, 'x') == 1", " or "),
    ] {
        let error = Expression::parse(&source).unwrap().evaluate(&scope).unwrap_err();
        assert!(error.message.contains("8388608 bytes"), "{}", error.message);
    }
    let source = repeated("state != state", " or ");
    let error = Expression::parse(&source).unwrap().is_true(&scope).unwrap_err();
    assert!(error.message.contains("67108864 bytes"), "{}", error.message);
    let harmless = repeated("small", "+");
    assert_eq!(Expression::parse(&harmless).unwrap().evaluate(&scope), Ok(Some(json!("y".repeat(130)))));
}
