//! Every protocol against the stand-in: whole and streamed, with tools and schemas, and everything that goes wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use abide_calls::models::{
    Answer, Call, Class, Failure, Format, Message, Model, Models, Price, Protocol, Provider, Settings, Stop,
    Tool, ToolCall, Usage,
};
use abide_calls::secrets::Secret;
use abide_standin::{Cut, Error, Reply, Script, StandIn};
use serde_json::{Value, json};

const PROTOCOLS: [Protocol; 4] =
    [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::OpenaiCompatible, Protocol::Anthropic];

struct World {
    standin: StandIn,
    models: Models,
}

impl World {
    async fn of(protocol: Protocol, script: Script) -> World {
        let standin = StandIn::of(script).await.unwrap();
        let models = models(protocol, standin.url(), Some("sk-test"));
        World { standin, models }
    }

    async fn call(&self, call: &Call, stream: bool) -> Result<Answer, Failure> {
        if !stream {
            return self.models.call(call).await;
        }
        let mut heard = String::new();
        let answer = self.models.stream(call, &mut |text| heard.push_str(text)).await?;
        assert_eq!(heard, answer.text, "what was heard is what was said");
        Ok(answer)
    }
}

fn models(protocol: Protocol, url: String, key: Option<&str>) -> Models {
    let mut settings = Settings::default();
    let provider =
        Provider { protocol, base_url: Some(url), key: key.map(Secret::new), prefixes: Vec::new() };
    settings.providers.insert("it".to_owned(), provider);
    let price = Some(Price { input: 1_000_000, cached_input: Some(100_000), output: 5_000_000 });
    let model = Model { provider: "it".to_owned(), name: Some("model-1".to_owned()), price };
    settings.models.insert("good".to_owned(), model);
    Models::new(settings)
}

fn question(text: &str) -> Call {
    Call { model: "good".to_owned(), messages: vec![Message::User(text.to_owned())], ..Call::default() }
}

/// Every protocol, whole and streamed.
fn ways() -> impl Iterator<Item = (Protocol, bool)> {
    PROTOCOLS.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)])
}

#[tokio::test]
async fn a_question_is_answered_with_what_it_used() {
    for (protocol, stream) in ways() {
        let usage = abide_standin::Usage { input: 100, cached_input: 40, output: 7 };
        let reply = Reply { usage: Some(usage), ..Reply::text("It is nine o'clock, more or less.") };
        let world = World::of(protocol, Script::of([reply])).await;
        let mut call = question("What time is it?");
        call.system = Some("Be brief.".to_owned());
        call.temperature = Some(1.5);
        call.max_tokens = Some(50);
        let answer = world.call(&call, stream).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("It is nine o'clock, more or less.", Stop::End));
        assert_eq!(answer.usage, Usage { input: 100, cached_input: 40, output: 7 }, "{protocol:?} {stream}");
        let price = world.models.settings().price("good").unwrap();
        assert_eq!(price.cost(answer.usage), 60 + 4 + 35);
        let seen = &world.standin.calls()[0];
        assert_eq!((seen.model.as_str(), seen.stream), ("model-1", stream));
        let request = &seen.request;
        let limit = match protocol {
            Protocol::OpenaiResponses => "max_output_tokens",
            Protocol::OpenaiChat => "max_completion_tokens",
            Protocol::OpenaiCompatible | Protocol::Anthropic => "max_tokens",
        };
        assert_eq!(request[limit], 50);
        assert_eq!(request["temperature"], if protocol == Protocol::Anthropic { 1.0 } else { 1.5 });
    }
}

