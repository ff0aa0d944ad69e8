//! Writing to a terminal or a pipe.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// `abide … | head` is not an error. Where nothing can be written, nothing can be said but by the code.
pub(crate) fn exit_code(done: io::Result<ExitCode>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// Writes one line. What a document holds must not steer the terminal.
pub(crate) fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let harmless: String = text
        .trim_end()
        .chars()
        .map(|char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char })
        .collect();
    writeln!(out, "{harmless}")
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Cut to a width, with an ellipsis.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
