//! `abide audit`: who did what to the server.

use std::io;

use abide_sdk::wire::{AuditEntry, AuditVerified};
use clap::Args;
use serde_json::Value;

use super::{Api, Page};
use crate::client::{Error, Exit, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List control actions: keys, links, webhooks, definitions, steering. The last one first.
#[derive(Debug, Args)]
#[command(
    after_help = "Each entry has the hash of itself and of the one before: --verify follows them from the first to the last, and says which\nwas changed or removed. Keep what it prints: a log that was cut off at its end has another last hash.\n\nExamples:\n  abide audit\n  abide audit --limit 500 --json\n  abide audit --export > audit.jsonl\n  abide audit --verify\n\nExits with 1 when --verify finds that something was changed."
)]
pub(crate) struct Audit {
    /// Write all entries, one JSON object a line, the last one first
    #[arg(long, conflicts_with_all = ["verify", "cursor", "limit"])]
    export: bool,
    /// Follow the chain of hashes
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

impl Audit {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        if self.verify {
            return self.verify(console).await;
        }
        if self.export {
            return self.export(console).await;
        }
        let limit = self.page.limit.to_string();
        let mut query = vec![("limit", limit.as_str())];
        if let Some(cursor) = &self.page.cursor {
            query.push(("cursor", cursor));
        }
        let answer = self.api.open()?.get(&["audit"], &query).await?;
        self.api.show(console, &answer, |console, list: List<AuditEntry>| write(console, &list.data))
    }

    async fn verify(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let answer = self.api.open()?.get(&["audit", "verify"], &[]).await?;
        let verified: AuditVerified = answer.read()?;
        self.api.show(console, &answer, |console, verified: AuditVerified| {
            if verified.whole {
                let (entries, last) =
                    (verified.entries.unwrap_or_default(), verified.last.unwrap_or_default());
                console.line(&format!("whole: {entries} entries, the last one {last}"))
            } else {
                console.line(&format!(
                    "broken: entry {} was changed, or the one before is gone",
                    verified.broken_at.unwrap_or_default()
                ))
            }
        })?;
        if verified.whole { Ok(()) } else { Err(Error::Said(Exit::Failed)) }
    }

    async fn export(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut cursor: Option<String> = None;
        loop {
            let mut query = vec![("limit", "500")];
            if let Some(cursor) = &cursor {
                query.push(("cursor", cursor));
            }
            let page: List<Value> = client.read(&["audit"], &query).await?;
            for entry in &page.data {
                console.line(&entry.to_string())?;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }
}

fn write(console: &mut Console<'_>, entries: &[AuditEntry]) -> io::Result<()> {
    if entries.is_empty() {
        return console.note("Nothing was done yet.");
    }
    let now = console.now();
    let mut table = Table::new([
        whole("NUMBER"),
        whole("WHEN"),
        whole("BY"),
        whole("ACTION"),
        shortening("TARGET"),
        optional("DETAIL"),
        optional("FROM"),
    ]);
    for entry in entries {
        let detail = if entry.detail.is_null() { String::new() } else { entry.detail.to_string() };
        table.row([
            entry.number.to_string(),
            times::relative(entry.at, now),
            entry.by.clone(),
            entry.action.clone(),
            entry.target.clone(),
            detail,
            entry.address.clone().unwrap_or_default(),
        ]);
    }
    console.table(&table)
}
