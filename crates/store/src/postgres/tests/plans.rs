//! No read looks at more than it shows: every statement that any call runs, with any filter, is explained here, on
//! tables that are filled and of which the planner knows how.

use std::collections::BTreeMap;

use abide_core::id::EventUid;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;
use serde_json::Value;
use tokio_postgres::SimpleQueryMessage;

use super::*;
use crate::conformance::each_of;

/// Statements, and how many values each takes.
type Statements = BTreeMap<String, usize>;

#[test]
fn no_read_scans_a_table_or_sorts_what_it_does_not_show() {
    let mut store = filled();
    let mut statements = Statements::new();
    list_runs(&mut store, &mut statements);
    list_waitpoints(&mut store, &mut statements);
    read_the_rest(&mut store);
    note(&store, &mut statements);
    forget(&mut store);
    note(&store, &mut statements);
    statements.extend([
        (tasks::TAKE.to_owned(), 8),
        (tasks::TAKE_LATE.to_owned(), 3),
        (tasks::QUEUES.to_owned(), 1),
    ]);
    assert!(statements.len() > 100, "{} statements", statements.len());
    let is_table = |sql: &str| !sql.contains("pg_class") && !sql.contains("migrations");
    let mut dear = Vec::new();
    for (sql, values) in statements.iter().filter(|(sql, _)| is_table(sql)) {
        let mut steps = Vec::new();
        look(&plan(&mut store, sql, *values), Above::default(), &mut steps);
        dear.extend(steps.iter().map(|step| format!("{step}\n    {sql}")));
    }
    assert!(dear.is_empty(), "{}", dear.join("\n"));
}

fn note(store: &Postgres, statements: &mut Statements) {
    let compiled = &store.connection.session.as_ref().unwrap().statements;
    for (sql, statement) in compiled {
        if !statements.contains_key(sql) {
            statements.insert(sql.clone(), statement.params().len());
        }
    }
}

fn plan(store: &mut Postgres, sql: &str, values: usize) -> Value {
    let values = vec!["NULL"; values].join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    let explain = format!(
        "DEALLOCATE ALL; PREPARE explained AS {sql}; EXPLAIN (FORMAT JSON) EXECUTE explained{values}"
    );
    let session = store.connection.session.as_mut().unwrap();
    session.statements.clear();
    let said = connection::wait(session.client.simple_query(&explain))
        .unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    let lines = said.iter().filter_map(|message| {
        let SimpleQueryMessage::Row(row) = message else { return None };
        row.get(0)
    });
    let said: Value = serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap();
    said[0]["Plan"].clone()
}

/// What is done with what a step gives.
#[derive(Clone, Copy, Default)]
struct Above {
    is_sorted: bool,
}

/// Notes each step that costs more than what is shown.
fn look(step: &Value, above: Above, dear: &mut Vec<String>) {
    let text = |name: &str| step[name].as_str().unwrap_or_default();
    let (kind, relation, index, condition) =
        (text("Node Type"), text("Relation Name"), text("Index Name"), text("Index Cond"));
    let below = match kind {
        "Sort" | "Incremental Sort" => Above { is_sorted: true },
        // Beyond it there is no more than it lets through; of waits that are looked at one by one there are few.
        "Limit" | "Unique" | "Aggregate" | "WindowAgg" => Above { is_sorted: false },
        _ => above,
    };
    // Of these there are few, or one for each that is shown.
    let is_short = relation == "workspaces"
        || index == "runs_pkey" && condition.contains("(id = ")
        || index == "history_pkey" && condition.contains("(run = ")
        || index == "snapshots_pkey" && condition.contains("(run = ")
        || index == "waitpoints_pkey" && condition.contains("(run = ")
        || relation == "api_keys"
        || relation == "schedules"
        || relation == "webhooks";
    match kind {
        "Seq Scan" if !is_short => dear.push(format!("SCANS {relation}")),
        "Index Scan" | "Index Only Scan" if condition.is_empty() && !is_short => {
            dear.push(format!("SCANS ALL OF {index}"));
        }
        "Index Scan" | "Index Only Scan" if above.is_sorted && !is_short => {
            dear.push(format!("SORTS WHAT {index} GIVES FOR {condition}"));
        }
        "Index Scan" | "Index Only Scan" if index == "runs_pkey" && !is_short => {
            dear.push(format!("WALKS {index} FOR {condition}"));
        }
        "Bitmap Heap Scan" | "Hash Join" | "Merge Join" => dear.push(format!("{kind} {relation}")),
        _ => {}
    }
    for step in step["Plans"].as_array().into_iter().flatten() {
        look(step, below, dear);
    }
}

