//! `abide migrate`: all that a store holds, moved to another one, while neither is served. What is left to do afterwards is
//! to start the server there.

mod progress;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use abide_engine::write_tasks_out;
use abide_store::transfer::{Contents, Error as MoveError, Move, Source, Sum, Target};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use crate::client::Error;
use crate::commands::finish;
use crate::console::Console;
use crate::place::Place;
use crate::table::{Table, whole};
use crate::times;
use progress::{Shown, grouped};

const STORE: &str = "STORE";

/// Move a store, from a file to PostgreSQL or back, with all that waits in it.
#[derive(Debug, Args)]
#[command(
    after_help = "A STORE is sqlite:PATH or postgres://USER@HOST/DATABASE. Stop the server first; start it on the new store afterwards.\nRuns, waits, links, keys, schedules and webhooks go on there as if nothing had happened; a worker has ten minutes more to\nreport what it was at.\n\nThe new place must be empty. A move that was cut off goes on when the same command is given again. In the end, both are\nread from end to end and compared. The old store is left as it was, and is not served any more: --reopen takes that\nback.\n\nExamples:\n  abide migrate --from sqlite:abide.db --to postgres://abide@db.example/abide --dry-run\n  abide migrate --from sqlite:abide.db --to postgres://abide@db.example/abide\n  abide migrate --from postgres://abide@db.example/abide --to sqlite:back.db\n  abide migrate --reopen sqlite:abide.db\n\nExits with 0 when all is moved, 1 when it was cut off or the two are not the same, 2 when it cannot begin."
)]
pub(crate) struct Migrate {
    /// The store that is moved
    #[arg(long, value_name = STORE, required_unless_present = "reopen", requires = "to")]
    from: Option<String>,
    /// Where it is moved to: a file that is not there yet, or a database without a store
    #[arg(long, value_name = STORE, requires = "from")]
    to: Option<String>,
    /// Only say what would be moved, and whether it can be
    #[arg(long, requires = "from")]
    dry_run: bool,
    /// Give up a move of this store, or what came of it, so that it can be served again
    #[arg(long, value_name = STORE, conflicts_with_all = ["from", "to"])]
    reopen: Option<String>,
    /// Write what came of it as JSON
    #[arg(long)]
    json: bool,
}

impl Migrate {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let done = match (&self.reopen, &self.from, &self.to) {
            (Some(store), _, _) => self.reopen(store, console),
            (None, Some(from), Some(to)) => self.migrate(from, to, console),
            (None, _, _) => Err(Error::Usage("give --from and --to".to_owned())),
        };
        finish(done, console)
    }

    fn migrate(&self, from: &str, to: &str, console: &mut Console<'_>) -> Result<(), Error> {
        let (from, to) = (Place::given("--from", from)?, Place::given("--to", to)?);
        if self.dry_run {
            return self.look(&from, &to, console);
        }
        let begun = Instant::now();
        let moved = source(&from).and_then(|source| Ok((source, target(&to)?)));
        let moved =
            moved.and_then(|(source, target)| Move::begin(source, target, Timestamp::now(), fresh_number()));
        let mut moved = moved.map_err(not_begun)?;
        if moved.goes_on() {
            console.note(&format!("The move from {from} to {to} was cut off, and goes on."))?;
        }
        let goes_on = moved.goes_on();
        let mut shown = Shown::of(moved.tables().map(|(_, rows)| rows).sum());
        moved.copy(&mut |progress| shown.at(progress)).map_err(cut_off)?;
        let sums = moved.verify(&mut |progress| shown.at(progress)).map_err(cut_off)?;
        drop(shown);
        let (store, now) = moved.target().map_err(cut_off)?;
        let tasks = write_tasks_out(store, now).map_err(|error| Error::Failed(error.to_string()))?;
        moved.finish(Timestamp::now()).map_err(cut_off)?;
        let took = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let report = Report { from: &from, to: &to, sums: &sums, tasks, goes_on, took };
        if self.json { report.json(console) } else { report.text(console) }
    }

    fn look(&self, from: &Place, to: &Place, console: &mut Console<'_>) -> Result<(), Error> {
        let (source, target) = (contents(from).map_err(not_begun)?, contents(to).map_err(not_begun)?);
        let goes_on = source.check(&target).map_err(not_begun)?;
        if self.json {
            let tables: serde_json::Map<_, _> = source
                .tables
                .iter()
                .map(|(name, rows)| ((*name).to_owned(), json!({ "rows": rows })))
                .collect();
            let report = json!({ "dryRun": true, "from": from.to_string(), "to": to.to_string(), "goesOn": goes_on,
                "rows": source.rows(), "tables": tables });
            return Ok(console.raw(&report.to_string())?);
        }
        let mut table = Table::new([whole("TABLE"), whole("ROWS")]);
        for (name, rows) in &source.tables {
            table.row([(*name).to_owned(), grouped(*rows)]);
        }
        console.table(&table)?;
        let what = if goes_on { "go on to be moved" } else { "be moved" };
        let rows = grouped(source.rows());
        Ok(console.line(&format!("{rows} rows would {what} from {from} to {to}. Nothing was changed."))?)
    }

    fn reopen(&self, store: &str, console: &mut Console<'_>) -> Result<(), Error> {
        let store = Place::given("--reopen", store)?;
        let to = source(&store).and_then(Source::reopen).map_err(not_begun)?;
        if self.json {
            let report = json!({ "store": store.to_string(), "reopened": to.is_some(), "wasMovedTo": to });
            return Ok(console.raw(&report.to_string())?);
        }
        let said = match to {
            Some(to) => format!(
                "{store} can be served again. Do not serve {to} as well: what is due would happen in both."
            ),
            None => format!("{store} was not moved, and can be served as before."),
        };
        Ok(console.line(&said)?)
    }
}

