//! Flipped bits and lost ends, anywhere in a store and its log: each is refused, named, or changes nothing; what it
//! concerns is held, and nothing is silently different.
//!
//! A few in the test command; `ABIDE_FLIPS=10000 ABIDE_CUTS=1000` for many, `ABIDE_STATE=closed` for those of a store that
//! was closed alone. What came of them is printed.

#![allow(clippy::unwrap_used, reason = "a store that cannot be made is a failed test")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use abide_core::definition::document::Workflow;
use abide_core::id::{KeyId, RunId, WebhookId, WorkspaceId};
use abide_core::random::Random;
use abide_core::schedule::{CatchUp, Overlap, Plan, When};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::{
    Engine, Error, Mended, Options, ScheduleOrder, SendEvent, SettableClock, StartRun, examine, mend,
};
use abide_store::roles::*;
use abide_store::sqlite::{self, Repaired, Sqlite};
use abide_store::{ApiKey, Health, Owner, Page, Read, RunFilter, Scope, Store, WaitpointFilter, Webhook};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

const RUNS: usize = 40;
/// What a settled engine is waited for. One that cannot get on says so.
const PATIENCE: Duration = Duration::from_secs(300);
const STUCK: &str = "it does not get on, and does not say so";

fn begin() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn asked_for(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |count| count.parse().unwrap())
}

