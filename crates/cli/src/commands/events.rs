//! `abide events`: what was sent, or what starts on it.

use abide_sdk::wire::{StartedOnEvent, StoredEvent};
use clap::Args;

use super::{Api, Page, borrowed};
use crate::client::{Answer, Error, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List events, the one received last first; or which workflows events start.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide events\n  abide events account.changed --limit 5\n  abide events --starts\n  abide events account.changed --starts"
)]
pub(crate) struct Events {
    /// Only of this event id
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    /// List what starts on events, by the `startOn` of workflows, and which start was refused last
    #[arg(long)]
    starts: bool,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

impl Events {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut query = self.page.query();
        query.extend(self.event.clone().map(|event| ("eventId", event)));
        let path: &[&str] = if self.starts { &["events", "starts"] } else { &["events"] };
        let answer = self.api.open()?.get(path, &borrowed(&query)).await?;
        if self.starts { self.show_starts(console, &answer) } else { self.show_events(console, &answer) }
    }

    fn show_events(&self, console: &mut Console<'_>, answer: &Answer) -> Result<(), Error> {
        self.api.show(console, answer, |console, list: List<StoredEvent>| {
            let now = console.now();
            let mut table =
                Table::new([whole("EVENT"), shortening("ID"), whole("RECEIVED"), optional("DATA")]);
            for event in &list.data {
                let received = times::relative(event.received_at, now);
                table.row([event.event_id.clone(), event.id.clone(), received, event.event_data.to_string()]);
            }
            if table.is_empty() {
                return console.note("No events. `abide notify EVENT` sends one.");
            }
            console.table(&table)?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }

    fn show_starts(&self, console: &mut Console<'_>, answer: &Answer) -> Result<(), Error> {
        self.api.show(console, answer, |console, list: List<StartedOnEvent>| {
            let now = console.now();
            let columns = [whole("EVENT"), whole("STARTS"), shortening("MATCH"), optional("LAST REFUSED")];
            let mut table = Table::new(columns);
            for start in &list.data {
                let refused = start.last_refused.as_ref().map(|refused| {
                    format!("{}: {} [{}]", times::relative(refused.at, now), refused.detail, refused.code)
                });
                table.row([
                    start.event_id.clone(),
                    format!("{} {}", start.workflow, start.version),
                    start.matching.clone().unwrap_or_default(),
                    refused.unwrap_or_default(),
                ]);
            }
            if table.is_empty() {
                return console
                    .note("No workflow starts on an event. `startOn` in a workflow says on which.");
            }
            console.table(&table)?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}
