//! What an `llm` step does next, told as plays: a step, what the models and tools do, and how it ends. The journal is
//! written to JSON and read back before every move, as if the process had died there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use abide_calls::models::{
    Answer, Class, Failure, Message, Model, Price, Provider, Settings, Stop, ToolCall, Usage,
};
use abide_calls::tool_loop::{Ask, Done, Entry, Failed, Journal, Next, ServedBy, Step};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

enum Does {
    Says(&'static str),
    /// Names and arguments.
    Calls(&'static [(&'static str, &'static str)]),
    Fails(Class),
    Refuses,
    RunsOut(&'static str),
}
use Does::{Calls, Fails, Refuses, RunsOut, Says};

struct Play {
    config: Value,
    settings: Settings,
    visit: u32,
    attempt: u32,
    budget: Option<u64>,
    now: Timestamp,
    entries: Vec<(String, String)>,
    waits: Vec<String>,
    /// What was done, in words.
    story: Vec<String>,
    asks: Vec<Ask>,
}

const USAGE: Usage = Usage { input: 100, cached_input: 0, output: 10 };

impl Play {
    fn of(extra: Value) -> Play {
        let mut config = json!({"model": "a", "messages": [{"role": "user", "content": "Hello"}]});
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let mut settings = Settings::default();
        settings.providers.insert("p".to_owned(), Provider::compatible("http://127.0.0.1:1", None));
        let price = Some(Price { input: 1_000_000, cached_input: None, output: 1_000_000 });
        for name in ["a", "b", "c", "judge"] {
            settings.models.insert(name.to_owned(), Model { provider: "p".to_owned(), name: None, price });
        }
        Play {
            config,
            settings,
            visit: 1,
            attempt: 1,
            budget: None,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            entries: Vec::new(),
            waits: Vec::new(),
            story: Vec::new(),
            asks: Vec::new(),
        }
    }

    fn next(&self) -> Next {
        let mut journal = Journal::default();
        for (name, entry) in &self.entries {
            journal.record(name.clone(), serde_json::from_str::<Entry>(entry).unwrap());
        }
        for wait in &self.waits {
            journal.wait_over(wait.clone());
        }
        let step = Step::read(&self.config, self.visit, self.attempt).unwrap();
        Step { budget_micros: self.budget, ..step }.next(&journal, &self.settings)
    }

    fn record(&mut self, name: &str, entry: &Entry) {
        assert!(self.entries.iter().all(|(known, _)| known != name), "{name} is done twice");
        self.entries.push((name.to_owned(), serde_json::to_string(entry).unwrap()));
    }

    /// Goes on until something other than a call, a tool or a wait comes. Tools return their arguments; `broken` fails.
    fn run(&mut self, models: impl IntoIterator<Item = Does>) -> Next {
        let mut models = models.into_iter();
        loop {
            match self.next() {
                Next::Call(ask) => {
                    self.story.push(format!("{}: {}", ask.entry, ask.call.model));
                    let model = models.next().unwrap_or_else(|| panic!("a call too many: {:?}", self.story));
                    let entry = self.played(&ask, model);
                    self.record(&ask.entry, &entry);
                    self.asks.push(*ask);
                }
                Next::Tools(runs) => {
                    // One at a time, the last first: the order does not matter.
                    let run = runs.last().unwrap();
                    self.story.push(format!("{}: {}", run.entry, run.tool));
                    let entry = match run.tool.as_str() {
                        "broken" => Entry::tool_failed("out of order"),
                        _ => Entry::tool_returned(run.arguments.clone()),
                    };
                    self.record(&run.entry, &entry);
                }
                Next::Wait { entry, until } => {
                    self.story.push(format!("{entry}: {}", until.duration_since(self.now).as_millis()));
                    self.now = until;
                    self.waits.push(entry);
                }
                next @ (Next::Done(_) | Next::Failed(_)) => {
                    assert!(models.next().is_none(), "calls were expected: {:?}", self.story);
                    return next;
                }
            }
        }
    }

    fn played(&self, ask: &Ask, model: Does) -> Entry {
        let answer = |text: &str, tool_calls, stop| {
            ask.answered(Answer { text: text.to_owned(), tool_calls, stop, usage: USAGE }, &self.settings)
        };
        match model {
            Says(text) => answer(text, Vec::new(), Stop::End),
            Refuses => answer("I will not.", Vec::new(), Stop::Refused),
            RunsOut(text) => answer(text, Vec::new(), Stop::Length),
            Calls(calls) => {
                let calls = calls.iter().enumerate().map(|(index, (name, arguments))| ToolCall {
                    id: format!("{}-{index}", ask.entry),
                    name: (*name).to_owned(),
                    arguments: (*arguments).to_owned(),
                });
                answer("", calls.collect(), Stop::Tools)
            }
            Fails(class) => {
                let mut failure = Failure::new(class, "no luck");
                failure.retry_after_ms = (class == Class::RateLimited).then_some(7000);
                failure.usage = (class == Class::Cut).then_some(USAGE);
                ask.failed(failure, &self.settings, self.now)
            }
        }
    }

    fn done(&mut self, models: impl IntoIterator<Item = Does>) -> Done {
        let next = self.run(models);
        let Next::Done(done) = next else { panic!("{next:?} after {:?}", self.story) };
        done
    }

    fn failed(&mut self, models: impl IntoIterator<Item = Does>) -> Failed {
        let next = self.run(models);
        let Next::Failed(failed) = next else { panic!("{next:?} after {:?}", self.story) };
        failed
    }

    /// The results of tools in the last call.
    fn results(&self) -> Vec<(&str, bool)> {
        let messages = &self.asks.last().unwrap().call.messages;
        let results = messages.iter().filter_map(|message| match message {
            Message::ToolResult { content, failed, .. } => Some((content.as_str(), *failed)),
            Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
        });
        results.collect()
    }

    fn last_said(&self) -> &str {
        let Some(Message::User(text)) = self.asks.last().unwrap().call.messages.last() else { panic!() };
        text
    }
}

fn with_tools(rounds: u32) -> Play {
    Play::of(json!({"maxToolRounds": rounds, "tools": [
        {"name": "look", "handler": "looker", "parameters":
            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        {"name": "broken"},
        {"name": "child", "workflow": "other"},
    ]}))
}

#[test]
fn a_plain_question_is_one_call() {
    let mut play = Play::of(json!({"systemPrompt": "Be brief.", "temperature": 0.5, "maxTokens": 9}));
    let done = play.done([Says("Hi")]);
    assert_eq!(done.output, json!("Hi"));
    assert_eq!((done.spent.calls, done.spent.usage, done.spent.cost_micros), (1, USAGE, 110));
    let call = &play.asks[0].call;
    assert_eq!(
        (call.system.as_deref(), call.temperature, call.max_tokens),
        (Some("Be brief."), Some(0.5), Some(9))
    );
}

#[test]
fn each_call_and_each_result_is_one_entry_and_nothing_is_repeated() {
    let mut play = with_tools(5);
    let done = play.done([
        Calls(&[("look", r#"{"n": 1}"#), ("look", r#"{"n": 2}"#)]),
        Calls(&[("child", "")]),
        Says("Done"),
    ]);
    let story =
        ["call 1: a", "tool 1.2: look", "tool 1.1: look", "call 2: a", "tool 2.1: child", "call 3: a"];
    assert_eq!(play.story, story);
    assert_eq!(play.results(), [(r#"{"n":1}"#, false), (r#"{"n":2}"#, false), ("{}", false)]);
    assert_eq!((done.output, done.spent.calls, done.spent.cost_micros), (json!("Done"), 3, 330));
}

#[test]
fn a_tool_is_served_by_its_handler_by_its_name_or_by_a_workflow() {
    let mut play = with_tools(1);
    let Next::Call(ask) = play.next() else { panic!() };
    let entry = play.played(&ask, Calls(&[("look", r#"{"n": 1}"#), ("broken", "{}"), ("child", "{}")]));
    play.record(&ask.entry, &entry);
    let Next::Tools(runs) = play.next() else { panic!() };
    let served: Vec<&ServedBy> = runs.iter().map(|run| &run.served_by).collect();
    let handler = |name: &str| ServedBy::Handler(name.to_owned());
    assert_eq!(served, [&handler("looker"), &handler("broken"), &ServedBy::Workflow("other".to_owned())]);
    assert_eq!(runs[0].arguments, json!({"n": 1}));
}

#[test]
fn what_is_wrong_with_a_tool_call_is_told_to_the_model() {
    for (call, told) in [
        (("nope", "{}"), "there is no tool `nope`; there are: look, broken, child"),
        (("look", "{n: 1}"), "the arguments are not JSON"),
        (("look", "[1]"), "the arguments are not a JSON object"),
        (("look", "{}"), "\"n\" is a required property"),
        (("look", r#"{"n": "1"}"#), "at `/n`"),
        (("broken", "{}"), "out of order"),
    ] {
        let mut play = with_tools(1);
        let calls: &'static [_] = Box::leak(Box::new([call]));
        assert_eq!(play.done([Calls(calls), Says("Oh")]).output, json!("Oh"));
        let [(result, true)] = play.results()[..] else { panic!("{call:?}") };
        assert!(result.contains(told), "{result}");
        assert_eq!(play.story.len(), if call.0 == "broken" { 3 } else { 2 }, "nothing is run for it");
    }
}

#[test]
fn when_the_rounds_are_used_up_the_step_fails_and_says_so() {
    let mut play = with_tools(2);
    let look = || Calls(&[("look", r#"{"n": 1}"#)]);
    let failed = play.failed([look(), look(), look()]);
    assert_eq!((failed.code, failed.retryable), ("LLM_TOOL_ROUNDS_USED_UP", false));
    assert!(failed.message.contains("2 rounds"), "{}", failed.message);
    assert_eq!(failed.spent.cost_micros, 330, "what it cost is known all the same");
}

#[test]
fn other_models_are_tried_in_order_on_what_they_may_not_suffer_from() {
    for class in [
        Class::Auth,
        Class::QuotaUsedUp,
        Class::TooLong,
        Class::UnknownModel,
        Class::RateLimited,
        Class::Overloaded,
        Class::Malformed,
        Class::Cut,
        Class::TimedOut,
        Class::Unreachable,
    ] {
        let mut play = Play::of(json!({"fallbackModels": ["b", "c"]}));
        assert_eq!(play.done([Fails(class), Fails(class), Says("Hi")]).output, json!("Hi"));
        assert_eq!(play.story, ["call 1: a", "call 2: b", "call 3: c"], "{class:?}");
    }
}

#[test]
fn a_bad_request_of_ours_is_not_tried_on_others() {
    let mut play = Play::of(json!({"fallbackModels": ["b"]}));
    let failed = play.failed([Fails(Class::BadRequest)]);
    assert_eq!((failed.code, failed.retryable), ("LLM_BAD_REQUEST", false));
    assert!(failed.message.contains("`a`"), "{}", failed.message);
}

#[test]
fn when_all_models_fail_another_attempt_may_help_if_it_may_help_one() {
    let mut play = Play::of(json!({"fallbackModels": ["b"]}));
    let failed = play.failed([Fails(Class::Overloaded), Fails(Class::Auth)]);
    assert_eq!((failed.code, failed.retryable), ("LLM_AUTH", true));
    assert!(failed.message.contains("`a`: ") && failed.message.contains("`b`: "), "{}", failed.message);
    assert!(!Play::of(json!({})).failed([Fails(Class::Auth)]).retryable);
}

#[test]
fn another_attempt_begins_with_the_first_model_and_keeps_what_was_answered() {
    let mut play = with_tools(5);
    play.config["fallbackModels"] = json!(["b"]);
    play.failed([Calls(&[("look", r#"{"n": 1}"#)]), Fails(Class::Overloaded), Fails(Class::Overloaded)]);
    play.attempt = 2;
    play.story.clear();
    let done = play.done([Says("At last")]);
    assert_eq!(play.story, ["call 4: a"], "the first round is not repeated");
    assert_eq!((done.output, done.spent.calls), (json!("At last"), 4));
}

#[test]
fn the_model_that_answered_goes_on_with_the_conversation() {
    let mut play = with_tools(5);
    play.config["fallbackModels"] = json!(["b"]);
    play.done([Fails(Class::Overloaded), Calls(&[("child", "{}")]), Says("Hi")]);
    assert_eq!(play.story, ["call 1: a", "call 2: b", "tool 2.1: child", "call 3: b"]);
}

#[test]
fn a_rate_limit_is_waited_for_and_then_asked_again() {
    let mut play = Play::of(json!({"fallbackModels": ["b"]}));
    play.done([Fails(Class::RateLimited), Fails(Class::Overloaded), Fails(Class::RateLimited), Says("Hi")]);
    assert_eq!(play.story, ["call 1: a", "call 2: b", "wait 2: 7000", "call 3: a", "call 4: b"]);
}

#[test]
fn a_rate_limit_without_end_fails_the_attempt() {
    let mut play = Play::of(json!({}));
    let failed = play.failed(std::iter::repeat_with(|| Fails(Class::RateLimited)).take(11));
    assert_eq!((failed.code, failed.retryable), ("LLM_RATE_LIMITED", true));
    assert_eq!(play.now, "2026-01-01T00:01:10Z".parse::<Timestamp>().unwrap());
}

#[test]
fn a_rate_limit_without_a_time_is_respected_for_ten_seconds() {
    let play = Play::of(json!({}));
    let Next::Call(ask) = play.next() else { panic!() };
    let entry = ask.failed(Failure::new(Class::RateLimited, "slow down"), &play.settings, play.now);
    let Entry::CallFailed { retry_at, .. } = entry else { panic!() };
    assert_eq!(retry_at, Some(play.now + SignedDuration::from_secs(10)));
}

#[test]
fn a_model_that_refuses_is_replaced_and_at_last_believed() {
    let mut play = Play::of(json!({"fallbackModels": ["b"]}));
    assert_eq!(play.done([Refuses, Says("Hi")]).output, json!("Hi"));
    let failed = Play::of(json!({})).failed([Refuses]);
    assert_eq!((failed.code, failed.retryable), ("LLM_REFUSED", false));
}

#[test]
fn json_is_read_out_of_a_fence_and_asked_for_again_when_it_is_none() {
    let json = || Play::of(json!({"responseFormat": "json"}));
    assert_eq!(json().done([Says("```json\n{\"a\": 1}\n```")]).output, json!({"a": 1}));
    let mut play = json();
    assert_eq!(play.done([Says("Sure!"), Says("[1]")]).output, json!([1]));
    assert!(play.last_said().contains("it is not JSON"), "{}", play.last_said());
}

#[test]
fn an_answer_that_does_not_satisfy_the_schema_is_sent_back_with_what_is_wrong() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let mut play = Play::of(json!({"responseFormat": "json", "outputSchema": schema}));
    assert_eq!(play.done([Says(r#"{"n": "1"}"#), Says("{}"), Says(r#"{"n": 1}"#)]).output, json!({"n": 1}));
    assert!(play.last_said().contains("required property"), "{}", play.last_said());
    let mut play = Play::of(play.config.clone());
    let failed = play.failed([Says("{}"), Says("{}"), Says("{}"), Says("{}")]);
    assert_eq!((failed.code, failed.retryable), ("LLM_ANSWER_REJECTED", false));
}

#[test]
fn a_guardrail_blocks_warns_or_asks_again() {
    let rail = |on: Value| {
        let mut rail = json!({"type": "confidence_threshold", "minimum": 0.7});
        if !on.is_null() {
            rail["onFailure"] = on;
        }
        Play::of(json!({"responseFormat": "json", "guardrails": [rail]}))
    };
    let unsure = || Says(r#"{"confidence": 0.1}"#);
    for on in [Value::Null, json!("block")] {
        let failed = rail(on).failed([unsure()]);
        assert_eq!(failed.code, "LLM_GUARDRAIL_BLOCKED");
        assert!(failed.message.contains("confidence_threshold: `confidence` is 0.1"), "{}", failed.message);
    }
    let done = rail(json!("warn")).done([unsure()]);
    assert!(done.warnings[0].contains("0.1"), "{:?}", done.warnings);
    let mut play = rail(json!("retry_with_feedback"));
    let done = play.done([unsure(), Says(r#"{"confidence": 0.9}"#)]);
    assert_eq!((done.output, done.spent.calls), (json!({"confidence": 0.9}), 2));
    assert!(play.last_said().contains("`confidence` is 0.1"), "{}", play.last_said());
}

#[test]
fn a_judge_is_a_call_of_its_own_and_what_it_does_not_say_counts_against_the_answer() {
    let judged = || {
        let rail = json!({"type": "content_safety", "blocked": ["fool"], "judgeModel": "judge"});
        Play::of(json!({"guardrails": [rail]}))
    };
    let mut play = judged();
    let done = play.done([Says("Hi"), Says(r#"{"safe": true, "reason": "polite"}"#)]);
    assert_eq!(
        (play.story.as_slice(), done.spent.calls),
        (&["call 1: a".to_owned(), "call 2: judge".to_owned()][..], 2)
    );
    let failed = judged().failed([Says("Hi"), Says(r#"{"safe": false, "reason": "rude"}"#)]);
    assert!(failed.message.contains("rude"), "{}", failed.message);
    assert_eq!(judged().failed([Says("Hi"), Says("hm")]).code, "LLM_GUARDRAIL_BLOCKED");
    assert_eq!(judged().failed([Says("You fool")]).spent.calls, 1, "a blocked word needs no judge");
}

#[test]
fn a_check_that_cannot_be_made_fails_the_step() {
    let mut play = Play::of(
        json!({"guardrails": [{"type": "content_safety", "blocked": ["/(/"], "onFailure": "warn"}]}),
    );
    assert_eq!(play.failed([Says("Hi")]).code, "LLM_GUARDRAIL_BROKEN");
}

#[test]
fn an_answer_that_runs_out_of_tokens_is_warned_of_and_as_json_is_a_failure() {
    let done = Play::of(json!({})).done([RunsOut("It was a dark and")]);
    assert_eq!((done.output, done.warnings.len()), (json!("It was a dark and"), 1));
    let failed = Play::of(json!({"responseFormat": "json"})).failed([RunsOut("{\"a\":")]);
    assert_eq!((failed.code, failed.retryable), ("LLM_ANSWER_CUT_SHORT", false));
}

#[test]
fn a_budget_stops_the_step_before_it_is_exceeded() {
    let mut play = with_tools(20);
    play.budget = Some(330);
    let look = || Calls(&[("look", r#"{"n": 1}"#)]);
    let failed = play.failed([look(), look()]);
    assert_eq!((failed.code, failed.retryable), ("LLM_BUDGET_USED_UP", false));
    assert!(failed.spent.cost_micros <= 330, "{:?}", failed.spent);
    let limits: Vec<u32> = play.asks.iter().map(|ask| ask.call.max_tokens.unwrap()).collect();
    assert!(limits[1] < limits[0], "each call may say only what is still affordable: {limits:?}");
}

#[test]
fn an_answer_that_the_budget_cut_short_is_not_taken_for_a_whole_one() {
    let mut play = Play::of(json!({}));
    play.budget = Some(100);
    assert_eq!(play.failed([RunsOut("It was")]).code, "LLM_BUDGET_USED_UP");
}

#[test]
fn a_budget_needs_a_price() {
    let mut play = Play::of(json!({}));
    play.settings.models.get_mut("a").unwrap().price = None;
    assert_eq!(play.done([Says("Hi")]).spent.unpriced_calls, 1);
    let mut play = Play { budget: Some(1000), entries: Vec::new(), ..play };
    let failed = play.failed([]);
    assert!(failed.message.contains("no price for `a`"), "{}", failed.message);
}

#[test]
fn what_failed_calls_used_up_is_counted() {
    let mut play = Play::of(json!({"fallbackModels": ["b"]}));
    let done = play.done([Fails(Class::Cut), Says("Hi")]);
    assert_eq!((done.spent.calls, done.spent.usage.input, done.spent.cost_micros), (2, 200, 220));
}

#[test]
fn what_was_found_wrong_before_a_run_was_retried_is_not_held_against_it() {
    let look = || Calls(&[("look", r#"{"n": 1}"#)]);
    let mut play = Play::of(json!({"tools": [{"name": "look"}], "maxToolRounds": 1}));
    assert_eq!(play.failed([look(), look()]).code, "LLM_TOOL_ROUNDS_USED_UP");
    play.visit = 2;
    let Next::Done(done) = play.run([Says("Done.")]) else { panic!("{:?}", play.story) };
    assert_eq!((done.output, done.spent.calls), (json!("Done."), 3));

    let mut play = Play::of(json!({}));
    assert_eq!(play.failed([Fails(Class::Overloaded)]).code, "LLM_OVERLOADED");
    play.visit = 2;
    let Next::Done(done) = play.run([Says("Here.")]) else { panic!("{:?}", play.story) };
    assert_eq!(done.output, json!("Here."));

    let blocked = json!({"guardrails": [{"type": "content_safety", "blocked": ["fool"]}]});
    let mut play = Play::of(blocked);
    assert_eq!(play.failed([Says("You fool")]).code, "LLM_GUARDRAIL_BLOCKED");
    play.visit = 2;
    let Next::Done(done) = play.run([Says("My friend")]) else { panic!("{:?}", play.story) };
    assert_eq!((done.output, done.spent.calls), (json!("My friend"), 2));
}

#[test]
fn what_is_said_to_a_model_is_text_whatever_a_template_gave() {
    let mut play =
        Play::of(json!({"messages": [{"role": "user", "content": {"order": 7}}], "systemPrompt": 4}));
    assert!(matches!(play.run([Says("Seven.")]), Next::Done(_)));
    assert_eq!(play.asks[0].call.messages, [Message::User(r#"{"order":7}"#.to_owned())]);
    assert_eq!(play.asks[0].call.system.as_deref(), Some("4"));
}
