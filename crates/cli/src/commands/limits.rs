//! `abide limits`: how much room there is, who has it, who waits for it, and what is set at run time.

use std::io;

use abide_definition::time::Millis;
use abide_sdk::wire::{LimitDetail, LimitKey, LimitRoom, LimitSet};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::{Api, Page, borrowed};
use crate::client::{Error, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List limits by pressure, show one, change, pause, resume and empty it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Who waits for room waits like any other: `abide waits --kind CAPACITY` lists them, `abide wake` lets one in.\n\nExamples:\n  abide limits\n  abide limits --all\n  abide limits show crm --for acme\n  abide limits set crm --concurrency 5\n  abide limits set crm-calls --workflow sync-account --for acme --rate 100 --per 1m\n  abide limits pause crm\n  abide limits empty crm --for acme --cancel"
)]
pub(crate) struct Limits {
    #[command(subcommand)]
    action: Option<Action>,
    /// Also those that nobody waits for, by name
    #[arg(long)]
    all: bool,
    /// Only limits of this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

#[derive(Debug, Subcommand)]
enum Action {
    Show(Show),
    Set(Set),
    Pause(Pause),
    Resume(Resume),
    Empty(Empty),
}

/// Which limit is meant.
#[derive(Debug, Args)]
struct Which {
    /// The limit's name
    #[arg(value_name = "NAME")]
    name: String,
    /// The workflow of the limit; without it, the one that all workflows share
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// Only this key; all of them if absent
    #[arg(long = "for", id = "for", value_name = "KEY")]
    only: Option<String>,
}

/// Show a limit: its keys, who has room, who waits, what is set.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide limits show crm\n  abide limits show crm --for acme")]
struct Show {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    api: Api,
}

/// Change a limit. It stands above what definitions say until it is removed with `none`.
#[derive(Debug, Args)]
#[command(
    after_help = "Who has room keeps it. More room is given to those who wait at once.\n\nExamples:\n  abide limits set crm --concurrency 5\n  abide limits set crm --for acme --rate 100 --per 1m --burst 10\n  abide limits set crm --concurrency none --rate none"
)]
struct Set {
    #[command(flatten)]
    which: Which,
    /// How many may have room at the same time, or `none`: as definitions say
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<String>,
    /// How many may begin in the time of --per, or `none`: as definitions say
    #[arg(long, value_name = "COUNT")]
    rate: Option<String>,
    /// The time that --rate is about
    #[arg(long, value_name = "DURATION", requires = "rate")]
    per: Option<String>,
    /// How many may begin at once after a quiet time
    #[arg(long, value_name = "COUNT", requires = "rate")]
    burst: Option<u32>,
    /// Also if no workflow has a limit of this name: one that only durable code names, or that is to come
    #[arg(long, conflicts_with = "workflow")]
    create: bool,
    #[command(flatten)]
    api: Api,
}

/// Pause a limit: nobody is let in.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide limits pause crm\n  abide limits pause crm --for acme")]
struct Pause {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    api: Api,
}

/// Resume a limit that was paused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide limits resume crm")]
struct Resume {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    api: Api,
}

/// Empty the line of a limit: cancel all that wait, or let all of them in.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide limits empty crm --for acme --cancel\n  abide limits empty crm --let-in"
)]
struct Empty {
    #[command(flatten)]
    which: Which,
    /// Cancel what waits: a run is cancelled, a step fails
    #[arg(long, required_unless_present = "let_in", conflicts_with = "let_in")]
    cancel: bool,
    /// Let all of them in, past the line and whether there is room or not
    #[arg(long)]
    let_in: bool,
    #[command(flatten)]
    api: Api,
}

impl Limits {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            None => self.list(console).await,
            Some(Action::Show(show)) => show.run(console).await,
            Some(Action::Set(set)) => set.run(console).await,
            Some(Action::Pause(Pause { which, api })) => {
                which.put(console, api, json!({ "paused": true })).await
            }
            Some(Action::Resume(Resume { which, api })) => {
                which.put(console, api, json!({ "paused": false })).await
            }
            Some(Action::Empty(Empty { which, api, cancel, .. })) => {
                let how = if *cancel { "cancel" } else { "letIn" };
                which.put(console, api, json!({ "empty": how })).await
            }
        }
    }

    async fn list(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut query = self.page.query();
        if !self.all {
            query.push(("pressure", "true".to_owned()));
        }
        query.extend(self.name.clone().map(|name| ("name", name)));
        let answer = self.api.open()?.get(&["limits"], &borrowed(&query)).await?;
        let nobody = if self.all {
            "Nobody has room under a limit or waits for it."
        } else {
            "Nobody waits for room under a limit. `abide limits --all` also lists those that have it."
        };
        self.api.show(console, &answer, |console, list: List<LimitKey>| {
            write(console, &list.data, nobody)?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}

impl Show {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let Which { name, workflow, only } = &self.which;
        let query: Vec<(&str, &str)> = [("workflow", workflow), ("key", only)]
            .into_iter()
            .filter_map(|(field, value)| Some((field, value.as_deref()?)))
            .collect();
        let answer = self.api.open()?.get(&["limits", name], &query).await?;
        self.api.show(console, &answer, |console, limit: LimitDetail| detail(console, &limit))
    }
}

impl Set {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut body = Map::new();
        for (field, given) in [("concurrency", &self.concurrency), ("rate", &self.rate)] {
            if let Some(given) = given {
                body.insert(field.to_owned(), count(field, given)?);
            }
        }
        if let Some(per) = &self.per {
            body.insert("per".to_owned(), json!(per));
        }
        if let Some(burst) = self.burst {
            body.insert("burst".to_owned(), json!(burst));
        }
        if body.is_empty() {
            return Err(Error::Usage("--concurrency or --rate says what is set".to_owned()));
        }
        if self.create {
            body.insert("create".to_owned(), json!(true));
        }
        self.which.put(console, &self.api, Value::Object(body)).await
    }
}

