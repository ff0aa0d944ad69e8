//! `abide approvals`: what people are asked.

use std::io;

use abide_sdk::wire::ApprovalRequest;
use clap::Args;

use super::{Api, Page, borrowed};
use crate::client::{Error, List, whose};
use crate::console::Console;
use crate::terminal::shortened;
use crate::times;

/// Content is cut at this; `--json` has all of it.
const CONTENT_CHARS: usize = 400;

/// List what waits for somebody's decision, with the links on which it can be taken.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide approvals\n  abide approvals --run latest\n  abide approvals --decided\n  curl \"$(abide approvals --links)\" -d decision=approve"
)]
pub(crate) struct Approvals {
    /// Those that were decided, not those that wait
    #[arg(long)]
    decided: bool,
    /// Only those of this run: its id, the beginning of one, or `latest`
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Only write the links, one a line
    #[arg(long, conflicts_with = "json")]
    links: bool,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

impl Approvals {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let client = self.api.open()?;
        let mut query = self.page.query();
        query.push(("pending", (!self.decided).to_string()));
        if let Some(run) = &self.run {
            query.push(("runId", client.find_run(run).await?));
        }
        let answer = client.get(&["approval-requests"], &borrowed(&query)).await?;
        if self.links {
            let list: List<ApprovalRequest> = answer.read()?;
            let mut links = list.data.iter().filter_map(|request| request.resume_url.as_deref());
            return Ok(links.try_for_each(|link| console.line(link))?);
        }
        self.api.show(console, &answer, |console, list: List<ApprovalRequest>| {
            if list.data.is_empty() {
                return console.note(if self.decided {
                    "Nothing was decided."
                } else {
                    "Nobody is asked anything."
                });
            }
            list.data.iter().try_for_each(|request| write(console, request))?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}

fn write(console: &mut Console<'_>, request: &ApprovalRequest) -> io::Result<()> {
    let now = console.now();
    let step = whose(request.step_name.as_deref(), request.call.as_deref()).unwrap_or_default();
    let until = request.resume_at.map(|at| format!("  until {}", times::both(at, now))).unwrap_or_default();
    console.line(&format!("{}  {step}  {}{until}", request.id, request.status))?;
    if let Some(prompt) = &request.prompt {
        console.lines(&indented(prompt))?;
    }
    if !request.content.is_null() {
        let text = request.content.as_str().map_or_else(|| request.content.to_string(), str::to_owned);
        console.lines(&indented(&shortened(&text, CONTENT_CHARS)))?;
    }
    if request.quorum > 1 {
        console.line(&format!("  {} of {} needed have decided", request.decisions.len(), request.quorum))?;
    }
    for vote in &request.decisions {
        console.line(&format!("  {} by {}", vote.decision, vote.by))?;
    }
    if let Some(by) = &request.resolved_by {
        console.line(&format!("  ended by {by}"))?;
    }
    if !request.approvers.is_empty() {
        console.line(&format!("  asked: {}", request.approvers.join(", ")))?;
    }
    if let Some(link) = &request.resume_url {
        console.line(&format!("  {link}"))?;
    }
    Ok(())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
