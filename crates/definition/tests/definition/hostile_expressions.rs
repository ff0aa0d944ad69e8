//! Whatever is given as an expression or a template is a value or an error, soon, and on a small stack.

use std::borrow::Cow;
use std::time::Duration;

use crate::time::Work;

use abide_definition::expression::{Expression, Scope, Template};
use abide_definition::limits::{EXPRESSION_BYTES, EXPRESSION_DEPTH};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

/// A quarter of what a thread has: the rest is its caller's.
const STACK_BYTES: usize = 512 * 1024;
/// Generous: the tests run unoptimised, on busy machines.
const SOON: Duration = Duration::from_secs(2);

fn config() -> ProptestConfig {
    let cases = std::env::var("ABIDE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000);
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    }
}

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn scope() -> Value {
    json!({
        "a": {"b": {"c": {"d": [1, "x", null, {"e": true}]}}, "call-api": 1.5},
        "b": "text", "n": -3, "big": u64::MAX, "list": [3, 1, 2], "s": "a,b", "nothing": null, "long": "é".repeat(1_000),
    })
}

/// Parses, evaluates and renders; checks what must hold for anything.
fn survives(source: &str) {
    let work = Work::begin();
    let scope = scope();
    match Expression::parse(source) {
        Ok(expression) => {
            assert_eq!(expression.source(), source);
            assert!(expression.paths().iter().all(|path| !path.is_empty()));
            let value = expression.evaluate(&scope);
            assert_eq!(value, expression.evaluate(&scope), "{source}");
            assert_eq!(value.is_ok(), expression.is_true(&scope).is_ok(), "{source}");
        }
        Err(error) => {
            assert!(error.offset <= source.len(), "{source}");
            assert!(source.is_char_boundary(error.offset), "{source}");
            assert!(!error.to_string().is_empty());
        }
    }
    for text in [source.to_owned(), format!("{{{{{source}}}}}"), format!("<{{{{ {source} }}}}>")] {
        let value = json!({"text": text});
        match Template::parse(&value) {
            Ok(template) => {
                let rendered = template.render(&scope);
                if template.as_constant().is_some() {
                    assert_eq!(*rendered.expect("a constant"), value);
                }
            }
            Err(problems) => assert!(problems.iter().all(|problem| problem.pointer == "/text")),
        }
    }
    assert!(work.so_far() < SOON, "{:?} for {source}", work.so_far());
}

#[test]
fn any_text_is_a_value_or_an_error() {
    on_a_small_stack(|| {
        proptest!(config(), |(source in any::<String>())| survives(&source));
    });
}

#[test]
fn any_bytes_are_a_value_or_an_error() {
    on_a_small_stack(|| {
        proptest!(config(), |(bytes in proptest::collection::vec(any::<u8>(), 0..200))| {
            survives(&String::from_utf8_lossy(&bytes));
        });
    });
}

const TOKENS: &str = "a a.b a.b.c.d b n big list s nothing missing long call-api . [ ] ( ) , ? : ?? | || && ! or and not \
    in == != < <= > >= + - * / % 0 1 -1 2.5 1e3 1e308 18446744073709551615 true false null 'x' \"y\" '' ',' '\\u00e9' \
    {{ }} {% ' \\ default( length( |length lower( |upper trim( contains( join( |join(',' split( round( |floor min( max( \
    number( string( |string json( |json keys( |values first( |last";

#[test]
fn any_soup_of_tokens_is_a_value_or_an_error() {
    on_a_small_stack(|| {
        let tokens: Vec<&str> = TOKENS.split_whitespace().collect();
        let soup = proptest::collection::vec(select(tokens), 0..40);
        proptest!(config(), |(soup in soup, separator in select(vec!["", " "]))| survives(&soup.join(separator)));
    });
}

const OPERANDS: [&str; 20] = [
    "a",
    "a.b.c.d",
    "a.b.c.d[-1].e",
    "b",
    "n",
    "big",
    "list",
    "s",
    "nothing",
    "missing.x",
    "a.call-api",
    "0",
    "1.5",
    "'x'",
    "true",
    "null",
    "[]",
    "[1, 'x']",
    "list[n]",
    "a[b]",
];
const OPERATORS: [&str; 16] =
    ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "??"];
const OF_ONE: [&str; 18] = [
    "length", "lower", "upper", "trim", "join", "round", "floor", "ceil", "abs", "min", "max", "number",
    "string", "json", "keys", "values", "first", "last",
];
const OF_TWO: [&str; 9] =
    ["default", "contains", "starts_with", "ends_with", "join", "split", "round", "min", "max"];

