//! The commands that talk to a server. Each has its own file, or a small family has one; here is only which there are.

mod approvals;
mod audit;
mod control;
mod decide;
mod deploy;
mod deploy_check;
mod events;
mod filter;
mod held;
mod history;
mod journals;
mod keys;
mod limits;
mod link;
mod logs;
mod move_runs;
mod notify;
mod ready;
mod runs;
mod schedules;
mod show;
mod signal;
mod start;
mod steer;
mod top;
mod waits;
mod worker;
mod workspaces;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;

use crate::client::{Answer, Client, Connection, Error};
use crate::console::Console;

#[derive(Debug, Subcommand)]
pub(crate) enum Remote {
    Deploy(deploy::Deploy),
    Start(start::Start),
    Runs(runs::Runs),
    Show(show::Show),
    History(history::History),
    Logs(logs::Logs),
    Signal(signal::Signal),
    Notify(notify::Notify),
    Events(events::Events),
    Waits(waits::Waits),
    Top(top::Top),
    Wake(steer::Wake),
    Reschedule(steer::Reschedule),
    Link(link::Link),
    Cancel(control::Cancel),
    Pause(control::Pause),
    Unpause(control::Unpause),
    Retry(control::Retry),
    Pin(control::Pin),
    Unpin(control::Unpin),
    Journals(journals::Journals),
    Move(move_runs::MoveRuns),
    Held(held::Held),
    Hold(held::Hold),
    Release(held::Release),
    Approvals(approvals::Approvals),
    Approve(decide::Approve),
    Reject(decide::Reject),
    Edit(decide::Edit),
    Schedules(schedules::Schedules),
    Limits(limits::Limits),
    Worker(worker::Worker),
    Keys(keys::Keys),
    Workspaces(workspaces::Workspaces),
    Audit(audit::Audit),
    Ready(ready::Ready),
}

impl Remote {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let console = &mut Console::new(out, err);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(self.perform(console));
        finish(done, console)
    }

    async fn perform(&self, console: &mut Console<'_>) -> Result<(), Error> {
        match self {
            Remote::Deploy(deploy) => deploy.run(console).await,
            Remote::Start(start) => start.run(console).await,
            Remote::Runs(runs) => runs.run(console).await,
            Remote::Show(show) => show.run(console).await,
            Remote::History(history) => history.run(console).await,
            Remote::Logs(logs) => logs.run(console).await,
            Remote::Signal(signal) => signal.run(console).await,
            Remote::Notify(notify) => notify.run(console).await,
            Remote::Events(events) => events.run(console).await,
            Remote::Waits(waits) => waits.run(console).await,
            Remote::Top(top) => top.run(console).await,
            Remote::Wake(wake) => wake.run(console).await,
            Remote::Reschedule(reschedule) => reschedule.run(console).await,
            Remote::Link(link) => link.run(console).await,
            Remote::Cancel(cancel) => cancel.run(console).await,
            Remote::Pause(pause) => pause.run(console).await,
            Remote::Unpause(unpause) => unpause.run(console).await,
            Remote::Retry(retry) => retry.run(console).await,
            Remote::Pin(pin) => pin.run(console).await,
            Remote::Unpin(unpin) => unpin.run(console).await,
            Remote::Journals(journals) => journals.run(console).await,
            Remote::Move(moves) => moves.run(console).await,
            Remote::Held(held) => held.run(console).await,
            Remote::Hold(hold) => hold.run(console).await,
            Remote::Release(release) => release.run(console).await,
            Remote::Approvals(approvals) => approvals.run(console).await,
            Remote::Approve(approve) => approve.run(console).await,
            Remote::Reject(reject) => reject.run(console).await,
            Remote::Edit(edit) => edit.run(console).await,
            Remote::Schedules(schedules) => schedules.run(console).await,
            Remote::Limits(limits) => limits.run(console).await,
            Remote::Worker(worker) => worker.run(console).await,
            Remote::Keys(keys) => keys.run(console).await,
            Remote::Workspaces(workspaces) => workspaces.run(console).await,
            Remote::Audit(audit) => audit.run(console).await,
            Remote::Ready(ready) => ready.run(console).await,
        }
    }
}

/// The last word of a command, and its exit code.
pub(crate) fn finish(done: Result<(), Error>, console: &mut Console<'_>) -> io::Result<ExitCode> {
    let code = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Io(error)) => return Err(error),
        Err(Error::Said(exit)) => exit.into(),
        Err(error) => {
            console.note(&format!("abide: {error}"))?;
            error.exit().into()
        }
    };
    console.flush()?;
    Ok(code)
}

/// Which server, and in what form its answer is shown.
#[derive(Debug, Args)]
pub(crate) struct Api {
    #[command(flatten)]
    connection: Connection,
    /// Write the server's answer as it came, in JSON
    #[arg(long)]
    json: bool,
}

impl Api {
    fn open(&self) -> Result<Client, Error> {
        self.connection.open()
    }

    /// The answer as it came, or what people are shown of it.
    fn show<T: DeserializeOwned>(
        &self,
        console: &mut Console<'_>,
        answer: &Answer,
        shown: impl FnOnce(&mut Console<'_>, T) -> io::Result<()>,
    ) -> Result<(), Error> {
        if self.json {
            console.raw(&answer.text)?;
        } else {
            console.go_by(answer.now);
            shown(console, answer.read()?)?;
        }
        Ok(())
    }
}

/// A part of a list.
#[derive(Debug, Args)]
struct Page {
    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Where the page before ended: its `nextCursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl Page {
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
        query
    }

    /// Says how the rest is had.
    fn note_rest(console: &mut Console<'_>, next_cursor: Option<&str>) -> io::Result<()> {
        match next_cursor {
            Some(cursor) => console.note(&format!("There may be more: add `--cursor {cursor}`.")),
            None => Ok(()),
        }
    }
}

fn borrowed<'a>(query: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    query.iter().map(|(name, value)| (*name, value.as_str())).collect()
}
