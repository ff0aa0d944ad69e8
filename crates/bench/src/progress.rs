//! How far it is, for whoever sits before a terminal. Elsewhere nothing is written.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::format;

/// Often enough to look alive, seldom enough to cost nothing.
const EVERY: Duration = Duration::from_millis(100);
const BAR_CHARS: usize = 24;

/// A bar on the last line of the terminal. It is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    of: usize,
    begun: Instant,
    /// When it is drawn next, in milliseconds since the beginning.
    next: AtomicU64,
    seen: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str, of: usize) -> Progress {
        Progress {
            what,
            of,
            begun: Instant::now(),
            next: AtomicU64::new(0),
            seen: io::stderr().is_terminal(),
        }
    }

    pub(super) fn at(&self, done: usize) {
        if !self.seen {
            return;
        }
        let elapsed = self.begun.elapsed();
        let now = millis(elapsed);
        let next = self.next.load(Ordering::Relaxed);
        let then = now + millis(EVERY);
        if now >= next && self.next.compare_exchange(next, then, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            write(&format!("\r\x1b[K{}", line(self.what, done, self.of, elapsed)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.seen {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    // A terminal that is gone needs no progress.
    let _ = io::stderr().write_all(text.as_bytes());
}

fn line(what: &str, done: usize, of: usize, elapsed: Duration) -> String {
    let share = if of == 0 { 1.0 } else { (done as f64 / of as f64).min(1.0) };
    let filled = (share * BAR_CHARS as f64) as usize;
    let bar = "█".repeat(filled) + &"░".repeat(BAR_CHARS - filled);
    let mut line = format!("{what} {bar} {} of {}", format::count(done), format::count(of));
    if done > 0 && !elapsed.is_zero() {
        let rate = done as f64 / elapsed.as_secs_f64();
        let left = of.saturating_sub(done) as f64 / rate;
        line += &format!(", {} /s, {} s left", format::rounded(rate.round()), format::rounded(left.ceil()));
    }
    line
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_how_quick_and_how_long_still() {
        assert_eq!(
            line("created", 250_000, 1_000_000, Duration::from_secs(10)),
            "created ██████░░░░░░░░░░░░░░░░░░ 250,000 of 1,000,000, 25,000 /s, 30 s left"
        );
        assert_eq!(line("woken", 0, 5, Duration::ZERO), "woken ░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 5");
    }

    #[test]
    fn more_than_all_is_a_full_bar() {
        assert!(
            line("woken", 7, 5, Duration::from_secs(1)).starts_with("woken ████████████████████████ 7 of 5")
        );
    }
}