/// Expressions that parse, so that the evaluator meets every operator with every type.
fn expressions() -> impl Strategy<Value = String> {
    select(OPERANDS.to_vec()).prop_map(str::to_owned).prop_recursive(6, 60, 3, |inner| {
        let i = || inner.clone();
        let (operator, one, two) =
            (select(OPERATORS.to_vec()), select(OF_ONE.to_vec()), select(OF_TWO.to_vec()));
        prop_oneof![
            (i(), operator, i()).prop_map(|(a, operator, b)| format!("({a}) {operator} ({b})")),
            (one.clone(), i()).prop_map(|(function, a)| format!("{function}({a})")),
            (one, i()).prop_map(|(function, a)| format!("(({a}) | {function})")),
            (two, i(), i()).prop_map(|(function, a, b)| format!("{function}({a}, {b})")),
            (i(), i(), i()).prop_map(|(a, b, c)| format!("({a}) ? {b} : {c}")),
            (i(), i()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (i(), i()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            i().prop_map(|a| format!("(not ({a}))")),
            i().prop_map(|a| format!("-({a})")),
        ]
    })
}

#[test]
fn every_operator_and_function_has_an_answer_for_every_type() {
    on_a_small_stack(|| {
        proptest!(config(), |(source in expressions())| {
            if let Err(error) = Expression::parse(&source) {
                let is_a_limit = error.message.contains("limit");
                prop_assert!(is_a_limit, "{}: {}", source, error);
            }
            survives(&source);
        });
    });
}

/// As many repetitions as fit into an expression.
fn filled(before: &str, repeated: &str, after: &str) -> String {
    let count = (EXPRESSION_BYTES - before.len() - after.len()) / repeated.len();
    format!("{before}{}{after}", repeated.repeat(count))
}

const OPENINGS: [&str; 25] = [
    "(",
    "[",
    "-",
    "- ",
    "!",
    "not ",
    "a[",
    "a[a[",
    "abs(",
    "default(a,",
    "a ? ",
    "a ? b : ",
    "1 | default(",
    "(1+",
    "((",
    "[[[",
    "a.b[a.b[",
    "not -(",
    "{{",
    "{% for x in y %}",
    "\\",
    "'\\",
    "\"",
    "a.",
    "'",
];

const CHAINS: [(&str, &str, &str); 31] = [
    ("1", "+1", ""),
    ("1", "-1", ""),
    ("1", "*1.5", ""),
    ("'a'", "+'a'", ""),
    ("1", " or 1", ""),
    ("0", "||0", ""),
    ("1", " and 1", ""),
    ("missing", "??missing", ""),
    ("1", "|abs", ""),
    ("list", "|first", ""),
    ("a", ".b", ""),
    ("a", "[0]", ""),
    ("a", "['b']", ""),
    ("a", "[n]", ""),
    ("n", "?n:n", ""),
    ("[1", ",1", "]"),
    ("[n", ",n", "]"),
    ("max(1", ",1", ")"),
    ("'", "x", "'"),
    ("'", "\\n", "'"),
    ("'", "x", ""),
    ("", "x", ""),
    ("", "x-", "x"),
    ("", "9", ""),
    ("0.", "9", ""),
    ("1e", "9", ""),
    ("1", "0", "e-4000"),
    ("", " ", ""),
    ("", "é", ""),
    ("", "\0", ""),
    ("1 == 1", " == 1", ""),
];

#[test]
fn what_is_nested_or_goes_on_as_far_as_a_source_can_is_survived() {
    on_a_small_stack(|| {
        for opening in OPENINGS {
            survives(&filled("", opening, ""));
            survives(&filled("", opening, "1"));
        }
        for (before, repeated, after) in CHAINS {
            survives(&filled(before, repeated, after));
        }
        for source in
            ["1e999", "-1e999", "99999999999999999999999", "1e-999", "{% for x in y %}{{ x }}{% endfor %}"]
        {
            survives(source);
        }
    });
}

/// The deepest recursion there is, in the parser, the evaluator and the rest.
#[test]
fn the_deepest_trees_fit_on_the_stack() {
    on_a_small_stack(|| {
        for (open, close) in [
            ("(", ")"),
            ("abs(", ")|abs"),
            ("list[", "]|string"),
            ("[n,", "]"),
            ("(0?1:", ")[0]|abs"),
            ("(1?", ":0)[0]|abs"),
            ("n|max(0?1:", ")"),
            ("not ", ""),
            ("-(", ")"),
            ("0 or 1 and 1==null??0+1*(", ")"),
            ("0 or 1 and 1==null??0+1*[n,abs(", ")]|string"),
        ] {
            let nested = |depth: usize| format!("{}n{}", open.repeat(depth), close.repeat(depth));
            let depth = (1..=EXPRESSION_DEPTH).rev().find(|depth| Expression::parse(&nested(*depth)).is_ok());
            survives(&nested(depth.unwrap()));
            survives(&nested(depth.unwrap() + 1));
        }
    });
}

#[test]
fn a_scope_that_makes_its_values_is_paid_for() {
    struct Maker;
    impl Scope for Maker {
        fn resolve<'a>(&'a self, _: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
            Some((Cow::Owned(json!("x".repeat(100_000))), 1))
        }
    }
    let work = Work::begin();
    let source = filled("a==1", " or a==1", "");
    let error = Expression::parse(&source).unwrap().is_true(&Maker).unwrap_err();
    assert!(error.message.contains("limit"), "{error}");
    assert!(work.so_far() < SOON);
}
