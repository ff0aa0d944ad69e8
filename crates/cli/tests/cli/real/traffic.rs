//! What clients and workers do: every client repeats what was not answered, under the same idempotency key, until it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use abide_core::random::Random;
use abide_testkit::http::{Answer, Http};
use serde_json::{Value, json};

use crate::ledger::{Kind, Ledger};

/// Tasks that are not done, so that there is always something to do and never too much.
const UNDER_WAY: usize = 300;

pub(crate) fn deploy(http: &mut Http) {
    let work = |name: &str| {
        json!({ "type": "task", "name": name, "handler": "work", "heartbeatMs": 3_000,
                "retry": { "maxAttempts": 20, "backoffMs": 100, "backoffMultiplier": 1 } })
    };
    let nap = json!({ "type": "wait", "name": "nap", "duration": "{{ input.nap }}" });
    let go = json!({ "type": "external_event", "name": "go", "signalType": "go" });
    let event = json!({ "type": "wait_for_event", "name": "hear", "eventId": "{{ input.event }}" });
    for (name, steps) in [
        (Kind::Sleeper, json!([nap, work("after")])),
        (Kind::Signalled, json!([work("before"), go, work("after")])),
        (Kind::Listener, json!([event, work("after")])),
        (Kind::Chain, json!([work("a"), work("b"), work("c")])),
    ] {
        let document = json!({ "name": name.workflow(), "version": "1", "steps": steps });
        let answer = http.post("/workflow-definitions", &document, None).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.body);
    }
}

/// Asks until there is an answer. The server may be gone for a moment, or die before it answers.
pub(crate) fn until_answered(mut ask: impl FnMut() -> std::io::Result<Answer>) -> Answer {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(answer) if answer.status != 503 => return answer,
            Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "no answer for five minutes");
    }
}

pub(crate) fn drive(client: u64, http: &mut Http, ledger: &Ledger, killing: &AtomicBool) {
    let mut random = Random::new(client);
    let mut number = 0;
    while killing.load(Ordering::SeqCst) {
        if ledger.under_way() >= UNDER_WAY {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        }
        number += 1;
        let name = format!("{client}-{number}");
        let kind = Kind::ALL[usize::try_from(random.below(4)).unwrap()];
        let input = json!({ "nap": format!("{}ms", random.below(400)), "event": name });
        let start = json!({ "name": kind.workflow(), "input": input });
        let answer = until_answered(|| http.post("/workflow-runs", &start, Some(&format!("start-{name}"))));
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
        let run = answer.body["id"].as_str().unwrap().to_owned();
        ledger.started(&run, kind);
        match kind {
            Kind::Signalled => {
                let signal = json!({ "signalType": "go", "payload": { "from": name } });
                let path = format!("/workflow-runs/{run}/resume");
                let answer = until_answered(|| http.post(&path, &signal, Some(&format!("signal-{name}"))));
                assert_eq!(answer.status, 200, "{answer:?}");
                ledger.said(&run, json!({ "from": name }));
            }
            Kind::Listener => {
                let event = json!({ "eventId": name, "eventData": { "from": name } });
                let answer = until_answered(|| http.post("/events", &event, Some(&format!("event-{name}"))));
                assert_eq!(answer.status, 200, "{answer:?}");
                ledger.said(&run, json!({ "from": name }));
            }
            Kind::Sleeper | Kind::Chain => {}
        }
    }
}

pub(crate) fn work(worker: u64, http: &mut Http, ledger: &Ledger, working: &AtomicBool) {
    let poll =
        json!({ "handlers": ["work"], "maxTasks": 5, "waitMs": 200, "workerId": format!("w{worker}") });
    let mut done = 0;
    while working.load(Ordering::SeqCst) {
        let Ok(answer) = http.post("/tasks/poll", &poll, None) else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        for task in answer.body["tasks"].as_array().into_iter().flatten() {
            done += 1;
            let output = json!({ "by": format!("w{worker}"), "number": done });
            let report = json!({ "leaseToken": task["leaseToken"], "output": output });
            let path = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
            let answer = until_answered(|| http.post(&path, &report, None));
            // Refused when the lease was lost meanwhile, or when the answer to the first report was.
            assert!(matches!(answer.status, 200 | 409), "{answer:?}");
            let (run, step) = (text(&task["runId"]), text(&task["stepName"]));
            match answer.status {
                200 => ledger.completed(run, step, output),
                _ if is_done(http, run, step) => ledger.done(run, step),
                _ => {}
            }
        }
    }
}

fn is_done(http: &mut Http, run: &str, step: &str) -> bool {
    let run = until_answered(|| http.get(&format!("/workflow-runs/{run}"))).body;
    let mut steps = run["steps"].as_array().into_iter().flatten();
    steps.any(|known| known["name"] == step && known["status"] == "COMPLETED")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