/// Runs of everything, and so many waits for one signal that they are not looked at one by one.
fn filled() -> Postgres {
    let address = Server::shared().database();
    let mut store = Postgres::open(&address).unwrap();
    let mut world = World::new();
    let input = json!({ "event": "few", "customer": 1 });
    let mut listener = world.start_tagged(&story::listener(), input, &["red"]);
    listener.save(&mut store);
    Hand::on(&address).run(
        "INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, listens)
             SELECT '00000000-0000-0000-0000-000000000000', n, 0, 2, 0, 0, 'many' FROM generate_series(1, 3000) AS n;
         INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at)
             SELECT gen_random_uuid(), 1, 0, n % 8, n % 4, 0, n FROM generate_series(1, 5000) AS n;
         INSERT INTO runs (id, workspace, seq, created_at, written_at, ended_at, deadline_at, status, definition, version)
             SELECT gen_random_uuid(), 0, 1, n, 0, CASE WHEN n % 7 > 3 THEN n END, CASE WHEN n % 9 = 0 THEN n END, n % 7,
                 'w' || n % 5, n % 3 FROM generate_series(1, 5000) AS n;
         INSERT INTO history SELECT id, 0, 1, 0, '' FROM runs WHERE definition <> 'listener';
         INSERT INTO run_tags SELECT 0, id, 'red' FROM runs ON CONFLICT DO NOTHING;
         INSERT INTO events SELECT gen_random_uuid(), 0, n, '1', 'e' || n % 4, 'null'
             FROM generate_series(1, 5000) AS n;
         INSERT INTO idempotency_records SELECT 'k' || n, 0, n, '\"done\"' FROM generate_series(1, 3000) AS n;
         INSERT INTO definitions (id, workspace, name, version, document, created_at)
             SELECT gen_random_uuid(), 0, 'd' || n % 10, n, '{}', 0 FROM generate_series(1, 1000) AS n;
         ANALYZE",
    );
    store
}

fn list_runs(store: &mut Postgres, statements: &mut Statements) {
    let here = Some(WorkspaceId::DEFAULT);
    let now = Some(World::new().now);
    each_of! {
        workspace in [None, here],
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
                statuses: Vec::new(),
                definition: definition.map(str::to_owned),
                version: version.map(str::to_owned),
                tag: tag.map(str::to_owned),
                created_from,
                created_before,
                waits_for,
                listens_for: listens_for.map(str::to_owned),
            };
            store.runs(&filter, &Page { after, limit: 3 }).unwrap();
            note(store, statements);
        }
    }
}

fn list_waitpoints(store: &mut Postgres, statements: &mut Statements) {
    let (here, now) = (Some(WorkspaceId::DEFAULT), Some(World::new().now));
    let id = RunId(1).waitpoint(1);
    each_of! {
        workspace in [None, here],
        run in [None, Some(RunId(1))],
        kind in [None, Some(Kind::Delay)],
        status in [None, Some(WaitStatus::Pending)],
        due_before in [None, now],
        due_after in [None, now],
        listens_for in [None, Some("many")],
        after in [None, Some((None, id)), Some((now, id)), Some((Some(Timestamp::MAX), id))]
        => {
            let listens_for = listens_for.map(str::to_owned);
            let filter = WaitpointFilter { workspace, run, kind, status, due_before, due_after, listens_for };
            store.waitpoints(&filter, &Page { after, limit: 3 }).unwrap();
            note(store, statements);
        }
    }
}

fn read_the_rest(store: &mut Postgres) {
    let (here, now) = (WorkspaceId::DEFAULT, World::new().now);
    let (run, event, limit) = (RunId(1), EventUid(1), 10);
    store.load(run).unwrap();
    store.run(run).unwrap();
    store.records_after(run, 1, limit, 1 << 20).unwrap();
    store.oldest_waiting(here, limit).unwrap();
    for due in [Due::Ever, Due::Before(now), Due::Between(now, now)] {
        store.open_waits(here, Kind::Delay, due, limit).unwrap();
    }
    let day = jiff::civil::date(2026, 3, 1);
    store.costs(here, day, day).unwrap();
    store.updates(&[(run, 0), (RunId(run.0 + 1), 1)]).unwrap();
    store.snapshot(run).unwrap();
    for version in [None, Some("1")] {
        store.definition(here, "a", version).unwrap();
    }
    store.definition_by_id(DefinitionId(1)).unwrap();
    each_of! {
        name in [None, Some("a")],
        after in [None, Some(DefinitionId(1))]
        => { store.definitions(here, name, &Page { after, limit }).unwrap(); }
    }
    store.timers(None, now, limit).unwrap();
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
    store.counts(None).unwrap();
    store.key_by_hash(&[1; 32]).unwrap();
    store.keys(here).unwrap();
    store.setting("secret").unwrap();
    store.link_generation(run.waitpoint(1)).unwrap();
}

/// Runs what retention and a commit look up.
fn forget(store: &mut Postgres) {
    let mut world = World::of(2);
    let mut ended = world.start_tagged(&story::signalled(), json!({}), &["red"]);
    ended.save(store);
    world.tell(&mut ended, Command::Cancel { reason: None });
    ended.save(store);
    let mut listener = world.start(&story::listener(), json!({ "event": "few", "customer": 3 }));
    store.events_since(WorkspaceId::DEFAULT, "few", world.now, None, 10).unwrap();
    listener.save(store);
    store.waiters(WorkspaceId::DEFAULT, "few", None, 10).unwrap();
    store.code_waits(WorkspaceId::DEFAULT, "h", "b", None, 10).unwrap();
    let event = world.event("few", json!({ "customer": 4 }));
    store.commit(&Batch { events: vec![&event], ..Batch::default() }).unwrap();
    store.forget_runs(Timestamp::MAX, 10).unwrap();
    let (event_id, received_at, id) = ("few".into(), world.now, EventUid(1));
    let old = OldEvent { workspace: WorkspaceId::DEFAULT, event_id, received_at, id, sent_to: None };
    store.forget_events(&[old]).unwrap();
    store.forget_keys(&["key".to_owned()]).unwrap();
    for what in [OfRun::Events, OfRun::Keys] {
        store.forget_of(&[RunId(1)], what, 10).unwrap();
    }
}
