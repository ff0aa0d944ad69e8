use std::collections::BTreeMap;

use abide_core::capacity::{Ask, CapacityRequest, Policy, Rank, Room};
use abide_core::command::{Command, SendSignal};
use abide_core::definition::{Holds, Rate, WhenFull};
use abide_core::expression::Expression;
use abide_core::history::{Failure, JournalResult, StartedOn, StateChange, WakeOn};
use abide_core::id::{EventUid, LimitId, RunId, ScheduleId, StepAddress};
use abide_core::random::Random;
use abide_core::status::WaitStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::{
    ApprovalRequest, ApprovalVote, ByLink, CodeMismatch, Decision, EventFilter, Kind, ListensFor,
    NextAttempt, Waitpoint,
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;
use crate::conformance::story::{self, World};

fn round_trip(run: RunId, records: &[Record], parts: &[usize]) -> Vec<Record> {
    let (mut history, mut encoder, mut rest) = (Vec::new(), Encoder::default(), records);
    for part in parts.iter().copied().chain([usize::MAX]) {
        let (written, left) = rest.split_at(part.min(rest.len()));
        decode(run, 0, encoder.encode(run, written), &mut history).unwrap();
        rest = left;
    }
    history
}

#[test]
fn a_run_that_has_just_fallen_asleep_takes_less_than_240_bytes() {
    let mut nap = World::new().start(&story::nap(), json!({ "sleep": "30d" }));
    nap.history.iter_mut().for_each(|record| record.traceparent = None);
    let mut encoder = Encoder::default();
    let bytes = encoder.encode(nap.id(), &nap.history).len();
    let plain = String::from_utf8_lossy(&encoder.plain);
    assert!(bytes <= 240, "{bytes} bytes for {plain}");
}

#[test]
fn the_history_of_a_run_is_read_as_it_was_written() {
    let mut world = World::new();
    let mut full_tour = world.start_tagged(&story::full_tour(), json!({ "n": 0.1 }), &["red", "blue"]);
    world.work(&mut full_tour, 0);
    for round in 0..3 {
        world.pass(SignedDuration::from_nanos(round));
        let signal_type = "go".into();
        let payload = Json::new(json!({ "n": round }));
        world.tell(&mut full_tour, Command::SendSignal(SendSignal { signal_type, payload }));
        world.wake(&mut full_tour);
    }
    world.tell(&mut full_tour, Command::Cancel { reason: Some("enough".to_owned()) });
    let all = full_tour.history.len();
    for first in 0..=all {
        assert_eq!(round_trip(full_tour.id(), &full_tour.history, &[first]), full_tour.history);
    }
    assert_eq!(round_trip(full_tour.id(), &full_tour.history, &vec![1; all]), full_tour.history);
}

#[test]
fn every_change_is_read_as_it_was_written_whatever_is_in_it() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let run = RunId(random.draw_u128());
        let mut records = vec![record(&mut random, 1, |random| creation(random, run))];
        let kinds = changes(&mut Random::new(0)).len();
        for index in 0..kinds {
            let seq = records.len() as u64 + 1;
            let mut next = record(&mut random, seq, |random| changes(random).swap_remove(index));
            if random.below(2) == 0 {
                let last = records.last().unwrap();
                (next.at, next.by) = (last.at, last.by.clone());
            }
            records.push(next);
        }
        assert_eq!(round_trip(run, &records, &[3, 7]), records, "seed {seed}");
    }
}

#[test]
fn a_damaged_chunk_is_refused() {
    let mut nap = World::new().start(&story::nap(), json!({ "sleep": "30d" }));
    nap.history.iter_mut().for_each(|record| record.traceparent = None);
    let mut encoder = Encoder::default();
    let mut chunk = encoder.encode(nap.id(), &nap.history).to_vec();
    for length in 0..chunk.len() {
        assert!(decode(nap.id(), 0, &chunk[..length], &mut Vec::new()).is_err(), "{length} bytes");
    }
    for bit in 0..chunk.len() * 8 {
        chunk[bit / 8] ^= 1 << (bit % 8);
        let read = decode(nap.id(), 0, &chunk, &mut Vec::new());
        assert!(matches!(read, Err(Damage::Checksum)), "bit {bit}");
        chunk[bit / 8] ^= 1 << (bit % 8);
    }
    let of_another = decode(RunId(1), 0, &chunk, &mut Vec::new());
    assert!(matches!(of_another, Err(Damage::Checksum)));
    decode(nap.id(), 0, &chunk, &mut Vec::new()).unwrap();
}

