//! Where a command writes: what was asked for goes out, the rest beside it.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use jiff::Timestamp;

use crate::table::Table;
use crate::terminal;

pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// Of the terminal; none where the output goes elsewhere.
    pub(crate) width: Option<usize>,
    /// What the server says the time is, once it has said so.
    server_time: Option<Timestamp>,
}

impl fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

impl<'a> Console<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Console<'a> {
        let size = terminal_size::terminal_size_of(io::stdout());
        let width = size.filter(|_| io::stdout().is_terminal());
        Console { out, err, width: width.map(|(width, _)| usize::from(width.0)), server_time: None }
    }

    /// What was asked for. What a payload holds must not steer the terminal.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        terminal::line(self.out, text)
    }

    /// Several lines.
    pub(crate) fn lines(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// A word to whoever watches, not to what reads the output.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| terminal::line(self.err, line))
    }

    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        table.lines(self.width).iter().try_for_each(|line| self.line(line))
    }

    /// Lines in place of the last ones that were drawn.
    pub(crate) fn redraw(&mut self, drawn: usize, lines: &[String]) -> io::Result<()> {
        if drawn > 0 {
            write!(self.out, "\x1b[{drawn}F\x1b[J")?;
        }
        lines.iter().try_for_each(|line| self.line(line))?;
        self.out.flush()
    }

    /// The server's answer to the letter.
    pub(crate) fn raw(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// From here on times are relative to the server's, which may be a test clock.
    pub(crate) fn go_by(&mut self, server_time: Option<Timestamp>) {
        self.server_time = server_time.or(self.server_time);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.server_time.unwrap_or_else(Timestamp::now)
    }
}
