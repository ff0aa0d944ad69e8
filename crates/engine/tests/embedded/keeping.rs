//! R24: what an open run may still come to is kept, and what nobody can come to any more is really gone.
//!
//! Trap: "Events were forgotten after 30 days although a run that slept 40 still needed them; the notification had been
//! acknowledged. Idempotency keys were forgotten while their run still slept, so a retried start made a second run."

use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_core::time::Millis;
use abide_engine::{Ended, Retention, SendEvent, StartRun};
use abide_store::Page;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::host::{Host, Place, output};
use crate::watched::Watch;

/// Sleeps for as long as its input says, and then waits for `paid`, at most a second.
fn patient() -> Workflow {
    Workflow::new("patient").sleep("nap", "{{ input.nap }}").wait_for_event("paid", "paid").timeout("1s")
}

fn keyed(key: &str, nap: &str) -> StartRun {
    StartRun::new("patient").input(json!({ "nap": nap })).idempotency_key(key.to_owned())
}

/// Whether the run ended with this event.
fn took(ended: &Ended, data: &str) -> bool {
    output(ended).to_string().contains(data)
}

impl Host {
    /// Each a little later than the one before.
    async fn send(&self, event_id: &str, data: Value, run: Option<RunId>) {
        self.advance("1ms");
        let event = SendEvent::new(event_id.to_owned()).data(data).only_to(run);
        self.engine.default_workspace().events().send(event).await.unwrap();
    }

    /// Lets days pass one by one, each with a sweep.
    async fn days(&self, count: usize) {
        for _ in 0..count {
            self.pass("1d").await;
            self.engine.sweep().await.unwrap();
        }
    }

    /// The data of all events that are there, the oldest first.
    async fn events(&self) -> Vec<Value> {
        let page = Page { after: None, limit: 1_000 };
        let read = self.engine.default_workspace().events().list(None, page, usize::MAX);
        read.await.unwrap().events.into_iter().rev().map(|event| Value::clone(&event.data)).collect()
    }

    fn has_key(&self, key: &str) -> bool {
        let key = format!("{}/start/{key}", abide_core::id::WorkspaceId::DEFAULT);
        self.place.reader().idempotency_record(&key).unwrap().is_some()
    }
}

/// Seed: "The notification will be stored and delivered even if sent before waitForEvent."
#[tokio::test]
async fn r24_an_event_of_day_0_is_taken_by_a_run_that_slept_40_days_and_one_that_slept_364() {
    let host = Host::with(patient()).await;
    let start = async |nap: &str| host.engine.start("patient", json!({ "nap": nap })).await.unwrap();
    let (short, long) = (start("40d").await, start("364d").await);
    host.send("paid", json!("to all"), None).await;
    host.send("paid", json!("to the long one"), Some(long)).await;
    host.send("other", json!("nobody waits for it"), None).await;
    host.days(35).await;
    assert_eq!(host.events().await, [json!("to all"), json!("to the long one")]);
    host.days(6).await;
    let ended = host.end_of(short).await;
    assert!(took(&ended, "to all"), "{ended:?}");
    host.days(324).await;
    let ended = host.end_of(long).await;
    assert!(took(&ended, "to all"), "{ended:?}");
    // With nobody left who could come to them, they go; what was sent to a run, some time after its end.
    assert_eq!(host.events().await, [json!("to the long one")]);
    host.days(31).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
}

#[tokio::test]
async fn r24_what_is_sent_to_a_run_is_for_nobody_else_and_is_kept_until_that_run_has_ended() {
    let host = Host::with(patient()).await;
    let start = async |nap: &str| host.engine.start("patient", json!({ "nap": nap })).await.unwrap();
    let (other, addressed) = (start("40d").await, start("100d").await);
    host.send("paid", json!("for you"), Some(addressed)).await;
    host.days(41).await;
    assert_eq!(output(&host.end_of(other).await), json!({ "timeout": true }));
    assert_eq!(host.events().await, [json!("for you")]);
    host.days(60).await;
    assert!(took(&host.end_of(addressed).await, "for you"));
    host.days(31).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
}

