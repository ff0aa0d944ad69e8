//! `abide logs`: what the handlers of a run wrote to its log, and with `--follow` what they write.

use clap::Args;
use serde_json::Value;

use super::Api;
use super::history::{follow, pages};
use crate::client::Error;
use crate::console::Console;
use crate::record::Record;

const LOGGED: &str = "TASK_LOGGED";

/// Show what the handlers of a run wrote with `ctx.log`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide logs latest\n  abide logs latest --follow\n\nWith --follow it ends when the run does. With --json it writes one record of the history a line."
)]
pub(crate) struct Logs {
    /// The run's id, the beginning of one, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// Go on as the run does, until it has ended
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    api: Api,
}

impl Logs {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let run = client.find_run(&self.run).await?;
        let json = self.api.json;
        if self.follow {
            return follow(&client, &run, None, console, |console, data, record| {
                write(console, json, data, record)
            })
            .await;
        }
        let mut is_empty = true;
        pages(&client, &run, None, console, |console, page| {
            for record in &page.data {
                is_empty &= record.r#type != LOGGED;
                let data =
                    if json { serde_json::to_string(record).unwrap_or_default() } else { String::new() };
                write(console, json, &data, record)?;
            }
            Ok(())
        })
        .await?;
        if is_empty && !json {
            console.note("No handler wrote to this run's log; `abide history` shows what happened.")?;
        }
        Ok(())
    }
}

fn write(console: &mut Console<'_>, json: bool, data: &str, record: &Record) -> Result<(), Error> {
    if record.r#type != LOGGED {
        return Ok(());
    }
    if json {
        return Ok(console.raw(data)?);
    }
    let time = record.time.strftime("%Y-%m-%d %H:%M:%S%.3f");
    let step = record.step_name.as_deref().unwrap_or("-");
    let lines = record.fields.get("lines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for line in lines {
        let (level, message) =
            (line["level"].as_str().unwrap_or("info"), line["message"].as_str().unwrap_or(""));
        console.line(&format!("{time}  {level:<5}  {step}  {message}"))?;
    }
    if record.fields.get("full") == Some(&Value::Bool(true)) {
        console.note("The log of this run is full; what followed is left out.")?;
    }
    Ok(console.flush()?)
}