#[test]
fn what_was_written_by_a_defect_is_refused_although_its_checksum_is_right() {
    let run = RunId(1);
    for other in ["", "{}", "[[]]", "[[\"2026-03-01T09:00:00Z\"]]", "[[1,\"api\"]]", "[] []"] {
        let read = decode(run, 0, &sealed(run, other), &mut Vec::new());
        assert!(matches!(read, Err(Damage::Records(_))), "{other}");
    }
}

#[test]
fn what_a_newer_program_adds_to_a_record_is_kept_as_payload_or_refused_and_never_dropped() {
    const ADDED: &str = "fromANewerProgram";
    let mut refused = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let run = RunId(random.draw_u128());
        let first = record(&mut random, 1, |random| creation(random, run));
        for change in [first.change.clone()].into_iter().chain(changes(&mut random)) {
            // What has no fields gets none: a newer program has another kind for it.
            if serde_json::to_value(&change).unwrap().as_object().unwrap().len() == 1 {
                continue;
            }
            let seq = if matches!(change, Change::WorkflowCreated(_)) { 1 } else { 2 };
            let written = Record { seq, change, ..first.clone() };
            let mut encoder = Encoder::default();
            encoder.encode(run, std::slice::from_ref(&written));
            let plain: Value = serde_json::from_slice(&encoder.plain).unwrap();
            for place in objects(&plain, String::new()) {
                let mut newer = plain.clone();
                newer.pointer_mut(&place).unwrap()[ADDED] = json!(1);
                let mut history = Vec::new();
                match decode(run, seq - 1, &sealed(run, &newer.to_string()), &mut history) {
                    Ok(()) => {
                        encoder.encode(run, &history);
                        let kept = String::from_utf8_lossy(&encoder.plain).contains(ADDED);
                        assert!(kept, "it is gone from {place} of {plain}");
                    }
                    Err(damage) => {
                        let said = damage.to_string();
                        assert!(said.contains("newer version of abide"), "{said}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn a_kind_of_record_of_a_newer_program_is_refused_by_its_name() {
    let text = r#"[["2026-03-01T09:00:00Z","api",{"type":"WORKFLOW_DREAMT","at":3}]]"#;
    let damage = decode(RunId(1), 1, &sealed(RunId(1), text), &mut Vec::new()).unwrap_err().to_string();
    assert!(damage.contains("WORKFLOW_DREAMT") && damage.contains("newer version of abide"), "{damage}");
}

/// A chunk with this text.
fn sealed(run: RunId, text: &str) -> Vec<u8> {
    let mut short = Vec::new();
    short::shorten(text.as_bytes(), &mut short);
    let checksum = checksum(run, &short);
    short.extend(checksum);
    short
}

/// The places of all objects.
fn objects(value: &Value, place: String) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
            fields.iter().map(|(name, value)| (escaped(name), value)).collect()
        }
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let own = value.is_object().then(|| place.clone());
    let deeper = inner.into_iter().flat_map(|(name, value)| objects(value, format!("{place}/{name}")));
    own.into_iter().chain(deeper).collect()
}

fn record(random: &mut Random, seq: u64, change: impl FnOnce(&mut Random) -> Change) -> Record {
    let traceparent = (random.below(2) == 0).then(|| Traceparent {
        trace_id: random.draw_u128() | 1,
        span_id: random.draw() | 1,
        is_sampled: random.below(2) == 0,
    });
    Record { seq, at: instant(random), by: Actor::new(&text(random)), traceparent, change: change(random) }
}

fn creation(random: &mut Random, run_id: RunId) -> Change {
    let definition = DefinitionRef { name: text(random).into(), version: text(random).into() };
    let parent = (random.below(2) == 0).then(|| Parent {
        waitpoint: (random.below(2) == 0).then(|| RunId(random.draw_u128()).waitpoint(3)),
        run_id: RunId(random.draw_u128()),
        depth: 2,
        root: (random.below(2) == 0).then(|| RunId(random.draw_u128())),
    });
    let tags = (0..random.below(3)).map(|_| text(random).into()).collect();
    let (workspace, input) = (WorkspaceId(random.below(3) as u32), payload(random));
    let scheduled = (random.below(2) == 0)
        .then(|| Scheduled { schedule_id: ScheduleId(random.draw_u128()), occurrence: instant(random) });
    let started_on = (random.below(2) == 0).then(|| StartedOn {
        event: EventUid(random.draw_u128()),
        event_id: text(random).into(),
        received_at: instant(random),
    });
    let started_by = (random.below(2) == 0).then(|| Actor::new(&text(random)));
    Change::WorkflowCreated(Box::new(Creation {
        run_id,
        workspace,
        definition,
        input,
        tags,
        parent,
        scheduled,
        started_on,
        started_by,
    }))
}

/// One of each kind.
fn changes(random: &mut Random) -> Vec<Change> {
    let at = if random.below(2) == 0 { StepAddress::step(3) } else { StepAddress::item(999, 9_999) };
    let instant_or_none = |random: &mut Random| (random.below(2) == 0).then(|| instant(random));
    let payload_or_none = |random: &mut Random| (random.below(2) == 0).then(|| payload(random));
    let error = Failure { step: Some(text(random).into()), ..Failure::new("CODE", text(random)) };
    vec![
        Change::WorkflowStarted { deadline: instant_or_none(random) },
        Change::WorkflowPaused { reason: Kind::Retry, resume_at: instant_or_none(random) },
        Change::WorkflowResumed,
        Change::WorkflowPauseRequested,
        Change::WorkflowPausedByOperator,
        Change::WorkflowUnpaused,
        Change::WorkflowDeadlinePassed,
        Change::WorkflowCompleted { output: payload(random) },
        Change::WorkflowFailed { error: error.clone(), handled_by: None },
        Change::WorkflowCancelled { reason: Some(text(random)), handled_by: Some(RunId(random.draw_u128())) },
        Change::WorkflowRetried { deadline: instant_or_none(random) },
        Change::StepStarted { at, request: payload_or_none(random) },
        Change::StepWaiting {
            at,
            opens: vec![waitpoint(random), waitpoint(random)],
            awaits: vec![1, 2],
            wake: WakeOn::Each,
        },
        Change::StepResumed { at },
        Change::StepRetrying { at, attempt: 2, error: error.clone(), opens: waitpoint(random) },
        Change::StepHeldBack { at },
        Change::StepCompleted {
            at,
            output: payload_or_none(random),
            waitpoint: Some(4),
            state: StateChange::Set(BTreeMap::from([(text(random), payload(random))])),
            not_taken: vec![1, 2],
        },
        Change::StepCompleted {
            at,
            output: Some(Json::null()),
            waitpoint: None,
            state: StateChange::OutputAs(text(random).into()),
            not_taken: Vec::new(),
        },
        Change::StepFailed { at, error, stopped: true },
        Change::StepSkipped { at },
        Change::StepCancelled { at },
        Change::MapStarted { at, items: payload(random) },
        Change::TaskStarted {
            at,
            lease_epoch: 7,
            worker: text(random).into(),
            build: random.below(2).eq(&0).then(|| text(random).into()),
            deadline: instant_or_none(random),
        },
        Change::TaskPaused { at, opens: waitpoint(random) },
        Change::TaskPinned { at, build: text(random).into() },
        Change::TaskUnpinned { at },
        Change::TaskRedelivered { at, counted: true },
        Change::JournalRecorded {
            at,
            entries: vec![JournalResult { name: text(random).into(), result: payload(random) }],
        },
        Change::CheckpointSaved { at, checkpoint: payload(random) },
        Change::EventSent {
            at,
            lease_epoch: 7,
            event: EventUid(random.draw_u128()),
            event_id: text(random).into(),
        },
        Change::WaitCreated { opens: waitpoint(random) },
        Change::WaitResolved {
            number: 1,
            status: WaitStatus::TimedOut,
            payload: payload_or_none(random),
            signal: Some(u64::MAX),
        },
        Change::WaitRescheduled { number: 1, resume_at: instant(random) },
        Change::CapacityTaken {
            at: (random.below(2) == 0).then_some(at),
            rooms: vec![Room { limit: LimitId(random.draw_u128()), holds: Holds::Run }],
            number: (random.below(2) == 0).then_some(1),
        },
        Change::CapacityQueued { number: 1, line: 2, keeps: true },
        Change::StartCollected { number: 1, input: payload(random), resume_at: instant(random) },
        Change::SignalReceived { id: 1, signal_type: text(random).into(), payload: payload(random) },
        Change::EventMatched { number: 1, event: EventUid(random.draw_u128()), received_at: instant(random) },
        Change::ApprovalRequested { number: 1 },
        Change::ApprovalReminded { number: 1 },
        Change::ApprovalEscalated { number: 1, approvers: vec![text(random).into()] },
        Change::ApprovalDecided {
            number: 1,
            decision: Decision::Edit,
            edited_content: payload_or_none(random),
            comment: Some(text(random)),
            link: Some(ByLink { made_by: Actor::new(&text(random)), for_anyone: true }),
        },
    ]
}

fn waitpoint(random: &mut Random) -> Waitpoint {
    let listens_for = match random.below(9) {
        0 => ListensFor::Time,
        1 => ListensFor::Signal { signal_type: text(random).into() },
        2 => ListensFor::Event(EventFilter {
            event_id: text(random).into(),
            since: instant(random),
            forgotten_before: random.below(2).eq(&0).then(|| instant(random)),
            matching: Some(Expression::parse("event.n == input.n").unwrap()),
            bound: BTreeMap::from([("input.n".to_owned(), payload(random))]),
        }),
        3 => ListensFor::Call { allow_get: true },
        4 => ListensFor::Approval(ApprovalRequest {
            prompt: Some(text(random)),
            content: payload(random),
            content_schema: Some(payload(random)),
            approvers: vec![text(random).into()],
            quorum: 1,
            allow_self_approval: random.below(2) == 0,
            decisions: vec![ApprovalVote {
                by: Actor::new("anna"),
                decision: Decision::Reject,
                comment: None,
                link: None,
            }],
        }),
        5 => ListensFor::Attempt(NextAttempt {
            call: text(random).into(),
            attempt: 2,
            max_attempts: 5,
            error: Failure::new("NO_MONEY", text(random)),
        }),
        6 => ListensFor::Code(CodeMismatch {
            handler: text(random).into(),
            builds: vec!["".into(), text(random).into()],
            pinned_to: random.below(2).eq(&0).then(|| text(random).into()),
            recorded: text(random),
            found: text(random),
        }),
        7 => ListensFor::Capacity(Box::new(CapacityRequest {
            asks: vec![Ask {
                limit: LimitId(random.draw_u128()),
                workflow: random.below(2).eq(&0).then(|| text(random).into()),
                name: text(random).into(),
                key: text(random).into(),
                policy: Policy {
                    concurrency: Some(3),
                    rate: Some(Rate { count: 1, per: Millis(1_000), burst: 2 }),
                },
                slot: true,
                token: random.below(2) == 0,
                holds: Holds::Work,
                when_full: WhenFull::Replace,
                kept: random.below(2) == 0,
            }],
            line: 0,
            call: random.below(2).eq(&0).then(|| text(random).into()),
            rank: Rank(12),
            priority: 3,
            moves: 2,
            group: random.below(2).eq(&0).then(|| LimitId(random.draw_u128())),
        })),
        _ => ListensFor::Child { run_id: RunId(random.draw_u128()) },
    };
    Waitpoint {
        number: 1,
        at: (random.below(2) == 0).then(|| StepAddress::item(1, 2)),
        name: text(random).into(),
        kind: Kind::Event,
        asked: (random.below(2) == 0).then(|| text(random).into()),
        status: WaitStatus::Pending,
        created_at: instant(random),
        resume_at: (random.below(2) == 0).then(|| instant(random)),
        listens_for,
        response_to_send: (random.below(2) == 0).then(|| payload(random)),
        resume_payload: None,
        event: None,
        resolved_by: None,
        resolved_at: None,
    }
}

fn instant(random: &mut Random) -> Timestamp {
    match random.below(20) {
        0 => Timestamp::MAX,
        1 => Timestamp::MIN,
        2 => Timestamp::UNIX_EPOCH,
        _ => {
            let nanoseconds = 1_800_000_000_000_000_000 + random.below(1 << 60) as i128;
            Timestamp::from_nanosecond(nanoseconds).unwrap()
        }
    }
}

fn text(random: &mut Random) -> String {
    (0..random.below(8)).map(|_| char::from_u32(random.below(0x800) as u32).unwrap_or('🦀')).collect()
}

fn payload(random: &mut Random) -> Json {
    let depth = if random.below(50) == 0 { 300 } else { 3 };
    Json::new(value(random, depth))
}

fn value(random: &mut Random, depth: u32) -> Value {
    match random.below(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(random.draw()),
        3 => json!(random.draw().cast_signed()),
        4 => json!(f64::from_bits(random.draw())),
        5 => json!(random.below(100_000) as f64 / 1000.0),
        6 => json!(text(random)),
        7 if depth > 3 => json!([value(random, depth - 1)]),
        7 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ if depth > 3 => json!({ text(random): value(random, depth - 1) }),
        _ => (0..random.below(4)).map(|_| (text(random), value(random, depth - 1))).collect(),
    }
}

/// Whatever stands under a right checksum is records or damage.
fn chunk(bytes: &[u8]) -> String {
    let run = RunId(7);
    let mut short = Vec::new();
    let text = bytes.starts_with(b"[");
    if text {
        short::shorten(bytes, &mut short)
    } else {
        short.extend(bytes)
    }
    let sum = checksum(run, &short);
    short.extend(sum);
    let mut history = Vec::new();
    match decode(run, 0, &short, &mut history) {
        Ok(()) => {
            assert_eq!(round_trip(run, &history, &[]), history);
            let kinds: Vec<_> = history.iter().map(|record| record.change.name()).collect();
            format!("{kinds:?}")
        }
        Err(damage) => abide_fuzz::outcome(&damage),
    }
}

#[test]
fn fuzz_chunks() {
    abide_fuzz::fuzz("chunk", &[], chunk);
}
