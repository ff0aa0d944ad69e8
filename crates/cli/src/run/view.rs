//! How a run is shown while it goes on: drawn anew in a terminal, line by line elsewhere.

use std::collections::BTreeSet;
use std::io;

use crate::console::Console;
use crate::record::{self, Record};
use crate::steps::{self, Line};
use crate::terminal::shortened;

#[derive(Debug)]
pub(super) enum View {
    /// The whole run, drawn over what was drawn before.
    Live {
        drawn: usize,
    },
    /// Prints the history, and each thing the run waits for once.
    Plain {
        told: BTreeSet<String>,
    },
    Quiet,
}

impl View {
    pub(super) fn of(console: &Console<'_>, quiet: bool, is_terminal: bool) -> View {
        match (quiet, is_terminal && console.width.is_some()) {
            (true, _) => View::Quiet,
            (false, true) => View::Live { drawn: 0 },
            (false, false) => View::Plain { told: BTreeSet::new() },
        }
    }

    pub(super) fn shows_time(&self) -> bool {
        matches!(self, View::Live { .. })
    }

    pub(super) fn show(
        &mut self,
        console: &mut Console<'_>,
        title: &str,
        steps: &[Line],
        waits: &[String],
        news: &[Record],
    ) -> io::Result<()> {
        match self {
            View::Live { drawn } => {
                let width = console.width.unwrap_or(80);
                let mut lines = vec![shortened(title, width)];
                lines.extend(steps::texts(steps, "  ", Some(width)));
                lines.extend(waits.iter().map(|wait| shortened(wait, width)));
                console.redraw(*drawn, &lines)?;
                *drawn = lines.len();
            }
            View::Plain { told } => {
                news.iter().try_for_each(|news| record::write(console, news))?;
                for wait in waits.iter().filter(|wait| wait.contains("--handler")) {
                    if told.insert(wait.clone()) {
                        console.note(wait)?;
                    }
                }
                console.flush()?;
            }
            View::Quiet => {}
        }
        Ok(())
    }
}