/// The files of a store: the store itself, its log, and what it says was acknowledged.
#[derive(Clone)]
struct Files(Vec<(&'static str, Vec<u8>)>);

impl Files {
    fn of(path: &Path) -> Files {
        let read = |end: &'static str| Some((end, fs::read(format!("{}{end}", path.display())).ok()?));
        Files(["", "-wal", ".commits"].into_iter().filter_map(read).collect())
    }

    fn write(&self, directory: &TempDir) -> PathBuf {
        let path = directory.path().join("abide.db");
        for end in ["", "-wal", "-shm", ".commits", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        for (end, content) in &self.0 {
            fs::write(format!("{}{end}", path.display()), content).unwrap();
        }
        path
    }

    /// Of the store and its log.
    fn bytes(&self) -> usize {
        self.0.iter().filter(|(end, _)| *end != ".commits").map(|(_, content)| content.len()).sum()
    }

    fn at(&mut self, mut place: usize) -> (&mut Vec<u8>, usize) {
        for (end, content) in &mut self.0 {
            if *end == ".commits" {
                continue;
            }
            if place < content.len() {
                return (content, place);
            }
            place -= content.len();
        }
        panic!("beyond the end");
    }
}

/// A store with runs of all kinds, as a process that was killed leaves it, and as one that was closed.
async fn stores() -> [Files; 2] {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("abide.db");
    let clock = SettableClock::new(begin());
    let options = Options { clock: Some(clock.clone()), ..Options::default() };
    let engine = Engine::open_with(Box::new(Sqlite::open(&path).unwrap()), options).await.unwrap();
    for workflow in [
        Workflow::new("nap").sleep("zzz", "1h").sleep("again", "2h"),
        Workflow::new("listener").wait_for_event("paid", "paid"),
        Workflow::new("signalled").signal("go", "go").sleep("zzz", "3h"),
        Workflow::new("short").sleep("zzz", "1s"),
        Workflow::new("parent").child("child", "nap"),
    ] {
        engine.deploy(workflow).await.unwrap();
    }
    let key = ApiKey {
        id: KeyId(1),
        workspace: WorkspaceId::DEFAULT,
        name: "key".to_owned(),
        hash: [7; 32],
        prefix: "abk".to_owned(),
        scopes: [Scope::Read].into(),
        created_at: begin(),
        last_used_at: None,
        revoked_at: Some(begin()),
        expires_at: None,
    };
    let webhook = Webhook {
        id: WebhookId(1),
        workspace: WorkspaceId::DEFAULT,
        url: "https://192.0.2.1/hook".to_owned(),
        description: None,
        topics: Default::default(),
        secrets: Vec::new(),
        created_at: begin(),
        health: Health::default(),
    };
    engine.default_workspace().keys().add(key).await.unwrap();
    engine.default_workspace().webhooks().add(webhook, usize::MAX).await.unwrap();
    engine.admin().change_setting("secret", None, vec![1, 2, 3]).await.unwrap();
    for name in ["hourly", "daily"] {
        let plan = Plan {
            name: name.to_owned(),
            workflow: "short".to_owned(),
            version: None,
            input: json!({}).into(),
            tags: Vec::new(),
            when: When::Every(Millis::parse("5h").unwrap()),
            overlap: Overlap::default(),
            catch_up: CatchUp::default(),
        };
        let order = ScheduleOrder::Create(plan);
        engine.default_workspace().schedules().order(order, Actor::new("ana"), None).await.unwrap();
    }
    for number in 0..RUNS {
        for workflow in ["nap", "listener", "signalled", "short", "parent"] {
            let new = StartRun::new(workflow.to_owned())
                .input(json!({ "number": number, "text": "x".repeat(number * 37) }))
                .tags(vec![format!("tag-{}", number % 3)])
                .idempotency_key(format!("{workflow}-{number}"));
            let run = engine.default_workspace().start(new).await.unwrap();
            if workflow == "signalled" && number % 2 == 0 {
                engine.run(run).signal("go", json!({ "number": number })).await.unwrap();
            }
        }
        let data = json!({ "number": number, "text": "y".repeat(number * 11) });
        let event = SendEvent::new(format!("event-{}", number % 5)).data(data);
        engine.default_workspace().events().send(event).await.unwrap();
    }
    clock.advance(Millis::parse("10s").unwrap());
    engine.clock().settled().await.unwrap();
    let killed = Files::of(&path);
    engine.shut_down().await.unwrap();
    let closed = Files::of(&path);
    assert!(killed.bytes() > closed.bytes(), "there is a log");
    [killed, closed]
}

/// What can be asked, and what is answered.
type Answers = BTreeMap<String, Result<String, String>>;

fn said<T: Debug>(answer: Result<T, abide_store::Error>) -> Result<String, String> {
    answer.map(|answer| format!("{answer:?}")).map_err(|error| {
        assert!(error.is_damage(), "{error}");
        error.to_string()
    })
}

fn answers(store: &mut dyn Read, runs: &[RunId]) -> Answers {
    let mut answers = Answers::new();
    let workspace = WorkspaceId::DEFAULT;
    let limit = 10_000;
    let mut add = |asked: String, answer: Result<String, String>| drop(answers.insert(asked, answer));
    add("runs".into(), said(store.runs(&RunFilter::default(), &Page { after: None, limit })));
    let tagged = RunFilter { tag: Some("tag-1".to_owned()), ..RunFilter::default() };
    add("tagged".into(), said(store.runs(&tagged, &Page { after: None, limit })));
    let waits = RunFilter { definition: Some("nap".to_owned()), ..RunFilter::default() };
    add("naps".into(), said(store.runs(&waits, &Page { after: None, limit })));
    add("waits".into(), said(store.waitpoints(&WaitpointFilter::default(), &Page { after: None, limit })));
    add("timers".into(), said(store.timers(None, Timestamp::MAX, limit)));
    add("waiters".into(), said(store.waiters(workspace, "paid", None, limit)));
    add("events".into(), said(store.events(workspace, None, &Page { after: None, limit })));
    add("event-1".into(), said(store.events_since(workspace, "event-1", Timestamp::MIN, None, limit)));
    add("definitions".into(), said(store.definitions(workspace, None, &Page { after: None, limit })));
    for name in ["nap", "listener", "signalled", "short", "parent"] {
        add(format!("definition {name}"), said(store.definition(workspace, name, None)));
    }
    add("schedules".into(), said(store.schedules(workspace, &Page { after: None, limit })));
    add("keys".into(), said(store.keys(workspace)));
    add("key".into(), said(store.key_by_hash(&[7; 32])));
    add("webhooks".into(), said(store.webhooks(None)));
    add("setting".into(), said(store.setting("secret")));
    add("counts".into(), said(store.counts(None)));
    add("workspaces".into(), said(store.workspaces()));
    for number in (0..RUNS).step_by(7) {
        let key = format!("{workspace}/start/nap-{number}");
        add(format!("key {number}"), said(store.idempotency_record(&key)));
    }
    for run in runs {
        add(format!("load {run}"), said(store.load(*run)));
        add(format!("records {run}"), said(store.records_after(*run, 2, 5, usize::MAX)));
    }
    answers
}

/// How runs end when time passes.
async fn drive(store: Sqlite, runs: &[RunId]) -> Result<(BTreeMap<RunId, Driven>, Option<String>), Error> {
    let clock = SettableClock::new(begin());
    clock.advance(Millis::parse("10s").unwrap());
    let options = Options { clock: Some(clock.clone()), ..Options::default() };
    let engine = Engine::open_with(Box::new(store), options).await?;
    let mut trouble = None;
    for _ in 0..8 {
        clock.advance(Millis::parse("30m").unwrap());
        let in_trouble = async {
            while engine.trouble().is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            settled = engine.clock().settled() => trouble = settled.err().map(|error| error.to_string()),
            () = in_trouble => {}
            () = tokio::time::sleep(PATIENCE) => trouble = Some(STUCK.to_owned()),
        }
        trouble = trouble.or(engine.trouble());
        if trouble.is_some() {
            break;
        }
    }
    let mut driven = BTreeMap::new();
    for run in runs {
        let is_held = engine.holds().get(Owner::Run(*run)).is_some();
        driven.insert(
            *run,
            match engine.run(*run).get().await {
                Ok(found) => Driven { status: Some(found.status), is_held },
                Err(Error::Store(error)) if error.is_damage() => Driven { status: None, is_held },
                Err(error) => return Err(error),
            },
        );
    }
    let held = engine.holds().count() > 0;
    trouble = trouble.or(held.then(|| "something is held".to_owned()));
    drop(tokio::time::timeout(PATIENCE, engine.shut_down()).await);
    Ok((driven, trouble))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Driven {
    /// Nothing, if it is said to be damaged.
    status: Option<RunStatus>,
    is_held: bool,
}

#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    named: u64,
    harmless: u64,
    silent: Vec<String>,
}

struct Judge {
    runs: Vec<RunId>,
    sound: Answers,
    driven: BTreeMap<RunId, Driven>,
    directory: TempDir,
}

impl Judge {
    async fn new(files: &Files) -> Judge {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Sqlite::open(files.write(&directory)).unwrap();
        let runs = store.run_ids(&RunFilter::default(), &Page { after: None, limit: 10_000 }).unwrap();
        assert!(runs.len() > RUNS * 5);
        let sound = answers(&mut store, &runs);
        assert!(sound.values().all(Result::is_ok));
        let (driven, trouble) = drive(store, &runs).await.unwrap();
        assert_eq!(trouble, None);
        assert!(driven.values().filter(|run| run.status == Some(RunStatus::Completed)).count() > RUNS);
        Judge { runs, sound, driven, directory }
    }

    async fn judge(&self, files: &Files, what: &str, tally: &mut Tally) {
        let mut store = match Sqlite::open(files.write(&self.directory)) {
            Ok(store) => store,
            Err(_) => return tally.refused += 1,
        };
        let answers = answers(&mut store, &self.runs);
        let mut is_named = answers.values().any(Result::is_err);
        for (asked, answer) in &answers {
            if answer.is_ok() && *answer != self.sound[asked] {
                return tally.silent.push(format!("{what}: {asked}"));
            }
        }
        let (driven, trouble) = match drive(store, &self.runs).await {
            Ok(driven) => driven,
            Err(_) => return tally.refused += 1,
        };
        if trouble.as_deref() == Some(STUCK) {
            return tally.silent.push(format!("{what}: {STUCK}"));
        }
        is_named |= trouble.is_some();
        for (run, driven) in &driven {
            let is_same = *driven == self.driven[run];
            let is_told = driven.is_held || driven.status.is_none() || trouble.is_some();
            if !is_same && !is_told {
                return tally
                    .silent
                    .push(format!("{what}: {run} ended as {driven:?}, not {:?}", self.driven[run]));
            }
        }
        if is_named { tally.named += 1 } else { tally.harmless += 1 }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_flipped_bit_and_no_lost_end_changes_anything_in_silence() {
    let (flips, cuts) = (asked_for("ABIDE_FLIPS", 20), asked_for("ABIDE_CUTS", 6));
    let seed = asked_for("ABIDE_SEED", 13);
    let mut random = Random::new(seed);
    let (mut flipped, mut cut) = (Tally::default(), Tally::default());
    let only = std::env::var("ABIDE_STATE").ok();
    for (files, state) in stores().await.iter().zip(["killed", "closed"]) {
        let is_wanted = only.as_deref().is_none_or(|only| only == state);
        let judge = Judge::new(files).await;
        for number in 0..flips / 2 {
            let place = usize::try_from(random.draw() % files.bytes() as u64).unwrap();
            let bit = random.draw() % 8;
            let mut damaged = files.clone();
            let (content, at) = damaged.at(place);
            content[at] ^= 1 << bit;
            if is_wanted {
                judge.judge(&damaged, &format!("{state}, bit {bit} of byte {place}"), &mut flipped).await;
            }
            if number % 500 == 499 {
                println!("{state}: {number} flips, {flipped:?}");
            }
        }
        for _ in 0..cuts / 2 {
            let place = usize::try_from(random.draw() % files.bytes() as u64).unwrap();
            let mut damaged = files.clone();
            let (content, at) = damaged.at(place);
            content.truncate(at);
            if is_wanted {
                judge.judge(&damaged, &format!("{state}, cut at byte {place}"), &mut cut).await;
            }
        }
    }
    println!("seed {seed}: flips {flipped:?}, cuts {cut:?}");
    let silent: Vec<String> = flipped.silent.iter().chain(&cut.silent).cloned().collect();
    assert_eq!(silent, Vec::<String>::new());
    assert!(flipped.refused + flipped.named > 0);
}

/// Indexes are made from tables, and the rows of waits from histories; a table that nothing else tells of is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_be_made_anew_is_made_anew_and_nothing_is_left_out() {
    const PAGE: usize = 4_096;
    let [_, closed] = stores().await;
    let judge = Judge::new(&closed).await;
    let path = judge.directory.path().join("abide.db");
    let (mut anew, mut from_histories, mut refused) = (0, 0, 0);
    for page in 1..closed.bytes() / PAGE {
        let mut damaged = closed.clone();
        let (content, at) = damaged.at(page * PAGE + 1_234);
        content[at] ^= 0x10;
        damaged.write(&judge.directory);
        let _ = fs::remove_file(judge.directory.path().join("abide.db.damaged"));
        match sqlite::repair(&path, |store| mend(store, begin())) {
            Ok(Repaired { mended, .. }) => {
                assert_eq!(mended.held, 0, "page {page}");
                if mended.waits_of > 0 {
                    from_histories += 1;
                } else {
                    anew += 1;
                }
                let mut store = Sqlite::open(&path).unwrap();
                assert_eq!(answers(&mut store, &judge.runs), judge.sound, "page {page}");
                let (_, findings) = examine(&mut store, &mut |_| true).unwrap();
                assert_eq!(findings, [], "page {page}");
            }
            Err(error) => {
                assert!(error.is_damage(), "page {page}: {error}");
                refused += 1;
            }
        }
    }
    println!("{anew} pages of indexes, {from_histories} of waits, {refused} of what nothing else tells of");
    assert!(anew > 0 && from_histories > 0 && refused > 0);
}

/// As the next process finds it when this one is gone without a word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_all_is_looked_at_and_what_is_damaged_is_held_before_anybody_needs_it() {
    let [killed, _] = stores().await;
    let directory = tempfile::tempdir().unwrap();
    let mut store = Sqlite::open(killed.write(&directory)).unwrap();
    let filter = RunFilter { definition: Some("nap".to_owned()), ..RunFilter::default() };
    let culprit = store.run_ids(&filter, &Page { after: None, limit: 1 }).unwrap()[0];
    // Its timer is not found where timers are looked for: it would sleep for ever, and nobody would know.
    store.rewrite_waits(Owner::Run(culprit), WorkspaceId::DEFAULT, &[]).unwrap();
    let crashed = Files::of(&directory.path().join("abide.db"));
    drop(store);
    let store = Sqlite::open(crashed.write(&directory)).unwrap();
    assert!(!store.ended_well());
    let options = Options { clock: Some(SettableClock::new(begin())), ..Options::default() };
    let engine = Engine::open_with(Box::new(store), options).await.unwrap();
    while engine.holds().count() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let held = engine.holds().get(Owner::Run(culprit)).unwrap();
    assert!(held.reason.contains("has no row"), "{}", held.reason);
    assert_eq!(engine.holds().count(), 1);
    engine.shut_down().await.unwrap();
    let mut store = Sqlite::open(directory.path().join("abide.db")).unwrap();
    let (_, findings) = examine(&mut store, &mut |_| true).unwrap();
    assert!(findings.iter().any(|finding| finding.owner == Some(Owner::Run(culprit))));
    assert_eq!(mend(&mut store, begin()).unwrap(), Mended { waits_of: 1, held: 0, limits: 0 });
    assert_eq!(examine(&mut store, &mut |_| true).unwrap().1, []);
}
