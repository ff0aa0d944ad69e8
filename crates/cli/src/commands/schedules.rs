//! `abide schedules`: what is started by the clock.

use std::io;

use abide_core::id::ScheduleId;
use abide_definition::time::Millis;
use abide_sdk::wire::{Schedule, Triggered};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Api, Page, borrowed};
use crate::client::{Client, Error, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::{payload, times};

/// List, make, pause and trigger schedules.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A schedule's next occurrence is a wait like any other: `abide waits --kind SCHEDULE` lists it, `abide wake` and\n`abide reschedule` steer it.\n\nExamples:\n  abide schedules\n  abide schedules create nightly report --cron '0 9 * * 1-5' --timezone Europe/Berlin\n  abide schedules create poll check-inbox --every 15m --overlap queue\n  abide schedules trigger nightly\n  abide schedules pause nightly\n  abide schedules delete nightly"
)]
pub(crate) struct Schedules {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

#[derive(Debug, Subcommand)]
enum Action {
    Create(Box<Create>),
    Pause(Pause),
    Unpause(Unpause),
    Trigger(Trigger),
    Delete(Delete),
}

/// Make a schedule.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide schedules create nightly report --cron '0 9 * * 1-5' --timezone Europe/Berlin\n  abide schedules create poll check-inbox --every 15m --overlap queue --catch-up none\n  abide schedules create digest send-digest --cron @weekly --input '{\"to\": \"team\"}' --tag digest"
)]
struct Create {
    /// What it is called; no two have the same name
    #[arg(value_name = "NAME")]
    name: String,
    /// The workflow it starts
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// This version of it; the newest at each occurrence if absent
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// When, as a cron line
    #[arg(long, value_name = "LINE", required_unless_present = "every")]
    cron: Option<String>,
    /// The zone of the cron line; UTC if absent
    #[arg(long, value_name = "ZONE", requires = "cron")]
    timezone: Option<String>,
    /// When, as a length of time between two
    #[arg(long, value_name = "DURATION", conflicts_with = "cron")]
    every: Option<String>,
    /// When the run before has not ended: skip, queue, cancelPrevious, allow
    #[arg(long, default_value = "skip", value_parser = ["skip", "queue", "cancelPrevious", "allow"], hide_possible_values = true)]
    overlap: String,
    /// What was missed while nothing ran: none, last, all
    #[arg(long, default_value = "last", value_parser = ["none", "last", "all"], hide_possible_values = true)]
    catch_up: String,
    /// What each run is given; null if absent
    #[arg(long, short, value_name = payload::FORM)]
    input: Option<String>,
    /// A tag of each run; may be given more than once
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    api: Api,
}

macro_rules! of_one {
    ($($name:ident $about:literal $example:literal)*) => {$(
        #[doc = $about]
        #[derive(Debug, Args)]
        #[command(after_help = $example)]
        struct $name {
            /// The schedule's name or id
            #[arg(value_name = "SCHEDULE")]
            schedule: String,
            #[command(flatten)]
            api: Api,
        }
    )*};
}

of_one! {
    Pause "Pause a schedule. What it leaves out is not made up for." "Examples:\n  abide schedules pause nightly"
    Unpause "Let a schedule go on." "Examples:\n  abide schedules unpause nightly"
    Trigger "Start a run of a schedule now. The next occurrence stays as it is." "Examples:\n  abide schedules trigger nightly"
    Delete "Delete a schedule. Runs that it started go on." "Examples:\n  abide schedules delete nightly"
}

impl Schedules {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            None => {
                let query = self.page.query();
                let answer = self.api.open()?.get(&["schedules"], &borrowed(&query)).await?;
                self.api.show(console, &answer, |console, list: List<Schedule>| {
                    write(console, &list.data)?;
                    Page::note_rest(console, list.next_cursor.as_deref())
                })
            }
            Some(Action::Create(create)) => create.run(console).await,
            Some(Action::Pause(pause)) => switch(console, &pause.api, &pause.schedule, "pause").await,
            Some(Action::Unpause(unpause)) => {
                switch(console, &unpause.api, &unpause.schedule, "unpause").await
            }
            Some(Action::Trigger(trigger)) => trigger.run(console).await,
            Some(Action::Delete(delete)) => {
                let client = delete.api.open()?;
                let id = find(&client, &delete.schedule).await?;
                client.delete(&["schedules", &id]).await?;
                Ok(console.note(&format!("{} is deleted", delete.schedule))?)
            }
        }
    }
}

