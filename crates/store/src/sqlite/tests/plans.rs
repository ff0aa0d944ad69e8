//! No read looks at more than it shows: every statement that any call runs, with any filter, is explained here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use abide_core::id::EventUid;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;
use rusqlite::StatementStatus;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::*;
use crate::DeliveryStatus;
use crate::conformance::each_of;

#[test]
fn no_read_scans_a_table_or_sorts_what_it_does_not_show() {
    let mut store = filled();
    let run = Arc::new(Mutex::new(BTreeMap::new()));
    let noted = Arc::clone(&run);
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(statement, _) = event {
            let compiled_again = statement.get_status(StatementStatus::RePrepare);
            noted.lock().unwrap().insert(statement.sql().to_string(), compiled_again);
        }
    };
    store.connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    list_runs(&mut store);
    list_waitpoints(&mut store);
    read_the_rest(&mut store);
    forget(&mut store);
    let statements = std::mem::take(&mut *run.lock().unwrap());
    assert!(statements.len() > 300, "{} statements", statements.len());
    let is_explained = |sql: &str| !["BEGIN", "COMMIT", "ROLLBACK"].iter().any(|word| sql.starts_with(word));
    let mut dear = Vec::new();
    for (sql, compiled_again) in statements.iter().filter(|(sql, _)| is_explained(sql)) {
        let steps = plan(&store.connection, sql);
        let step = steps.iter().find(|step| !is_cheap(step, &steps));
        dear.extend(step.map(|step| format!("{step}\n    {sql}")));
        if *compiled_again > 0 {
            dear.push(format!("COMPILED AGAIN {compiled_again} TIMES\n    {sql}"));
        }
    }
    assert!(dear.is_empty(), "{}", dear.join("\n"));
}

fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.raw_query().mapped(|row| row.get(3));
    steps.map(Result::unwrap).collect()
}

fn is_cheap(step: &str, steps: &[String]) -> bool {
    const SCANNED: [&str; 5] =
        ["SCAN workspaces", "SCAN webhooks", "SCAN json_each", "SCAN waiting", "SCAN (subquery-1)"];
    if step.starts_with("USE TEMP B-TREE") {
        // A run has few waits, and of waits that are looked at one by one there are few.
        return ["SEARCH waitpoints USING PRIMARY KEY (run=?)", "CO-ROUTINE waiting"]
            .contains(&steps[0].as_str());
    }
    !step.starts_with("SCAN") || SCANNED.iter().any(|scanned| step.starts_with(scanned))
}

/// A run of everything, and so many waits for one signal that they are not looked at one by one.
fn filled() -> Sqlite {
    let mut store = Sqlite::open_in_memory().unwrap();
    let mut world = World::new();
    let mut listener =
        world.start_tagged(&story::listener(), json!({ "event": "few", "customer": 1 }), &["red"]);
    listener.save(&mut store);
    let insert = "INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, listens)
        WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted LIMIT 3000)
        SELECT zeroblob(16), number, 0, 2, 0, 0, 'many' FROM counted";
    store.connection.execute(insert, []).unwrap();
    store
}

fn list_runs(store: &mut Sqlite) {
    let here = Some(WorkspaceId::DEFAULT);
    let now = Some(World::new().now);
    each_of! {
        workspace in [None, here],
        statuses in [vec![], vec![RunStatus::Waiting], vec![RunStatus::Waiting, RunStatus::Failed]],
        definition in [None, Some("listener")],
        version in [None, Some("2")],
        tag in [None, Some("red")],
        created_from in [None, now],
        created_before in [None, now],
        waits_for in [None, Some(Kind::Signal), Some(Kind::Approval)],
        listens_for in [None, Some("many"), Some("few")],
        after in [None, Some(RunId(u128::MAX))]
        => {
            let filter = RunFilter {
                workspace,
                statuses: statuses.clone(),
                definition: definition.map(str::to_owned),
                version: version.map(str::to_owned),
                tag: tag.map(str::to_owned),
                created_from,
                created_before,
                waits_for,
                listens_for: listens_for.map(str::to_owned),
            };
            store.runs(&filter, &Page { after, limit: 10 }).unwrap();
        }
    }
}

fn list_waitpoints(store: &mut Sqlite) {
    let (here, now) = (Some(WorkspaceId::DEFAULT), Some(World::new().now));
    let id = RunId(1).waitpoint(1);
    each_of! {
        workspace in [None, here],
        run in [None, Some(RunId(1))],
        kind in [None, Some(Kind::Delay), Some(Kind::Signal)],
        status in [None, Some(WaitStatus::Pending), Some(WaitStatus::Completed)],
        due_before in [None, now],
        due_after in [None, now],
        listens_for in [None, Some("many")],
        after in [None, Some((None, id)), Some((now, id)), Some((Some(Timestamp::MAX), id))]
        => {
            let listens_for = listens_for.map(str::to_owned);
            let filter = WaitpointFilter { workspace, run, kind, status, due_before, due_after, listens_for };
            store.waitpoints(&filter, &Page { after, limit: 10 }).unwrap();
        }
    }
}

