//! What `abide dev` tells: one line for one thing, in colour on a terminal and plain elsewhere.

use std::io::{self, IsTerminal, Write};

use tokio::sync::mpsc;

use crate::terminal;

/// Lines that may wait to be written.
const LINES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Good,
    Bad,
    Again,
    /// A line that belongs to the one before it.
    More,
}

impl Mark {
    fn symbol(self) -> &'static str {
        match self {
            Mark::Good => "✓",
            Mark::Bad => "✗",
            Mark::Again => "↻",
            Mark::More => " ",
        }
    }

    /// Green, red and yellow, as terminals name them.
    fn colour(self) -> Option<u8> {
        match self {
            Mark::Good => Some(32),
            Mark::Bad => Some(31),
            Mark::Again => Some(33),
            Mark::More => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) mark: Mark,
    pub(super) text: String,
}

pub(super) fn line(mark: Mark, text: impl Into<String>) -> Line {
    Line { mark, text: text.into() }
}

/// Tells from any task; whoever has the other end writes.
#[derive(Clone, Debug)]
pub(super) struct Teller(mpsc::Sender<Line>);

pub(super) fn channel() -> (Teller, mpsc::Receiver<Line>) {
    let (tell, lines) = mpsc::channel(LINES);
    (Teller(tell), lines)
}

impl Teller {
    pub(super) async fn say(&self, mark: Mark, text: impl Into<String>) {
        // If nobody writes any more, nobody needs to hear it.
        drop(self.0.send(line(mark, text)).await);
    }
}

/// Whether colours are wanted: on a terminal, unless the environment says no (https://no-color.org).
pub(super) fn in_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub(super) fn write(out: &mut dyn Write, line: &Line, in_colour: bool) -> io::Result<()> {
    let symbol = line.mark.symbol();
    match line.mark.colour().filter(|_| in_colour) {
        Some(colour) => write!(out, "\x1b[{colour}m{symbol}\x1b[0m ")?,
        None => write!(out, "{symbol} ")?,
    }
    terminal::line(out, &line.text)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_coloured_only_where_that_is_wanted_and_never_steers_the_terminal() {
        let written = |in_colour| {
            let mut out = Vec::new();
            write(&mut out, &line(Mark::Bad, "a\x1b[2Jb"), in_colour).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(false), "✗ a\u{fffd}[2Jb\n");
        assert_eq!(written(true), "\x1b[31m✗\x1b[0m a\u{fffd}[2Jb\n");
    }
}