#[tokio::test]
async fn a_round_of_tools_goes_there_and_back() {
    for (protocol, stream) in ways() {
        let script = Script::of([
            Reply {
                text: Some("Let me look.".to_owned()),
                tool_calls: vec![
                    abide_standin::ToolCall {
                        name: "look".to_owned(),
                        arguments: json!({"where": "Wien, Österreich"}),
                    },
                    abide_standin::ToolCall { name: "now".to_owned(), arguments: Value::Null },
                ],
                ..Reply::default()
            },
            Reply::text("Sunny."),
        ]);
        let world = World::of(protocol, script).await;
        let mut call = question("How is the weather?");
        let parameters = json!({"type": "object", "properties": {"where": {"type": "string"}}});
        let described = Some("Looks.".to_owned());
        call.tools = vec![
            Tool { name: "look".to_owned(), description: described, parameters: Some(parameters) },
            Tool { name: "now".to_owned(), description: None, parameters: None },
        ];
        let answer = world.call(&call, stream).await.unwrap();
        assert_eq!(
            (answer.stop, answer.text.as_str()),
            (Stop::Tools, "Let me look."),
            "{protocol:?} {stream}"
        );
        let [look, now] = &answer.tool_calls[..] else { panic!("{answer:?}") };
        assert_eq!(
            serde_json::from_str::<Value>(&look.arguments).unwrap(),
            json!({"where": "Wien, Österreich"})
        );
        assert_eq!((now.name.as_str(), now.arguments.as_str()), ("now", "{}"));

        call.messages.push(Message::Assistant { text: answer.text, tool_calls: answer.tool_calls.clone() });
        for (call_id, failed) in [(&look.id, false), (&now.id, true)] {
            let content = "result".to_owned();
            call.messages.push(Message::ToolResult { call_id: call_id.clone(), content, failed });
        }
        assert_eq!(world.call(&call, stream).await.unwrap().text, "Sunny.");
    }
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_answered_is_a_bad_request() {
    for protocol in PROTOCOLS {
        let world = World::of(protocol, Script::default()).await;
        let mut call = question("x");
        let open = ToolCall { id: "call_9".to_owned(), name: "look".to_owned(), arguments: "{}".to_owned() };
        call.messages.push(Message::Assistant { text: String::new(), tool_calls: vec![open] });
        let failure = world.call(&call, false).await.unwrap_err();
        assert_eq!((failure.class, failure.status), (Class::BadRequest, Some(400)), "{failure}");
        assert!(failure.message.contains("call_9"), "{failure}");
    }
}

#[tokio::test]
async fn a_schema_is_asked_for_by_the_providers_own_means() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"],
        "additionalProperties": false});
    for (protocol, stream) in ways() {
        let world = World::of(protocol, Script::default()).await;
        let mut call = question("x");
        call.format = Format::Schema(schema.clone());
        let answer = world.call(&call, stream).await.unwrap();
        let value: Value = serde_json::from_str(&answer.text).unwrap();
        assert!(value["n"].is_number(), "{protocol:?}: {value}");
        let request = &world.standin.calls()[0].request;
        let strict = match protocol {
            Protocol::OpenaiResponses => &request["text"]["format"]["strict"],
            Protocol::OpenaiChat | Protocol::OpenaiCompatible => {
                &request["response_format"]["json_schema"]["strict"]
            }
            Protocol::Anthropic => &request["output_config"]["format"]["type"],
        };
        let expected = if protocol == Protocol::Anthropic { json!("json_schema") } else { json!(true) };
        assert_eq!(*strict, expected);
    }
}

