#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::sync::Arc;
use abide_core::command::*;
use abide_core::definition::Definition;
use abide_core::id::{At, RunId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::waitpoint::{Actor, Decision};
use serde_json::{Value, json};

fn ctx() -> Context { Context { now: "2026-01-01T00:00:00Z".parse().unwrap(), random: 1, by: Actor::new("ana") } }
fn go(steps: Value, input: Value) -> (Run, Vec<String>) {
    let d = Definition::from_value(json!({"name": "w", "steps": steps})).unwrap();
    for w in &d.warnings { println!("warning {w}"); }
    let (run, out) = start(NewRun::new(RunId(1), Arc::new(d.definition), Json::new(input)), &ctx()).unwrap();
    (run, out.records.iter().map(|r| serde_json::to_string(r).unwrap()).collect())
}
fn then(run: &mut Run, c: Command) { 
    match decide(run, c, &ctx()) { Ok(o) => for r in o.records { println!("   {}", serde_json::to_string(&r).unwrap()); }, Err(e) => println!("  REFUSED {} {e}", e.code()) }
}
fn show(run: &Run) { println!("{} state={:?} output={:?} error={:?}", run.status, run.state, run.output, run.error); }

#[test]
fn experiments() {
    println!("--- respond last");
    let (run, _) = go(json!([{"name":"a","type":"respond","body":1, "saveAs": "kept"}]), json!({})); show(&run);
    println!("--- condition last");
    let (run, _) = go(json!([{"name":"a","type":"condition","expression":"1 == 1","trueStep":"end", "saveAs":"kept"}]), json!({})); show(&run);
    println!("--- approval saveAs");
    let (mut run, _) = go(json!([
        {"name":"t","type":"external_event","signalType":"x"},
        {"name":"a","type":"approval","contentKey":"doc","saveAs":"verdict"}]), json!({}));
    then(&mut run, Command::SendSignal(SendSignal{signal_type:"x".into(), payload: json!({"doc": 1}).into()}));
    then(&mut run, Command::Vote(Vote{number:2, decision: Decision::Approve, edited_content: None, comment: None})); show(&run);
    println!("--- child no wait saveAs");
    let (run, r) = go(json!([{"name":"a","type":"workflow","definition":"c","wait":false,"saveAs":"kept"}]), json!({})); println!("{r:#?}"); show(&run);
    println!("--- timeout 0s");
    println!("{:?}", Definition::from_value(json!({"name":"w","steps":[{"name":"a","type":"external_event","signalType":"x","timeout":"0s"}]})).map(|c| c.warnings));
    println!("{:?}", Definition::from_value(json!({"name":"w","steps":[{"name":"a","type":"external_event","signalType":"x","timeoutMs":0}]})).map(|c| c.warnings).map_err(|e| e.to_string()));
    println!("--- secret");
    let (run, _) = go(json!([{"name":"a","type":"http","url":"https://x/{{ secret.K }}"}]), json!({})); show(&run);
    println!("--- steps computed");
    let (run, _) = go(json!([{"name":"a","type":"respond","body":1},{"name":"b","type":"respond","body":"{{ steps[input.w].output ?? 'none' }} {{ steps.a.status }} {{ steps[\"a\"].output.body }} {{ steps.c.status }} {{ run }}"},{"name":"c","type":"wait","durationMs":0}]), json!({"w":"a"})); show(&run);
    println!("--- graph end");
    let (mut run, r) = go(json!([{"name":"a","type":"external_event","signalType":"x","timeout":"1s","onTimeout":{"goto":"end"}, "after":[]},{"name":"b","type":"wait","durationMs":0,"after":["a"]},{"name":"c","type":"wait","durationMs":0,"after":["b"]}]), json!({})); println!("{r:#?}");
    then(&mut run, Command::Steer(Steer{number:1, steering: Steering::TimeOut})); show(&run);
    println!("--- graph condition end");
    let (run, r) = go(json!([{"name":"a","type":"condition","expression":"1==1","trueStep":"end","falseStep":"b", "after":[]},{"name":"b","type":"wait","durationMs":0,"after":["a"]},{"name":"c","type":"wait","durationMs":0,"after":["a"]}]), json!({})); println!("{r:#?}"); show(&run);
    println!("--- reserved via steer");
    let (mut run, _) = go(json!([{"name":"a","type":"external_event","signalType":"x"}]), json!({}));
    then(&mut run, Command::Steer(Steer{number:1, steering: Steering::Complete{payload: Some(json!({"state":1}).into())}})); show(&run);
    println!("--- event fields");
    let (run, r) = go(json!([{"name":"a","type":"wait_for_event","eventId":"o-{{input.w}}","match":"event.id == input.w and event.x > 1","timeout":"1h"}]), json!({"w":"a"})); println!("{r:#?}"); show(&run);
    println!("--- retry of run skipped etc");
    let (mut run, r) = go(json!([{"name":"a","type":"task","handler":"x","input":{"a":"{{input.w}}"}, "saveAs":"k"}]), json!({"w":"a"})); println!("{r:#?}"); show(&run);
    then(&mut run, Command::TaskFailed(TaskFailed{at: At::step(0), delivery:1, message:"m".into(), code:None, retryable:true, retry_after:None}));
    then(&mut run, Command::Pause);
    then(&mut run, Command::Steer(Steer{number:1, steering: Steering::TimeOut})); show(&run);
    then(&mut run, Command::Unpause);
    then(&mut run, Command::TaskCompleted(TaskCompleted{at: At::step(0), delivery:2, output: json!(5).into(), state_updates: None})); show(&run);
    panic!();
}
