//! How far a move is: a bar on a terminal, now and then a line elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use abide_store::transfer::{Progress, Stage};

/// Often enough to look alive, seldom enough to cost nothing.
const DRAWN_EVERY: Duration = Duration::from_millis(100);
/// Lines are kept, and read later.
const LINE_EVERY: Duration = Duration::from_secs(5);
const BAR_CHARS: u64 = 24;

pub(super) struct Shown {
    is_terminal: bool,
    /// Rows in all.
    all: u64,
    /// In tables that are done with, at this stage.
    before: u64,
    last: Option<Progress>,
    next: Instant,
}

impl Shown {
    pub(super) fn of(all: u64) -> Shown {
        Shown { is_terminal: io::stderr().is_terminal(), all, before: 0, last: None, next: Instant::now() }
    }

    pub(super) fn at(&mut self, progress: Progress) {
        if let Some(last) = self.last.replace(progress)
            && (last.stage, last.table) != (progress.stage, progress.table)
        {
            self.before = if last.stage == progress.stage { self.before + last.of } else { 0 };
            if !self.is_terminal && last.stage == Stage::Copying {
                write(&format!("copied {} ({} rows)\n", last.table, grouped(last.rows)));
            }
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + if self.is_terminal { DRAWN_EVERY } else { LINE_EVERY };
        let line = line(progress, self.before, self.all);
        write(&if self.is_terminal { format!("\r\x1b[K{line}") } else { format!("{line}\n") });
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.is_terminal {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    // A terminal that is gone needs no progress.
    let _ = io::stderr().write_all(text.as_bytes());
}

fn line(progress: Progress, before: u64, all: u64) -> String {
    let Progress { stage, table, rows, .. } = progress;
    let (what, all) = match stage {
        Stage::Copying => ("copying", all),
        // Both sides are read.
        Stage::Verifying => ("comparing", 2 * all),
    };
    let done = (before + rows).min(all);
    let filled = (done * BAR_CHARS).checked_div(all).unwrap_or(BAR_CHARS);
    let bar = "█".repeat(usize::try_from(filled).unwrap_or(0))
        + &"░".repeat(usize::try_from(BAR_CHARS - filled).unwrap_or(0));
    format!("{what} {bar} {} of {} rows ({table})", grouped(done), grouped(all))
}

/// With thousands separated.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_done_and_how_far_it_is() {
        let progress = |stage, rows| Progress { stage, table: "runs", rows, of: 1_000 };
        assert_eq!(
            line(progress(Stage::Copying, 500), 1_000, 6_000),
            "copying ██████░░░░░░░░░░░░░░░░░░ 1,500 of 6,000 rows (runs)"
        );
        assert_eq!(
            line(progress(Stage::Verifying, 2_000), 10_000, 6_000),
            "comparing ████████████████████████ 12,000 of 12,000 rows (runs)"
        );
        assert!(line(progress(Stage::Copying, 0), 0, 0).contains("0 of 0"));
    }
}
