//! `abide journals`: what the handlers of open runs have recorded, to try new code on before it is deployed.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use abide_sdk::wire::TaskJournal;
use clap::{Args, Subcommand};

use super::borrowed;
use crate::client::{Client, Connection, Error, List};
use crate::console::Console;
use crate::private::Partial;

/// The journals of tasks that are under way.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide journals export --handler desk --out journals.jsonl")]
pub(crate) struct Journals {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Export(Export),
}

/// Write the journals of tasks of open runs that wait, are ready or at work: one JSON document a line.
#[derive(Debug, Args)]
#[command(
    after_help = "Each line is what a worker would be given if the task's wait ended now: {\"runId\", \"workflow\", \"version\", \"step\", \"handler\",\n\"attempt\", \"input\", \"state\", \"config\", \"checkpoint\", \"journal\"}. The test kits of the SDKs run new code against it.\n\nExamples:\n  abide journals export > journals.jsonl\n  abide journals export --handler desk --out journals.jsonl\n\nThey hold what the runs hold: treat them as you treat the store."
)]
struct Export {
    /// Only tasks of this handler
    #[arg(long, value_name = "HANDLER")]
    handler: Option<String>,
    /// Only runs of this workflow
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    /// Write them to this new file, which only you may read; to the standard output if absent
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    connection: Connection,
}

impl Journals {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match &self.action {
            Action::Export(export) => export.run(console).await,
        }
    }
}

impl Export {
    async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.connection.open()?;
        let Some(to) = &self.out else {
            return self.write(&client, &mut |line| console.raw(line)).await.map(drop);
        };
        let failed = |what: &str| Error::Failed(format!("{}: {what}", to.display()));
        if to.exists() {
            return Err(failed("it is there already and is not overwritten"));
        }
        let mut partial = Partial::of(to).map_err(|error| failed(&error.to_string()))?;
        let mut progress = Progress::new();
        let mut file = io::BufWriter::new(&mut partial.file);
        let count = self
            .write(&client, &mut |line| {
                progress.one_more()?;
                writeln!(file, "{line}")
            })
            .await?;
        file.flush()?;
        drop(file);
        partial.complete(to).map_err(|error| failed(&error.to_string()))?;
        progress.end()?;
        Ok(console.line(&format!("{}  {count} journals", to.display()))?)
    }

    /// Page by page, as many as there are.
    async fn write(
        &self,
        client: &Client,
        line: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<usize, Error> {
        let narrowed = [("handler", &self.handler), ("workflow", &self.workflow)];
        let mut query: Vec<(&str, String)> =
            narrowed.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect();
        let narrowed = query.len();
        let mut count = 0;
        loop {
            let page: List<TaskJournal> = client.read(&["tasks", "journals"], &borrowed(&query)).await?;
            for journal in &page.data {
                line(&serde_json::to_string(journal).map_err(io::Error::from)?)?;
                count += 1;
            }
            let Some(cursor) = page.next_cursor else { return Ok(count) };
            query.truncate(narrowed);
            query.push(("cursor", cursor));
        }
    }
}

/// How many have come, on a terminal.
struct Progress {
    is_terminal: bool,
    count: usize,
}

impl Progress {
    /// Journals between two signs of it.
    const STEP: usize = 100;

    fn new() -> Progress {
        Progress { is_terminal: io::stderr().is_terminal(), count: 0 }
    }

    fn one_more(&mut self) -> io::Result<()> {
        self.count += 1;
        if self.is_terminal && self.count.is_multiple_of(Self::STEP) {
            write!(io::stderr(), "\r\x1b[K{} journals", self.count)?;
        }
        Ok(())
    }

    fn end(&self) -> io::Result<()> {
        if self.is_terminal && self.count >= Self::STEP { write!(io::stderr(), "\r\x1b[K") } else { Ok(()) }
    }
}
