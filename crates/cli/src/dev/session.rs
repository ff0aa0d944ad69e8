//! What goes on from the greeting to the end: looks at files, a line for each thing that happens, and an end in order.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use abide_core::status::RunStatus;
use abide_engine::{Changed, Engine};
use tokio::sync::mpsc::Receiver;
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::command::Supervisor;
use super::definitions::Definitions;
use super::say::{self, Line, Mark};
use super::scan;
use super::watch::{Change, Watch};
use crate::stop::StopSignals;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// All that goes on between the greeting and the end.
pub(super) struct Session<'a> {
    pub(super) out: &'a mut dyn Write,
    pub(super) in_colour: bool,
    pub(super) stop: StopSignals,
    pub(super) told: Receiver<Line>,
    pub(super) changes: broadcast::Receiver<Changed>,
    pub(super) engine: Engine,
    pub(super) definitions: Definitions,
    pub(super) files: Watch,
    pub(super) sources: Watch,
    pub(super) places: Vec<PathBuf>,
    pub(super) watched: Vec<PathBuf>,
    pub(super) command: Option<Supervisor>,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("places", &self.places).finish_non_exhaustive()
    }
}

impl Session<'_> {
    /// Until somebody stops it, or nobody reads what it says.
    pub(super) async fn live(&mut self) -> io::Result<()> {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.stop.next() => return Ok(()),
                Some(line) = self.told.recv() => self.say(&line)?,
                change = self.changes.recv() => {
                    // Who misses some has more on the screen than can be read.
                    if let Ok(change) = change && change.status == RunStatus::Failed {
                        self.tell_failure(change).await?;
                    }
                }
                _ = looks.tick() => self.look().await?,
            }
        }
    }

    async fn look(&mut self) -> io::Result<()> {
        let (places, watched) = (self.places.clone(), self.watched.clone());
        let looked = tokio::task::spawn_blocking(move || {
            (scan::scan(&places, scan::is_definition).seen, scan::scan(&watched, |_| true).seen)
        });
        let Ok((files, sources)) = looked.await else { return Ok(()) };
        for change in self.files.look(files) {
            let lines = self.definitions.take(&change).await;
            self.say_all(&lines)?;
        }
        let changed = self.sources.look(sources);
        if let (Some(command), Some(why)) = (&self.command, changed_in_words(&changed)) {
            command.restart(&why);
        }
        Ok(())
    }

    async fn tell_failure(&mut self, change: Changed) -> io::Result<()> {
        let Ok(run) = self.engine.default_workspace().run(change.run).get().await else { return Ok(()) };
        let Some(error) = &run.error else { return Ok(()) };
        let name = run.definition.name();
        let text = format!("{} of {name} failed: {} [{}]", change.run, error.message, error.code);
        self.say(&say::line(Mark::Bad, text))
    }

    pub(super) fn say(&mut self, line: &Line) -> io::Result<()> {
        say::write(self.out, line, self.in_colour)
    }

    pub(super) fn say_all(&mut self, lines: &[Line]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.say(line))
    }

    /// The command first, so that it can still report what it has done; then the server. At the second signal all of it at
    /// once.
    pub(super) async fn end(mut self, stopper: oneshot::Sender<()>, serving: JoinHandle<()>) {
        let last_resort = self.command.as_ref().map(Supervisor::last_resort);
        let mut ending = self.command.take().map(Supervisor::end);
        let mut stopper = Some(stopper);
        let mut serving = serving;
        loop {
            if ending.is_none()
                && let Some(stopper) = stopper.take()
            {
                // If it has ended, it has.
                let _ = stopper.send(());
            }
            tokio::select! {
                () = self.stop.next() => {
                    last_resort.iter().for_each(|kill| kill());
                    std::process::exit(130);
                }
                Some(line) = self.told.recv() => drop(self.say(&line)),
                () = ended(&mut ending) => ending = None,
                _ = &mut serving, if ending.is_none() => return,
            }
        }
    }
}

/// Waits for the command, if there is one.
async fn ended(ending: &mut Option<JoinHandle<()>>) {
    match ending {
        Some(ending) => drop(ending.await),
        None => std::future::pending().await,
    }
}

/// `src/a.ts changed`, `src/a.ts and 2 more changed`
fn changed_in_words(changes: &[Change]) -> Option<String> {
    let paths: BTreeSet<&PathBuf> = changes
        .iter()
        .map(|change| match change {
            Change::Settled(path) | Change::Gone(path) => path,
        })
        .collect();
    let first = paths.first()?.display();
    Some(match paths.len() {
        1 => format!("{first} changed"),
        count => format!("{first} and {} more changed", count - 1),
    })
}