fn count(field: &str, given: &str) -> Result<Value, Error> {
    match given {
        "none" => Ok(Value::Null),
        number => number
            .parse::<u32>()
            .map(|number| json!(number))
            .map_err(|_| Error::Usage(format!("--{field}: `{number}` is neither a number nor `none`"))),
    }
}

impl Which {
    async fn put(&self, console: &mut Console<'_>, api: &Api, mut body: Value) -> Result<(), Error> {
        for (field, value) in [("workflow", &self.workflow), ("key", &self.only)] {
            if let Some(value) = value {
                body[field] = json!(value);
            }
        }
        let answer = api.open()?.put(&["limits", &self.name], &body).await?;
        api.show(console, &answer, |console, set: LimitSet| {
            if let Some(emptied) = &set.emptied {
                let more = if emptied.more { "; there are more, do it again" } else { "" };
                console.note(&format!("{} waits ended{more}", emptied.done))?;
            }
            detail(console, &set.limit)
        })
    }
}

fn detail(console: &mut Console<'_>, limit: &LimitDetail) -> io::Result<()> {
    write(console, &limit.keys, "Nobody has room under it or waits for it.")?;
    let now = console.now();
    if !limit.holders.is_empty() {
        console.line("")?;
        let mut table = Table::new([shortening("HAS ROOM"), optional("STEP"), whole("SINCE")]);
        for holder in &limit.holders {
            let step = holder.step_name.clone().unwrap_or_else(|| "-".to_owned());
            table.row([holder.run_id.clone(), step, times::relative(holder.since, now)]);
        }
        console.table(&table)?;
    }
    if !limit.line.is_empty() {
        console.line("")?;
        let mut table = Table::new([
            whole("PLACE"),
            shortening("WAITS"),
            optional("STEP"),
            optional("PRIORITY"),
            whole("SINCE"),
            optional("WAITPOINT"),
        ]);
        for waiter in &limit.line {
            let step = waiter.step_name.clone().unwrap_or_else(|| "-".to_owned());
            let since = times::relative(waiter.since, now);
            let (place, priority) = (waiter.place.to_string(), waiter.priority.to_string());
            table.row([place, waiter.run_id.clone(), step, priority, since, waiter.waitpoint_id.clone()]);
        }
        console.table(&table)?;
    }
    if let Some(set) = &limit.settings {
        let all = said(set.all.paused, set.all.concurrency, set.all.rate, set.all.per_ms);
        console.note(&format!(
            "set by {}, {}: {all} for all keys",
            set.changed_by,
            times::relative(set.changed_at, now)
        ))?;
        for key in &set.keys {
            let said = said(key.paused, key.concurrency, key.rate, key.per_ms);
            console.note(&format!("  `{}`: {said}", key.key))?;
        }
    }
    Ok(())
}

fn said(paused: bool, concurrency: Option<u32>, rate: Option<u32>, per_ms: Option<u64>) -> String {
    let mut said = Vec::new();
    if paused {
        said.push("paused".to_owned());
    }
    said.extend(concurrency.map(|most| format!("{most} at once")));
    said.extend(rate.zip(per_ms).map(|(rate, per)| format!("{rate} per {}", Millis(per))));
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
}

fn room(room: &LimitRoom) -> String {
    let said = said(false, room.concurrency, room.rate, room.per_ms);
    if said == "nothing" { "-".to_owned() } else { said }
}

fn write(console: &mut Console<'_>, limits: &[LimitKey], nobody: &str) -> io::Result<()> {
    if limits.is_empty() {
        return console.note(nobody);
    }
    let now = console.now();
    let mut table = Table::new([
        shortening("LIMIT"),
        shortening("KEY"),
        whole("USED"),
        whole("WAITING"),
        whole("OLDEST"),
        optional("ROOM"),
        optional("NEXT"),
        optional("WORKFLOW"),
    ]);
    for limit in limits {
        let mark = if limit.paused { " (paused)" } else { "" };
        let relative = |at: Option<jiff::Timestamp>| at.map_or("-".to_owned(), |at| times::relative(at, now));
        table.row([
            format!("{}{mark}", limit.name),
            if limit.key.is_empty() { "-".to_owned() } else { limit.key.clone() },
            limit.used.to_string(),
            limit.waiting.to_string(),
            relative(limit.oldest),
            room(&limit.room),
            relative(limit.next_at),
            limit.workflow.clone().unwrap_or_else(|| "all".to_owned()),
        ]);
    }
    console.table(&table)
}
