//! `abide history`: what happened to a run, and with `--follow` what happens.

use std::time::Duration;

use clap::Args;

use super::Api;
use crate::client::{Client, Error, List, Record};
use crate::console::Console;
use crate::record;

/// Between two tries to get back to a server that went away.
const RECONNECT: Duration = Duration::from_secs(1);

/// Show a run's history: one line for each record.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide history latest\n  abide history latest --follow\n  abide history run_06f3mzv0 --json | jq -r '.data[].type'\n\nWith --follow it ends when the run does, and goes on where it was when the server was restarted in between;\nwith --json it writes one record a line."
)]
pub(crate) struct History {
    /// Its id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// Go on as the run does, until it has ended
    #[arg(long, short)]
    follow: bool,
    /// Only records after this one
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    #[command(flatten)]
    api: Api,
}

impl History {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let run = client.find_run(&self.run).await?;
        if self.follow {
            self.follow(&client, &run, console).await
        } else {
            self.list(&client, &run, console).await
        }
    }

    async fn list(&self, client: &Client, run: &str, console: &mut Console<'_>) -> Result<(), Error> {
        let mut cursor: Option<String> = None;
        let after = self.after.map(|after| after.to_string());
        loop {
            let mut query = vec![("limit", "500")];
            match &cursor {
                Some(cursor) => query.push(("cursor", cursor)),
                None => query.extend(after.iter().map(|after| ("after", after.as_str()))),
            }
            let answer = client.get(&["workflow-runs", run, "events"], &query).await?;
            let list: List<Record> = answer.read()?;
            if self.api.json {
                console.raw(&answer.text)?;
            } else {
                list.data.iter().try_for_each(|record| record::write(console, record))?;
            }
            match list.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn follow(&self, client: &Client, run: &str, console: &mut Console<'_>) -> Result<(), Error> {
        let path = ["workflow-runs", run, "events"];
        let mut last = self.after;
        let mut opened = client.stream(&path, last).await;
        loop {
            let lost = match opened {
                Ok(None) => return Ok(()),
                Ok(Some(mut stream)) => loop {
                    match stream.next().await {
                        Ok(Some(event)) => {
                            last = event.id.or(last);
                            if self.write_event(console, &event.data)? {
                                return Ok(());
                            }
                        }
                        Ok(None) => break None,
                        Err(error) => break Some(error),
                    }
                },
                Err(error @ Error::Unreachable { .. }) if last != self.after => Some(error),
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

    /// Whether it was the run's last.
    fn write_event(&self, console: &mut Console<'_>, data: &str) -> Result<bool, Error> {
        let record: Record =
            serde_json::from_str(data).map_err(|why| Error::NotUnderstood(why.to_string()))?;
        if self.api.json {
            console.raw(data)?;
        } else {
            record::write(console, &record)?;
            console.flush()?;
        }
        Ok(matches!(record.r#type.as_str(), "WORKFLOW_COMPLETED" | "WORKFLOW_FAILED" | "WORKFLOW_CANCELLED"))
    }
}