#[tokio::test]
async fn what_a_provider_cannot_be_told_is_said_in_words() {
    for protocol in PROTOCOLS {
        let world = World::of(protocol, Script::of([Reply::json(json!([1])), Reply::json(json!({}))])).await;
        let mut call = question("x");
        call.format = Format::Schema(json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(world.call(&call, false).await.unwrap().text, "[1]");
        call.format = Format::Json;
        assert_eq!(world.call(&call, false).await.unwrap().text, "{}");
        let calls = world.standin.calls();
        assert!(calls[0].request.to_string().contains("satisfies this JSON Schema"), "{protocol:?}");
        assert!(calls[1].request.to_string().contains("one JSON object"), "{protocol:?}");
    }
}

#[tokio::test]
async fn failures_are_told_apart() {
    let told = |status, kind: &str, message: &str| {
        let error = Error { kind: kind.to_owned(), message: message.to_owned() };
        Reply { error: Some(error), ..Reply::status(status) }
    };
    for (protocol, stream) in ways() {
        for (reply, class) in [
            (Reply::status(400), Class::BadRequest),
            (told(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), Class::TooLong),
            (Reply::status(401), Class::Auth),
            (Reply::status(403), Class::Auth),
            (Reply::status(404), Class::UnknownModel),
            (told(429, "insufficient_quota", "You exceeded your quota."), Class::QuotaUsedUp),
            (Reply::status(429), Class::RateLimited),
            (Reply::status(500), Class::Overloaded),
            (Reply::status(529), Class::Overloaded),
            (Reply { body: Some("{\"choices\": [".to_owned()), ..Reply::default() }, Class::Malformed),
            (Reply { body: Some("{}".to_owned()), ..Reply::default() }, Class::Malformed),
            (Reply { cut: Some(Cut::Before), ..Reply::text("x") }, Class::Cut),
            (Reply { cut: Some(Cut::During), ..Reply::text("a longer answer than one piece") }, Class::Cut),
        ] {
            let world = World::of(protocol, Script::of([reply])).await;
            let failure = if stream {
                world.models.stream(&question("x"), &mut |_| {}).await
            } else {
                world.models.call(&question("x")).await
            };
            assert_eq!(failure.unwrap_err().class, class, "{protocol:?} {stream}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    for protocol in PROTOCOLS {
        let reply = Reply { retry_after: Some("7".to_owned()), ..Reply::status(429) };
        let world = World::of(protocol, Script::of([reply])).await;
        let failure = world.call(&question("x"), false).await.unwrap_err();
        assert_eq!((failure.class, failure.retry_after_ms), (Class::RateLimited, Some(7000)));
        assert!(failure.class.help().another_attempt && failure.class.help().another_model);
    }
}

#[tokio::test]
async fn a_slow_provider_is_given_up_on() {
    for (protocol, stream) in ways() {
        let reply = Reply { delay_ms: Some(60_000), ..Reply::text("late") };
        let world = World::of(protocol, Script::of([reply])).await;
        let call = Call { timeout: Some(Duration::from_millis(40)), ..question("x") };
        let failure = world.call(&call, stream).await.unwrap_err();
        assert_eq!(failure.class, Class::TimedOut, "{failure}");
    }
}

#[tokio::test]
async fn what_a_cut_stream_used_up_is_known_where_the_provider_said_it() {
    let usage = abide_standin::Usage { input: 100, cached_input: 0, output: 50 };
    let reply =
        Reply { cut: Some(Cut::During), usage: Some(usage), ..Reply::text("a longer answer than one piece") };
    let world = World::of(Protocol::Anthropic, Script::of([reply])).await;
    let mut heard = String::new();
    let failure = world.models.stream(&question("x"), &mut |text| heard.push_str(text)).await.unwrap_err();
    assert_eq!(failure.class, Class::Cut);
    assert_eq!(failure.usage.map(|usage| usage.input), Some(100));
    assert!("a longer answer than one piece".starts_with(&heard));
}

#[tokio::test]
async fn an_answer_that_is_cut_short_or_refused_says_so() {
    for (protocol, stream) in ways() {
        for (stop, expected) in
            [(abide_standin::Stop::Length, Stop::Length), (abide_standin::Stop::Refused, Stop::Refused)]
        {
            let reply = Reply { stop: Some(stop), ..Reply::text("I") };
            let world = World::of(protocol, Script::of([reply])).await;
            let answer = world.call(&question("x"), stream).await.unwrap();
            assert_eq!(answer.stop, expected, "{protocol:?} {stream}");
        }
    }
}

#[tokio::test]
async fn the_key_is_sent_and_never_shown() {
    for protocol in PROTOCOLS {
        let script = Script { key: Some("sk-right".to_owned()), rules: Vec::new() };
        let standin = StandIn::of(script).await.unwrap();
        let right = models(protocol, standin.url(), Some("sk-right"));
        assert!(right.call(&question("x")).await.is_ok());
        assert!(!format!("{right:?}").contains("sk-right"));
        for wrong in [Some("sk-wrong"), None] {
            let failure = models(protocol, standin.url(), wrong).call(&question("x")).await.unwrap_err();
            assert_eq!(failure.class, Class::Auth);
            assert!(!failure.class.help().another_attempt && failure.class.help().another_model);
        }
    }
}

#[tokio::test]
async fn a_key_that_a_provider_repeats_is_taken_out() {
    let error =
        Error { kind: "authentication_error".to_owned(), message: "Incorrect key: sk-test".to_owned() };
    let world =
        World::of(Protocol::OpenaiChat, Script::of([Reply { error: Some(error), ..Reply::status(401) }]))
            .await;
    let failure = world.call(&question("x"), false).await.unwrap_err();
    assert!(failure.message.contains("[redacted]") && !failure.message.contains("sk-test"), "{failure}");
}

#[tokio::test]
async fn nobody_listening_is_not_the_models_fault() {
    let standin = StandIn::of(Script::default()).await.unwrap();
    let url = standin.url();
    drop(standin);
    tokio::task::yield_now().await;
    let failure = models(Protocol::OpenaiChat, url, None).call(&question("x")).await.unwrap_err();
    assert_eq!(failure.class, Class::Unreachable, "{failure}");
    let unknown = models(Protocol::OpenaiChat, String::new(), None);
    let failure = unknown.call(&Call { model: "nope".to_owned(), ..question("x") }).await.unwrap_err();
    assert_eq!(failure.class, Class::UnknownModel);
    assert!(failure.message.contains("`good`"), "{failure}");
}
