//! `abide backup`: a whole copy of a store, while others read and write it. Through its server, or of a file or a database at hand.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use abide_store::roles::Maintenance;
use abide_store::{postgres, sqlite};
use clap::Args;

use crate::client::{Connection, Error, Exit};
use crate::commands::finish;
use crate::console::Console;
use crate::place::Place;
use crate::private::Partial;
use crate::times;

/// Copy a store to a file, as of one instant, while the server goes on.
#[derive(Debug, Args)]
#[command(
    after_help = "The copy is a store like any other: `abide serve --store sqlite:FILE` serves it. It is complete when it is there, and\noverwrites nothing. It comes through the server, or with --store from a file of this machine or a database, served or\nnot. STORE is sqlite:PATH or postgres://USER@HOST/DATABASE; of either, the copy is a file.\n\nExamples:\n  abide backup \"backup-$(date +%F).db\"\n  abide backup --server https://abide.example.com backup.db\n  abide backup --store sqlite:/var/lib/abide/abide.db /mnt/backup/abide.db\n  abide backup --store postgres://abide@db.example/abide backup.db"
)]
pub(crate) struct Backup {
    /// Where the copy goes
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// Copy this store, a file or a database, without a server
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Leave out the checksums of pages, so that Litestream can replicate the copy when it is served
    #[arg(long)]
    without_page_checksums: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Backup {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let done = self.copy(console);
        finish(done, console)
    }

    fn copy(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let begun = Instant::now();
        let bytes = match &self.store {
            Some(store) => self.of_store(store, console)?,
            None => self.through_server()?,
        };
        if self.without_page_checksums {
            sqlite::forgo_page_checksums(&self.to).map_err(|error| Error::Failed(error.to_string()))?;
        }
        let took = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        Ok(console.line(&format!("{}  {bytes} bytes in {}", self.to.display(), times::length(took)))?)
    }

    fn of_store(&self, store: &str, console: &mut Console<'_>) -> Result<u64, Error> {
        let copied = match Place::given("--store", store)? {
            Place::File(path) => sqlite::Reader::open(path).and_then(|mut store| store.backup(&self.to)),
            Place::Database(address) => {
                postgres::Reader::open(&address).and_then(|mut store| store.backup(&self.to))
            }
        };
        match copied {
            Ok(()) => Ok(fs::metadata(&self.to)?.len()),
            Err(error) => {
                console.note(&format!("abide: {error}"))?;
                Err(Error::Said(Exit::Failed))
            }
        }
    }

    /// What is there under the name is whole: it gets it when all of it has come and is on disk.
    fn through_server(&self) -> Result<u64, Error> {
        let failed = |what: &str| Error::Failed(format!("{}: {what}", self.to.display()));
        if self.to.exists() {
            return Err(failed("it is there already and is not overwritten"));
        }
        let client = self.connection.open()?;
        let partial = Partial::of(&self.to).map_err(|error| failed(&error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut file = &partial.file;
        let bytes = runtime.block_on(client.download(&["backup"], &mut file))?;
        partial.complete(&self.to).map_err(|error| failed(&error.to_string()))?;
        Ok(bytes)
    }
}