impl Create {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut body = json!({
            "name": self.name,
            "definition": self.workflow,
            "overlap": self.overlap,
            "catchUp": self.catch_up,
            "tags": self.tag,
        });
        let optional = [
            ("version", &self.version),
            ("cron", &self.cron),
            ("timezone", &self.timezone),
            ("every", &self.every),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                body[key] = json!(value);
            }
        }
        body["input"] = payload::read_or_null("--input", self.input.as_deref())?;
        let answer = self.api.open()?.post(&["schedules"], &body).await?;
        self.api.show(console, &answer, |console, schedule: Schedule| {
            console.line(&schedule.id)?;
            let now = console.now();
            let next = schedule.next_at.map_or("never".to_owned(), |at| {
                format!("{} ({})", times::relative(at, now), times::absolute(at))
            });
            console.note(&format!("{} comes {next}", schedule.name))
        })
    }
}

impl Trigger {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let id = find(&client, &self.schedule).await?;
        let answer = client.post(&["schedules", &id, "trigger"], &json!({})).await?;
        self.api.show(console, &answer, |console, triggered: Triggered| match triggered.run_id {
            Some(run) => console.line(&run),
            None => console.note(&format!("{}: the run before has not ended", triggered.outcome)),
        })
    }
}

async fn switch(console: &mut Console<'_>, api: &Api, named: &str, verb: &str) -> Result<(), Error> {
    let client = api.open()?;
    let id = find(&client, named).await?;
    let answer = client.post(&["schedules", &id, verb], &Value::Object(Default::default())).await?;
    api.show(console, &answer, |console, schedule: Schedule| write(console, &[schedule]))
}

/// The id of a schedule, which may be given by its name.
async fn find(client: &Client, named: &str) -> Result<String, Error> {
    if named.parse::<ScheduleId>().is_ok() {
        return Ok(named.to_owned());
    }
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", "500")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page: List<Schedule> = client.read(&["schedules"], &query).await?;
        if let Some(found) = page.data.into_iter().find(|schedule| schedule.name == named) {
            return Ok(found.id);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Err(Error::NotFound(format!(
                "there is no schedule `{named}`; `abide schedules` lists them"
            )));
        }
    }
}

fn write(console: &mut Console<'_>, schedules: &[Schedule]) -> io::Result<()> {
    if schedules.is_empty() {
        return console.note("No schedules. `abide schedules create NAME WORKFLOW --cron LINE` makes one.");
    }
    let now = console.now();
    let mut table = Table::new([
        shortening("NAME"),
        shortening("WORKFLOW"),
        whole("WHEN"),
        whole("NEXT"),
        optional("LAST RUN"),
        optional("QUEUED"),
        optional("SCHEDULE"),
    ]);
    for schedule in schedules {
        let when = match (&schedule.cron, schedule.every_ms) {
            (Some(line), _) => format!("{line} {}", schedule.timezone.as_deref().unwrap_or("UTC")),
            (None, every) => format!("every {}", Millis(every.unwrap_or_default())),
        };
        let next = match schedule.next_at {
            Some(at) => times::relative(at, now),
            None if schedule.paused => "paused".to_owned(),
            None => "never".to_owned(),
        };
        let last = schedule.last_run_id.clone().unwrap_or_else(|| "-".to_owned());
        let (name, workflow) = (schedule.name.clone(), schedule.definition.clone());
        table.row([name, workflow, when, next, last, schedule.queued.to_string(), schedule.id.clone()]);
    }
    console.table(&table)
}
