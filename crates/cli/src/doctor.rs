//! `abide doctor`: reads all of a store, says what is wrong with it, holds what is damaged, mends what can be made anew.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::SystemTime;

use abide_engine::{Examined, Finding, Mended, examine, mend};
use abide_store::sqlite::{self, Repaired};
use abide_store::{Held, Read, postgres};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use crate::client::{Error, Exit};
use crate::commands::finish;
use crate::console::Console;
use crate::place::Place;
use crate::terminal::counted;

/// Read all of a store and say what is wrong with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads every page, every history, and compares what is kept to find runs with what their histories say. Beside a server\nit only reads; timers that come and go meanwhile may then be told as a difference.\n\n--hold and --repair need a store that nobody serves. --repair writes a file anew from its tables, which makes all its\nindexes anew, and the rows of waits from histories; the old one stays beside it, with `.damaged` at its end.\n\nExits with 0 when nothing is wrong, 1 when something is, 2 when it could not look.\n\nExamples:\n  abide doctor --store sqlite:abide.db\n  abide doctor --store sqlite:abide.db --hold\n  abide doctor --store sqlite:abide.db --repair\n  abide doctor --store postgres://abide@db.example/abide --json"
)]
pub(crate) struct Doctor {
    /// Which: sqlite:PATH or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE", env = "ABIDE_STORE", default_value = "sqlite:abide.db")]
    store: String,
    /// Hold the runs and schedules that are damaged, so that a server goes on without them
    #[arg(long)]
    hold: bool,
    /// Write a file anew, with all its indexes
    #[arg(long)]
    repair: bool,
    /// Write what was found as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let done = self.look(console);
        finish(done, console)
    }

    fn look(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let place = Place::given("--store", &self.store)?;
        if self.repair {
            repair(&place, console)?;
        }
        let (examined, findings) = self.examine(&place, console)?;
        let held = if self.hold { hold(&place, &findings)? } else { 0 };
        self.tell(console, examined, &findings, held)?;
        if findings.is_empty() { Ok(()) } else { Err(Error::Said(Exit::Failed)) }
    }

    fn examine(&self, place: &Place, console: &mut Console<'_>) -> Result<(Examined, Vec<Finding>), Error> {
        let mut store: Box<dyn Read> = match place {
            Place::File(path) => Box::new(sqlite::Reader::open(path).map_err(unusable)?),
            Place::Database(address) => Box::new(postgres::Reader::open(address).map_err(unusable)?),
        };
        let shows = !self.json && io::stderr().is_terminal();
        let mut tell = |examined: Examined| {
            let Examined { runs, schedules, definitions, events } = examined;
            let line = [
                counted(definitions, "workflow"),
                counted(schedules, "schedule"),
                counted(events, "event"),
                counted(runs, "run"),
            ]
            .join(", ");
            !shows || console.note(&line).is_ok()
        };
        examine(&mut *store, &mut tell).map_err(unusable)
    }

    fn tell(
        &self,
        console: &mut Console<'_>,
        examined: Examined,
        findings: &[Finding],
        held: usize,
    ) -> io::Result<()> {
        let Examined { runs, schedules, definitions, events } = examined;
        if self.json {
            let found = |finding: &Finding| json!({ "id": finding.owner.map(|owner| owner.to_string()), "what": finding.what });
            let found: Vec<_> = findings.iter().map(found).collect();
            let told = json!({
                "examined": { "runs": runs, "schedules": schedules, "definitions": definitions, "events": events },
                "findings": found,
                "held": held,
            });
            return console.line(&told.to_string());
        }
        for finding in findings {
            match finding.owner {
                Some(owner) => console.line(&format!("{owner}: {}", finding.what))?,
                None => console.line(&finding.what)?,
            }
        }
        let looked_at = format!(
            "{}, {}, {} and {}",
            counted(runs, "run"),
            counted(schedules, "schedule"),
            counted(definitions, "workflow"),
            counted(events, "event")
        );
        match findings.len() {
            0 => console.line(&format!("Nothing is wrong with {looked_at}.")),
            found => console.line(&format!("{found} found in {looked_at}; {held} held.")),
        }
    }
}

/// Holds whatever something was found about.
fn hold(place: &Place, findings: &[Finding]) -> Result<usize, Error> {
    let mut store = place.open().map_err(unusable)?;
    let at = now();
    let mut held = 0;
    for finding in findings {
        let Some(owner) = finding.owner else { continue };
        let workspace = store.workspace_of(owner.id()).ok().flatten();
        let (by, reason) = ("doctor".to_owned(), finding.what.clone());
        held += usize::from(store.hold(&Held { owner, workspace, at, by, reason }).map_err(unusable)?);
    }
    Ok(held)
}

fn repair(place: &Place, console: &mut Console<'_>) -> Result<(), Error> {
    match place {
        Place::File(path) => {
            let mended = sqlite::repair(path, |store| mend(store, now()));
            let Repaired { kept, mended: Mended { waits_of, held, limits } } = mended.map_err(unusable)?;
            console.note(&format!("written anew; the old file is {}", kept.display()))?;
            if limits > 0 {
                console.note(&format!("{limits} keys of limits made anew from the histories of runs"))?;
            }
            if waits_of + held > 0 {
                console.note(&format!("waits of {waits_of} made anew from their histories; {held} held"))?;
            }
            Ok(())
        }
        Place::Database(_) => Err(Error::Usage(
            "a database is mended by its own means: `REINDEX SCHEMA abide`, or a restored backup".to_owned(),
        )),
    }
}

fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn unusable(error: abide_store::Error) -> Error {
    Error::Usage(error.to_string())
}