fn read_the_rest(store: &mut Sqlite) {
    let (here, now) = (WorkspaceId::DEFAULT, World::new().now);
    let (run, event, limit) = (RunId(1), EventUid(1), 10);
    store.load(run).unwrap();
    store.run(run).unwrap();
    store.records_after(run, 3, limit, 1 << 20).unwrap();
    for version in [None, Some("1")] {
        store.definition(here, "a", version).unwrap();
    }
    store.definition_by_id(DefinitionId(1)).unwrap();
    each_of! {
        name in [None, Some("a")],
        after in [None, Some(DefinitionId(1))]
        => { store.definitions(here, name, &Page { after, limit }).unwrap(); }
    }
    for timer in [None, Some(StoredTimer { at: now, run, timer: abide_core::run::Timer::Run })] {
        store.timers(timer.as_ref(), now, limit).unwrap();
    }
    store.waiters(here, "few", Some((now, run.waitpoint(1))), limit).unwrap();
    store.events_since(here, "few", now, Some((now, event)), limit).unwrap();
    each_of! {
        event_id in [None, Some("few")],
        after in [None, Some((now, event))]
        => { store.events(here, event_id, &Page { after, limit }).unwrap(); }
    }
    store.idempotency_record("key").unwrap();
    store.awaits(here).unwrap();
    let definition = abide_core::history::DefinitionRef { name: "listener".into(), version: "1".into() };
    for definition in [None, Some(&definition)] {
        store.oldest_open(here, definition).unwrap();
    }
    for event_id in [None, Some("few")] {
        store.old_events((here, event_id), now, Some((now, event)), limit).unwrap();
    }
    store.old_keys(now, Some(&(now, "key".to_owned())), limit).unwrap();
    store.ended_runs(now, (now, run), limit).unwrap();
    for what in [OfRun::Events, OfRun::Keys] {
        store.owners(&[run], what).unwrap();
    }
    for workspace in [None, Some(here)] {
        store.counts(workspace).unwrap();
    }
    store.oldest_waiting(here, limit).unwrap();
    for due in [Due::Ever, Due::Before(now), Due::Between(now, now)] {
        store.open_waits(here, Kind::Delay, due, limit).unwrap();
    }
    store.key_by_hash(&[1; 32]).unwrap();
    store.keys(here).unwrap();
    store.setting("secret").unwrap();
    store.link_generation(run.waitpoint(1)).unwrap();
    for workspace in [None, Some(here)] {
        store.webhooks(workspace).unwrap();
    }
    store.webhook(WebhookId(1)).unwrap();
    store.schedule(ScheduleId(1)).unwrap();
    store.schedule_by_name(here, "nightly").unwrap();
    for after in [None, Some("a".to_owned())] {
        store.schedules(here, &Page { after, limit }).unwrap();
    }
    store.delivery(DeliveryId(1)).unwrap();
    store.due_deliveries(WebhookId(1), now, limit).unwrap();
    each_of! {
        status in [None, Some(DeliveryStatus::Failed)],
        after in [None, Some(DeliveryId(1))]
        => {
            let filter = DeliveryFilter { webhook: WebhookId(1), status };
            store.deliveries(&filter, &Page { after, limit }).unwrap();
        }
    }
}

fn forget(store: &mut Sqlite) {
    let mut world = World::of(2);
    let mut ended = world.start_tagged(&story::signalled(), json!({}), &["red"]);
    world.tell(&mut ended, Command::Cancel { reason: None });
    ended.save(store);
    assert_eq!(store.forget_runs(Timestamp::MAX, 10).unwrap(), 1);
    let (event_id, received_at, id) = ("few".into(), world.now, EventUid(1));
    let old = OldEvent { workspace: WorkspaceId::DEFAULT, event_id, received_at, id, sent_to: None };
    store.forget_events(&[old]).unwrap();
    store.forget_keys(&["key".to_owned()]).unwrap();
    for what in [OfRun::Events, OfRun::Keys] {
        store.forget_of(&[RunId(1)], what, 10).unwrap();
    }
    store.forget_deliveries(Timestamp::MAX, 10).unwrap();
    store.put_health(WebhookId(1), &Health::default(), world.now).unwrap();
    for one in [None, Some(DeliveryId(1))] {
        store.replay(WebhookId(1), one, world.now).unwrap();
    }
    store.remove_webhook(WebhookId(1)).unwrap();
}
