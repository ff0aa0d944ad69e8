//! The examples in which the engine calls somebody, run against receivers and a stand-in.

use abide_core::definition::Definition;
use abide_core::task::Task;
use abide_engine::signing::Keys;
use abide_engine::{Ended, Engine, Model, Options, Provider, RunReply, StartRun, TaskResult, models_of};
use abide_standin::{Script, StandIn};
use abide_testkit::receiver::{Receiver, json};
use serde_json::{Value, json};

use crate::place::{Place, output};

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

async fn run(place: &Place, text: &str, input: Value) -> Ended {
    let checked = Definition::from_text(text).unwrap();
    let workflow = checked.definition.name().to_owned();
    place.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    let run = place.engine.default_workspace().start(StartRun::new(workflow).input(input)).await.unwrap();
    place.engine.clock().skip_waits(run).await.unwrap().expect("it ends by itself")
}

/// Every model of the text is the stand-in's.
fn models(standin: &StandIn, text: &str) -> Options {
    let mut options = Engine::options().provider("p", Provider::compatible(standin.url(), None));
    for (_, model) in models_of(&Definition::from_text(text).unwrap().definition) {
        let price = Some(abide_engine::Price { input: 1_000_000, cached_input: None, output: 1_000_000 });
        options = options.model(&model, Model { provider: "p".to_owned(), name: None, price });
    }
    options
}

async fn handler(place: &Place, name: &str, answer: Value) {
    let answered = move |_: Task| {
        let answer = answer.clone();
        async move { answer.into() }
    };
    place.engine.handler(name, answered).await.unwrap();
}

#[tokio::test]
async fn a_company_is_looked_up_with_a_secret_and_stored() {
    let receiver = Receiver::start(|_| json("200 OK", json!({"name": "Tea Ltd"}))).await;
    let place =
        Place::on_loopback(Engine::options().secret("COMPANY_API_KEY", "c0mp4ny", &["*"]).unwrap()).await;
    handler(&place, "store-company", json!("stored")).await;
    let text = example("enrich-company.yaml").replace("https://api.example.com", &receiver.url(""));
    let ended = run(&place, &text, json!({"domain": "tea.example"})).await;
    assert_eq!(output(&ended), json!("stored"));
    let received = &receiver.received()[0];
    assert_eq!(received.header("authorization").as_deref(), Some("Bearer c0mp4ny"));
    assert_eq!(received.json(), json!({"domain": "tea.example"}));
}

#[tokio::test]
async fn a_card_is_charged_behind_a_url_and_the_books_are_told() {
    let pay = Receiver::start(|_| json("200 OK", json!({"output": {"id": "r-1"}}))).await;
    let books = Receiver::start(|_| json("200 OK", json!({}))).await;
    let keys = Keys::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).unwrap();
    let options = Engine::options().handler_url("charge-card", &pay.url("/")).signing(keys.clone());
    let place = Place::on_loopback(options.secret("BOOKS_TOKEN", "b00ks", &["*"]).unwrap()).await;
    let input = json!({"amount": 7, "card": "c-1", "books": books.url("/entries")});
    output(&run(&place, &example("charge.yaml"), input).await);
    assert_eq!(pay.received()[0].json()["input"], json!({"amount": 7, "card": "c-1"}));
    let told = &books.received()[0];
    assert_eq!(told.json(), json!({"receipt": "r-1", "amount": 7}));
    let [id, at, signature] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| told.header(name).unwrap());
    keys.verify(&id, &at, &signature, told.body.as_bytes(), place.engine.now().as_second()).unwrap();
}

#[tokio::test]
async fn a_model_looks_up_what_it_does_not_know_and_is_asked_again_when_it_is_not_sure() {
    let script: Script = serde_json::from_str(&example("answers/research.json")).unwrap();
    let standin = StandIn::of(script).await.unwrap();
    let text = example("research.yaml");
    let place = Place::new(models(&standin, &text)).await;
    handler(&place, "search", json!(["a page"])).await;
    let ended = run(&place, &text, json!({"topic": "tea"})).await;
    assert_eq!(output(&ended)["confidence"], 0.9);
    assert_eq!(standin.calls().len(), 3);
}

#[tokio::test]
async fn a_model_drafts_an_e_mail() {
    let standin = StandIn::of(Script::default()).await.unwrap();
    let text = example("draft-email.yaml");
    let place = Place::new(models(&standin, &text)).await;
    let load = async |_: Task| TaskResult::Complete {
        output: json!(null).into(),
        state_updates: Some([("leadName".to_owned(), json!("Ana").into())].into()),
    };
    place.engine.handler("load-lead", load).await.unwrap();
    let ended = run(&place, &text, json!({})).await;
    let said = "You said: Write an e-mail to Ana about the bicycle they looked at.";
    assert_eq!(output(&ended), json!({"email": said}));
}

#[tokio::test]
async fn a_price_change_wakes_whoever_waits_for_it() {
    let place = Place::new(Engine::options()).await;
    handler(&place, "save-price", json!("saved")).await;
    place
        .deploy(json!({"name": "watch", "steps": [
            {"name": "wait", "type": "wait_for_event", "eventId": "price-changed-tea"}
        ]}))
        .await;
    let watching = place.engine.start("watch", json!({})).await.unwrap();
    let ended = run(&place, &example("price-change.json"), json!({"productId": "tea", "price": 4})).await;
    assert_eq!(output(&ended)["waiters"], 1);
    assert_eq!(output(&place.engine.run(watching).wait().await.unwrap()), json!({"price": 4}));
}

#[tokio::test]
async fn a_quote_is_answered_before_the_run_is_done() {
    let place = Place::new(Engine::options()).await;
    handler(&place, "compute-price", json!({"price": 12})).await;
    let text = example("quote.json");
    place
        .engine
        .default_workspace()
        .definitions()
        .deploy_checked(Definition::from_text(&text).unwrap())
        .await
        .unwrap();
    let new = StartRun::new("quote");
    let (run, listener) = place.engine.default_workspace().start_and_listen(new).await.unwrap();
    let RunReply::Response(response) = listener.reply().await.unwrap() else { panic!("it answers") };
    assert_eq!((&response["status"], &response["body"]), (&json!(201), &json!({"price": 12})));
    assert_eq!(
        place.engine.run(run).get().await.unwrap().status.to_string(),
        "RUNNING",
        "the slow part is still to be done"
    );
}
