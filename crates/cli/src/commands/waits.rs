//! `abide waits`: what is waiting, for what, until when.

use abide_sdk::wire::{
    ApprovalState, ListensFor, ListensForAttempt, ListensForCode, Waitpoint, WaitpointKind,
};
use clap::Args;

use super::filter::WaitFilter;
use super::{Api, Page, borrowed};
use crate::client::{Error, List, whose};
use crate::console::Console;
use crate::table::{Table, optional, shortening, whole};
use crate::times;

/// List what is waiting, for what, and until when; the next due first.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide waits\n  abide waits --run latest\n  abide waits --kind EVENT\n  abide waits --event parcel.delivered\n  abide waits --due-before 2026-12-01T00:00:00Z\n  abide waits --run latest --status all"
)]
pub(crate) struct Waits {
    /// Only those of this run: its id, the beginning of one, or `latest`
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// PENDING, COMPLETED, TIMED_OUT, CANCELLED, or all
    #[arg(long, default_value = "PENDING", ignore_case = true, value_parser = ["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED", "all"], hide_possible_values = true)]
    status: String,
    #[command(flatten)]
    filter: WaitFilter,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

impl Waits {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut query = self.filter.query();
        query.extend(self.page.query());
        let shows_all = self.status.eq_ignore_ascii_case("all");
        if !shows_all {
            query.push(("status", self.status.to_uppercase()));
        }
        if let Some(run) = &self.run {
            query.push(("runId", client.find_run(run).await?));
        }
        let answer = client.get(&["waitpoints"], &borrowed(&query)).await?;
        self.api.show(console, &answer, |console, list: List<Waitpoint>| {
            if list.data.is_empty() {
                return console.note("Nothing waits.");
            }
            console.table(&table(&list.data, console.now()))?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}

fn table(waits: &[Waitpoint], now: jiff::Timestamp) -> Table {
    let columns = [
        whole("WAIT"),
        shortening("STEP"),
        shortening("FOR"),
        whole("UNTIL"),
        optional(""),
        optional("SINCE"),
        optional("STATUS"),
    ];
    let mut table = Table::new(columns);
    for wait in waits {
        let (until, instant) = match wait.resume_at {
            Some(at) => (times::relative(at, now), times::absolute(at)),
            None => ("-".to_owned(), String::new()),
        };
        let unnamed =
            || if wait.kind == WaitpointKind::Schedule { "(schedule)" } else { "(start)" }.to_owned();
        let step = whose(wait.step_name.as_deref(), wait.call.as_deref()).unwrap_or_else(unnamed);
        let since = times::relative(wait.created_at, now);
        table.row([wait.id.clone(), step, waited_for(wait), until, instant, since, wait.status.to_string()]);
    }
    table
}

fn waited_for(wait: &Waitpoint) -> String {
    match &wait.listens_for {
        ListensFor::Time => until_when(wait.kind).to_owned(),
        ListensFor::Signal(signal) => format!("signal {}", signal.signal_type),
        ListensFor::Event(event) => match &event.matching {
            Some(matching) => format!("event {} where {matching}", event.event_id),
            None => format!("event {}", event.event_id),
        },
        ListensFor::Call(_) => "a call on its URL".to_owned(),
        ListensFor::Approval => {
            let approval = wait.approval.as_ref();
            let prompt = approval.and_then(|approval| approval.prompt.clone());
            let votes = approval.filter(|approval| approval.quorum > 1).map(votes).unwrap_or_default();
            format!("approval{votes}: {}", prompt.unwrap_or_else(|| "a decision".to_owned()))
        }
        ListensFor::Child(child) => format!("run {}", child.run_id),
        ListensFor::Attempt(ListensForAttempt { attempt, max_attempts, error, .. }) => {
            format!("attempt {} of {max_attempts}, after: {}", attempt + 1, error.message)
        }
        ListensFor::Capacity(asked) => {
            let under = asked.limits.iter().map(|limit| match limit.key.as_str() {
                "" => limit.name.clone(),
                key => format!("{} {key}", limit.name),
            });
            format!("room under {}", under.collect::<Vec<_>>().join(" and "))
        }
        ListensFor::Starts(starts) => format!("more starts, {} so far", starts.starts),
        ListensFor::Code(ListensForCode { builds, recorded, found, .. }) => {
            let build = builds.last().filter(|build| !build.is_empty());
            let build = build.map(|build| format!(" than {build}")).unwrap_or_default();
            format!("other code{build}: the journal holds {recorded}, and it comes to {found}")
        }
    }
}

/// What ends a wait that only time ends.
fn until_when(kind: WaitpointKind) -> &'static str {
    match kind {
        WaitpointKind::Retry => "the next attempt",
        WaitpointKind::Pause => "its worker's pause",
        WaitpointKind::Schedule => "its schedule",
        WaitpointKind::Delay
        | WaitpointKind::Webhook
        | WaitpointKind::Signal
        | WaitpointKind::Event
        | WaitpointKind::Approval
        | WaitpointKind::Child
        | WaitpointKind::Code
        | WaitpointKind::Capacity => "time",
    }
}

fn votes(approval: &ApprovalState) -> String {
    format!(" ({} of {})", approval.decisions.len(), approval.quorum)
}