/// What came of it.
struct Report<'r> {
    from: &'r Place,
    to: &'r Place,
    sums: &'r [(&'static str, Sum)],
    tasks: usize,
    goes_on: bool,
    took: i64,
}

impl Report<'_> {
    fn rows(&self) -> u64 {
        self.sums.iter().map(|(_, sum)| sum.rows).sum()
    }

    fn json(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let tables = self.sums.iter().map(|(name, sum)| {
            let checksum = format!("{:032x}", sum.checksum);
            ((*name).to_owned(), json!({ "rows": sum.rows, "checksum": checksum }))
        });
        let report = json!({
            "from": self.from.to_string(),
            "to": self.to.to_string(),
            "wentOn": self.goes_on,
            "rows": self.rows(),
            "tables": tables.collect::<serde_json::Map<_, _>>(),
            "tasksOut": self.tasks,
            "tookMs": self.took,
        });
        Ok(console.raw(&report.to_string())?)
    }

    fn text(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut table = Table::new([whole("TABLE"), whole("ROWS"), whole("CHECKSUM OF BOTH")]);
        for (name, sum) in self.sums {
            table.row([(*name).to_owned(), grouped(sum.rows), format!("{:032x}", sum.checksum)]);
        }
        console.table(&table)?;
        let Report { from, to, tasks, .. } = self;
        let (rows, took) = (grouped(self.rows()), times::length(self.took));
        console.line(&format!(
            "{rows} rows were moved from {from} to {to}, and are the same in both; {took}."
        ))?;
        if *tasks > 0 {
            let tasks = grouped(*tasks as u64);
            console.line(&format!("{tasks} tasks are out; workers may report what they were at."))?;
        }
        console.line(&format!("{from} is left as it was, and is not served any more."))?;
        Ok(console.line(&format!("Now: abide serve --store {to}"))?)
    }
}

/// One that no other move has.
fn fresh_number() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let seed = || u128::from(RandomState::new().hash_one(Timestamp::now().as_nanosecond()));
    seed() << 64 | seed()
}

fn source(place: &Place) -> Result<Source, MoveError> {
    match place {
        Place::File(path) => Source::file(path),
        Place::Database(address) => Source::database(address),
    }
}

fn target(place: &Place) -> Result<Target, MoveError> {
    match place {
        Place::File(path) => Target::file(path),
        Place::Database(address) => Target::database(address),
    }
}

fn contents(place: &Place) -> Result<Contents, MoveError> {
    match place {
        Place::File(path) => Contents::of_file(path),
        Place::Database(address) => Contents::of_database(address),
    }
}

fn not_begun(error: MoveError) -> Error {
    Error::Usage(error.to_string())
}

fn cut_off(error: MoveError) -> Error {
    match error {
        MoveError::Store(error) => {
            Error::Failed(format!("{error}\nThe move is not finished; give the same command again to go on."))
        }
        error @ (MoveError::SamePlace(_)
        | MoveError::Served { .. }
        | MoveError::Nothing(_)
        | MoveError::NotEmpty { .. }
        | MoveError::OtherMove { .. }
        | MoveError::IsTarget { .. }
        | MoveError::IsMoved { .. }
        | MoveError::Interfered(_)
        | MoveError::Differs(_)
        | MoveError::Miscounted { .. }) => Error::Failed(error.to_string()),
    }
}
