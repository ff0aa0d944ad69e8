//! The steps of a run as lines, live or not.

use crate::terminal::shortened;

/// A step for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) r#type: String,
    pub(crate) status: String,
    pub(crate) detail: String,
}

pub(crate) fn sign(status: &str) -> char {
    match status {
        "COMPLETED" => '✓',
        "RUNNING" => '●',
        "WAITING" => '○',
        "FAILED" => '✗',
        "SKIPPED" => '–',
        "CANCELLED" => '×',
        _ => '·',
    }
}

/// The lines, aligned, each no wider than the terminal.
pub(crate) fn texts(lines: &[Line], indent: &str, width: Option<usize>) -> Vec<String> {
    let widest = |of: fn(&Line) -> &str| lines.iter().map(|line| of(line).chars().count()).max().unwrap_or(0);
    let (names, types, statuses) =
        (widest(|line| &line.name), widest(|line| &line.r#type), widest(|line| &line.status));
    let text = |line: &Line| {
        let Line { name, r#type, status, detail } = line;
        let sign = sign(status);
        let text = format!("{indent}{sign} {name:<names$}  {type:<types$}  {status:<statuses$}  {detail}");
        let text = text.trim_end();
        width.map_or_else(|| text.to_owned(), |width| shortened(text, width))
    };
    lines.iter().map(text).collect()
}
