//! `abide runs`: a list.

use abide_sdk::wire::RunSummary;
use clap::Args;

use super::filter::RunFilter;
use super::{Api, Page, borrowed};
use crate::client::{Error, List};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List runs, the newest first.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide runs\n  abide runs --status WAITING,PAUSED\n  abide runs --workflow payment --tag vip --limit 10\n  abide runs --event parcel.delivered\n  abide runs --json | jq -r '.data[].id'"
)]
pub(crate) struct Runs {
    #[command(flatten)]
    filter: RunFilter,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

impl Runs {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut query = self.filter.query();
        query.extend(self.page.query());
        let answer = self.api.open()?.get(&["workflow-runs"], &borrowed(&query)).await?;
        self.api.show(console, &answer, |console, list: List<RunSummary>| {
            let now = console.now();
            let columns = [
                whole("RUN"),
                shortening("WORKFLOW"),
                whole("STATUS"),
                whole("CREATED"),
                optional("CHANGED"),
                optional("TAGS"),
            ];
            let mut table = Table::new(columns);
            for run in &list.data {
                let workflow = format!("{} {}", run.definition.name, run.definition.version);
                let (created, changed) =
                    (times::relative(run.created_at, now), times::relative(run.updated_at, now));
                table.row([
                    run.id.clone(),
                    workflow,
                    run.status.to_string(),
                    created,
                    changed,
                    run.tags.join(", "),
                ]);
            }
            if table.is_empty() {
                return console.note("No runs. `abide start WORKFLOW` starts one.");
            }
            console.table(&table)?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}