/// As long as it is stored, an event is for those who look back to it, and no longer than they can.
#[tokio::test]
async fn r24_a_lookback_narrows_what_is_kept() {
    let narrow = Workflow::new("narrow").sleep("nap", "300d").wait_for_event("paid", "paid").lookback("50d");
    let host = Host::with(narrow).await;
    let run = host.start("narrow").await;
    host.send("paid", json!("too early"), None).await;
    host.days(49).await;
    assert_eq!(host.events().await, [json!("too early")]);
    host.days(2).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
    host.days(248).await;
    host.send("paid", json!("in time"), None).await;
    host.days(2).await;
    assert!(took(&host.end_of(run).await, "in time"));
}

/// An event id that is a template, and the code of a handler, may come to any event.
#[tokio::test]
async fn r24_where_nobody_can_tell_which_events_a_run_will_wait_for_all_are_kept() {
    let named = Workflow::new("named").sleep("nap", "40d").wait_for_event("paid", "paid-{{ input.order }}");
    let coded = Workflow::new("coded").sleep("nap", "80d").task("work", "echo");
    for (workflow, days) in [(named, 41), (coded, 81)] {
        let name = workflow.name.clone();
        let host = Host::with(workflow).await;
        let run = host.engine.start(&name, json!({ "order": 7 })).await.unwrap();
        host.send("paid-7", json!(1), None).await;
        host.days(days - 2).await;
        assert_eq!(host.events().await, [json!(1)], "{name}");
        host.days(2).await;
        host.end_of(run).await;
        host.days(1).await;
        assert_eq!(host.events().await, Vec::<Value>::new(), "{name}");
    }
}

#[tokio::test]
async fn r24_a_restart_in_between_forgets_nothing_that_is_needed() {
    let host = Host::with(patient()).await;
    let run = host.engine.start("patient", json!({ "nap": "60d" })).await.unwrap();
    host.send("paid", json!("kept"), Some(run)).await;
    host.days(20).await;
    let host = host.restart_after("20d").await;
    host.days(1).await;
    let host = host.restart_after("18d").await;
    host.days(2).await;
    assert!(took(&host.end_of(run).await, "kept"));
    host.days(31).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
}

/// The operator's bound is the one that takes what is needed, and then the wait says so.
#[tokio::test]
async fn r24_a_wait_that_begins_after_its_events_had_to_be_forgotten_says_so() {
    let retention = Retention { events_at_most: Some(Millis::from_days(50)), ..Retention::default() };
    let host = Host::keeping(Place::new(), retention).await;
    let patient = Workflow::new("patient").sleep("nap", "60d").wait_for_event("paid", "paid");
    host.engine.deploy(patient).await.unwrap();
    let run = host.start("patient").await;
    host.send("paid", json!("lost"), Some(run)).await;
    host.days(49).await;
    assert_eq!(host.events().await, [json!("lost")]);
    host.days(12).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
    let run = host.engine.run(run).get().await.unwrap();
    let waiting: Vec<String> =
        abide_core::waiting_for::waiting_for(&run).iter().map(ToString::to_string).collect();
    assert_eq!(waiting.len(), 1);
    assert!(
        waiting[0].contains("those received before 2026-03-11T00:00:00.001Z may have been forgotten"),
        "{waiting:?}"
    );
}

#[tokio::test]
async fn r24_the_same_start_on_day_31_and_on_day_300_answers_with_the_first_run() {
    let host = Host::with(patient()).await;
    let first = host.engine.default_workspace().start(keyed("order-1", "310d")).await.unwrap();
    host.days(31).await;
    assert_eq!(host.engine.default_workspace().start(keyed("order-1", "310d")).await.unwrap(), first);
    host.days(269).await;
    assert_eq!(host.engine.default_workspace().start(keyed("order-1", "310d")).await.unwrap(), first);
    host.days(11).await;
    host.end_of(first).await;
    host.days(28).await;
    assert!(host.has_key("order-1"), "keys are kept for 30 days after the end of their run");
    host.days(3).await;
    assert!(!host.has_key("order-1"));
    assert_ne!(host.engine.default_workspace().start(keyed("order-1", "310d")).await.unwrap(), first);
}

