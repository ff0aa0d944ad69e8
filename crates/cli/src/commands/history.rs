//! `abide history`: what happened to a run, and with `--follow` what happens.

use std::time::Duration;

use clap::Args;

use super::Api;
use crate::client::{Client, Error, List};
use crate::console::Console;
use crate::record::{self, Record};

/// Between two tries to get back to a server that went away.
const RECONNECT: Duration = Duration::from_secs(1);

/// Records that are a run's last.
const ENDS: [&str; 3] = ["WORKFLOW_COMPLETED", "WORKFLOW_FAILED", "WORKFLOW_CANCELLED"];

/// Show a run's history: a sentence for each record.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide history latest\n  abide history latest --follow\n  abide history latest --fields\n  abide history run_06f3mzv0 --json | jq -r '.data[].type'\n\nWith --follow it ends when the run does, and goes on where it was when the server was restarted in between;\nwith --json it writes one record a line."
)]
pub(crate) struct History {
    /// The run's id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// Go on as the run does, until it has ended
    #[arg(long, short)]
    follow: bool,
    /// Only records after this one
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Show the fields behind each sentence, too
    #[arg(long)]
    fields: bool,
    #[command(flatten)]
    api: Api,
}

impl History {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let run = client.find_run(&self.run).await?;
        let json = self.api.json;
        let write = |console: &mut Console<'_>, record: &Record| {
            record::write(console, record)?;
            if self.fields { record::write_fields(console, record) } else { Ok(()) }
        };
        if self.follow {
            return follow(&client, &run, self.after, console, |console, data, record| {
                if json {
                    return Ok(console.raw(data)?);
                }
                write(console, record)?;
                Ok(console.flush()?)
            })
            .await;
        }
        pages(&client, &run, self.after, console, |console, page| {
            if json {
                return Ok(console.raw(page.text)?);
            }
            Ok(page.data.iter().try_for_each(|record| write(console, record))?)
        })
        .await
    }
}

/// A page of a history, and as it came.
pub(super) struct HistoryPage<'a> {
    pub(super) data: Vec<Record>,
    pub(super) text: &'a str,
}

/// Writes a run's history as it is, page by page.
pub(super) async fn pages(
    client: &Client,
    run: &str,
    after: Option<u64>,
    console: &mut Console<'_>,
    mut write: impl FnMut(&mut Console<'_>, HistoryPage<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut cursor: Option<String> = None;
    let after = after.map(|after| after.to_string());
    loop {
        let mut query = vec![("limit", "500")];
        match &cursor {
            Some(cursor) => query.push(("cursor", cursor)),
            None => query.extend(after.iter().map(|after| ("after", after.as_str()))),
        }
        let answer = client.get(&["workflow-runs", run, "events"], &query).await?;
        let List { data, next_cursor } = answer.read::<List<Record>>()?;
        write(console, HistoryPage { data, text: &answer.text })?;
        match next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

/// Writes a run's history as it happens, until the run has ended. It goes on where it was when the server was away.
pub(super) async fn follow(
    client: &Client,
    run: &str,
    after: Option<u64>,
    console: &mut Console<'_>,
    mut write: impl FnMut(&mut Console<'_>, &str, &Record) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = ["workflow-runs", run, "events"];
    let mut last = after;
    let mut opened = client.stream(&path, last).await;
    loop {
        let lost = match opened {
            Ok(None) => return Ok(()),
            Ok(Some(mut stream)) => loop {
                match stream.next().await.map_err(Error::from) {
                    Ok(Some(event)) => {
                        last = event.id.and_then(|id| id.parse().ok()).or(last);
                        let record: Record = serde_json::from_str(&event.data)
                            .map_err(|why| Error::NotUnderstood(why.to_string()))?;
                        write(console, &event.data, &record)?;
                        if ENDS.contains(&record.r#type.as_str()) {
                            return Ok(());
                        }
                    }
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            },
            Err(error @ Error::Unreachable { .. }) if last != after => Some(error),
            Err(error) => return Err(error),
        };
        if lost.is_some() {
            console.note("The server went away; trying to get back to it.")?;
        }
        loop {
            tokio::time::sleep(RECONNECT).await;
            opened = client.stream(&path, last).await;
            if !matches!(opened, Err(Error::Unreachable { .. })) {
                break;
            }
        }
    }
}
