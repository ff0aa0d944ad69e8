//! `abide backup`: a whole copy of a store's file, while others read and write it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use abide_store::Read;
use abide_store::sqlite::Reader;
use clap::Args;

use crate::client::{Error, Exit};
use crate::commands::finish;
use crate::console::Console;
use crate::times;

/// Copy a store to a file, as of one instant, while the server goes on.
#[derive(Debug, Args)]
#[command(
    after_help = "The copy is a store like any other: `abide serve --store sqlite:FILE` serves it. It is complete when it is there, and\noverwrites nothing.\n\nExamples:\n  abide backup \"backup-$(date +%F).db\"\n  abide backup --store sqlite:/var/lib/abide/abide.db /mnt/backup/abide.db"
)]
pub(crate) struct Backup {
    /// Where the copy goes
    #[arg(value_name = "FILE")]
    to: PathBuf,
    /// Which store
    #[arg(long, env = "ABIDE_STORE", value_name = "sqlite:PATH", default_value = "sqlite:abide.db")]
    store: String,
}

impl Backup {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let done = self.copy(console);
        finish(done, console)
    }

    fn copy(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let Some(path) = self.store.strip_prefix("sqlite:") else {
            return Err(Error::Usage(format!("--store: `{}` is not of the form sqlite:PATH", self.store)));
        };
        let begun = Instant::now();
        let copied = Reader::open(path).and_then(|mut store| store.backup(&self.to));
        match copied {
            Ok(()) => {
                let took = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
                let bytes = std::fs::metadata(&self.to)?.len();
                console.line(&format!("{}  {bytes} bytes in {}", self.to.display(), times::length(took)))?;
                Ok(())
            }
            Err(error) => {
                console.note(&format!("abide: {error}"))?;
                Err(Error::Said(Exit::Failed))
            }
        }
    }
}