#[tokio::test]
async fn r24_the_key_of_a_run_that_was_forgotten_stays_for_as_long_as_keys_are_kept() {
    let retention = Retention { runs: Some(Millis::from_days(2)), ..Retention::default() };
    let host = Host::keeping(Place::new(), retention).await;
    host.engine.deploy(patient()).await.unwrap();
    let run = host.engine.default_workspace().start(keyed("order-1", "60d")).await.unwrap();
    host.days(61).await;
    host.end_of(run).await;
    host.days(28).await;
    assert_eq!(host.engine.run(run).history().await.unwrap(), None, "the run is gone");
    assert!(host.has_key("order-1"));
    host.days(4).await;
    assert!(!host.has_key("order-1"));
}

/// More than one sweep looks at, of which some are needed and most are not.
#[tokio::test]
async fn r24_what_is_kept_does_not_keep_the_rest_from_being_forgotten() {
    let host = Host::with(patient()).await;
    let run = host.engine.start("patient", json!({ "nap": "100d" })).await.unwrap();
    for number in 0..1_500 {
        let event_id = if number % 3 == 0 { "paid" } else { "other" };
        let to = (number % 6 == 0).then_some(run);
        host.send(event_id, json!(number), to).await;
    }
    host.days(31).await;
    let left = host.events().await;
    assert_eq!(left.len(), 500);
    assert!(left.iter().all(|number| number.as_u64().unwrap() % 3 == 0));
    host.days(70).await;
    host.end_of(run).await;
    host.days(31).await;
    assert_eq!(host.events().await, Vec::<Value>::new());
}

/// A sweep costs what there is to forget and not what is kept: with ten times as many sleepers it looks at as much. With
/// `ABIDE_SLEEPERS=1000000` it is tried with that many, and writes to the file `ABIDE_FIGURES` how long the writer was at it.
#[tokio::test]
async fn r24_a_sweep_does_not_look_again_at_what_it_keeps() {
    let asked = std::env::var("ABIDE_SLEEPERS").ok().and_then(|count| count.parse().ok());
    let sleepers: usize = asked.unwrap_or(1_500);
    let watch = Watch::default();
    let host = Host::with(patient()).await.restart_on(&watch, "0s").await;
    let mut starting = JoinSet::new();
    for number in 0..sleepers {
        if starting.len() == 256 {
            starting.join_next().await;
        }
        let engine = host.engine.clone();
        starting.spawn(async move {
            engine.default_workspace().start(keyed(&format!("order-{number}"), "300d")).await.unwrap()
        });
    }
    starting.join_all().await;
    for number in 0..300 {
        host.send(if number % 3 == 0 { "paid" } else { "other" }, json!(number), None).await;
    }
    host.pass("31d").await;
    watch.swept();
    host.engine.sweep().await.unwrap();
    assert_eq!(host.events().await.len(), 100);
    let (looked_at, removals) = watch.swept();
    assert!(looked_at >= sleepers, "each is looked at once: {looked_at}");
    let mut told = String::new();
    let longest = removals.iter().max().copied().unwrap_or_default();
    told.push_str(&format!("{sleepers} sleepers: the first sweep looked at {looked_at} rows; the writer's longest removal took {longest:?}\n"));
    for day in 1..4 {
        host.pass("1d").await;
        let begun = std::time::Instant::now();
        host.engine.sweep().await.unwrap();
        let took = begun.elapsed();
        let (looked_at, removals) = watch.swept();
        let writing: std::time::Duration = removals.iter().sum();
        told.push_str(&format!(
            "day {day}: looked at {looked_at} rows in {took:?}, of which the writer took {writing:?}\n"
        ));
        assert!(looked_at <= 10, "what is kept is not looked at again: {looked_at}");
    }
    if let Some(file) = std::env::var_os("ABIDE_FIGURES") {
        std::fs::write(file, told).unwrap();
    }
    let again = host.engine.default_workspace().start(keyed("order-7", "300d")).await.unwrap();
    let counts = host.engine.admin().count_runs().await.unwrap();
    let open: u64 = counts.iter().filter(|(status, _)| !status.has_ended()).map(|(_, count)| count).sum();
    assert_eq!(
        (open, again),
        (sleepers as u64, host.engine.default_workspace().start(keyed("order-7", "300d")).await.unwrap())
    );
}
