//! A frame: the lines that show a snapshot in a size, as a function of both.

use jiff::Timestamp;

use super::snapshot::{Quantiles, Snapshot};
use super::view::{Tab, View};
use crate::table::{Table, optional, shortening, whole};
use crate::terminal::shortened;
use crate::times;

/// How a line is shown where there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Alarm,
    Quiet,
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) tone: Tone,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: usize,
    /// None where there is no end: a pipe.
    pub(super) height: Option<usize>,
}

/// Rows of each list where there is no end.
const ROWS: usize = 10;
/// A list that would get fewer lines is not begun.
const LEAST: usize = 4;
/// How wide the names before the figures are.
const NAME: usize = 7;
const KEYS: &str = "q quit  tab next  s sort  p pause";

pub(super) fn frame(snapshot: &Snapshot, view: &View, trouble: Option<&str>, size: Size) -> Vec<Line> {
    let mut lines = figures(snapshot, trouble, size.width);
    // A blank line before each list, and the keys at the bottom.
    let end = size.height.map(|height| height.saturating_sub(1));
    for number in 0..Tab::ALL.len() {
        let tab = view.tab.after(number);
        let room = end.map(|end| end.saturating_sub(lines.len() + 1));
        if room.is_some_and(|room| number > 0 && room < LEAST) {
            break;
        }
        lines.push(line(Tone::Plain, ""));
        lines.extend(list(snapshot, view, tab, size.width, room.unwrap_or(ROWS + 2)));
    }
    if let Some(height) = size.height {
        lines.truncate(height.saturating_sub(1));
        lines.resize_with(height.saturating_sub(1), || line(Tone::Plain, ""));
        let paused = if view.is_paused { "  PAUSED" } else { "" };
        lines.push(line(Tone::Quiet, &format!("{KEYS} ({}){paused}", view.sort(view.tab))));
    }
    for line in &mut lines {
        line.text = shortened(&line.text, size.width);
    }
    lines
}

fn line(tone: Tone, text: &str) -> Line {
    Line { text: text.to_owned(), tone }
}

fn figures(snapshot: &Snapshot, trouble: Option<&str>, width: usize) -> Vec<Line> {
    let Snapshot { process, per_second, overdue, .. } = snapshot;
    let version = snapshot.version.as_deref().map(|version| format!("abide {version}"));
    let up = process.up_seconds.map(|up| format!("up {}", seconds(up)));
    let head = [version, snapshot.store.clone(), Some(snapshot.server.clone()), up];
    let head = head.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let clock = times::absolute(snapshot.at);
    let gap = width.saturating_sub(clock.chars().count());
    let mut lines =
        vec![line(Tone::Title, &format!("{:<gap$}{clock}", shortened(&head, gap.saturating_sub(2))))];
    if let Some(trouble) = trouble {
        lines.push(line(Tone::Alarm, &format!("{:<NAME$}{trouble}", "lost")));
    } else if !snapshot.is_ready {
        lines.push(line(Tone::Alarm, &format!("{:<NAME$}not ready: {}", "state", snapshot.status)));
    } else if snapshot.status != "ok" {
        lines.push(line(Tone::Alarm, &format!("{:<NAME$}{}", "state", snapshot.status)));
    }
    let always = ["RUNNING", "WAITING", "FAILED"];
    let runs = snapshot.runs.iter().map(|runs| (runs.status.to_string(), runs.count));
    let runs = runs.filter(|(status, count)| *count > 0 || always.contains(&status.as_str()));
    lines.extend(wrapped(
        "runs",
        runs.map(|(status, count)| format!("{status} {}", whole_number(count))),
        width,
    ));
    let waits = snapshot.waits.iter().filter(|waits| waits.count > 0);
    let waits =
        waits.map(|waits| format!("{} {}{}", waits.kind, whole_number(waits.count), plus(waits.more)));
    let waits: Vec<String> = waits.collect();
    let waits = if waits.is_empty() { vec!["none".to_owned()] } else { waits };
    lines.extend(wrapped("waits", waits, width));
    lines.push(late(snapshot, overdue.count > 0));
    let rates = [
        ("started", per_second.started),
        ("completed", per_second.completed),
        ("failed", per_second.failed),
        ("timers", per_second.timers),
        ("requests", per_second.requests),
        ("commits", per_second.commits),
    ];
    lines.extend(wrapped("per s", rates.map(|(name, rate)| format!("{name} {}", figure(rate))), width));
    let (commit, round) = (snapshot.commit_ms, snapshot.round_ms);
    let took =
        [("commit", commit), ("round", round)].map(|(name, took)| format!("{name} {}", quantiles(took)));
    lines.extend(wrapped("took", took, width));
    let memory = process.resident_bytes.map_or_else(unknown, |bytes| format!("{:.0} MB", bytes / 1e6));
    let processor = process.cpu_percent.map_or_else(unknown, |percent| format!("{percent:.0}%"));
    let node = [
        format!("cpu {processor}"),
        format!("memory {memory}"),
        format!("files {}", number(process.open_files)),
        format!("connections {}", number(process.connections)),
        format!("reads waiting {}", number(process.reads_waiting)),
    ];
    lines.extend(wrapped("node", node, width));
    lines
}

fn late(snapshot: &Snapshot, is_overdue: bool) -> Line {
    let overdue = &snapshot.overdue;
    let since =
        overdue.oldest_seconds.filter(|_| is_overdue).map(|age| format!(", the first for {}", seconds(age)));
    let held = snapshot.held.filter(|held| *held > 0).map(|held| format!("  held {held}"));
    let text = format!(
        "{:<NAME$}overdue {}{}{}  timers {} after their instant{}",
        "late",
        overdue.count,
        plus(overdue.more),
        since.unwrap_or_default(),
        quantiles(snapshot.lateness_ms),
        held.clone().unwrap_or_default(),
    );
    Line { text, tone: if is_overdue || held.is_some() { Tone::Alarm } else { Tone::Plain } }
}

/// A name and what belongs to it, on as many lines as it needs.
fn wrapped(name: &str, items: impl IntoIterator<Item = String>, width: usize) -> Vec<Line> {
    let mut lines = vec![format!("{name:<NAME$}")];
    for item in items {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > NAME && last + 2 + item.chars().count() > width {
            lines.push(" ".repeat(NAME));
        }
        if let Some(line) = lines.last_mut() {
            let gap = if line.chars().count() > NAME { "  " } else { "" };
            *line = format!("{line}{gap}{item}");
        }
    }
    lines.into_iter().map(|text| Line { text, tone: Tone::Plain }).collect()
}

/// A list as lines, no more than there is room for: its title, and its rows.
fn list(snapshot: &Snapshot, view: &View, tab: Tab, width: usize, room: usize) -> Vec<Line> {
    let (table, count) = table(snapshot, tab);
    let mut title = format!("{} {count}, by {}", tab.name(), view.sort(tab));
    if tab == view.tab {
        let others = (1..Tab::ALL.len()).map(|number| tab.after(number).name());
        title = format!("{title}    {}", others.collect::<Vec<_>>().join("  "));
    }
    let mut lines = vec![line(Tone::Title, &format!("{title:<width$}"))];
    let rows = if table.is_empty() { vec!["(none)".to_owned()] } else { table.lines(Some(width)) };
    for (number, row) in rows.iter().take(room.saturating_sub(1)).enumerate() {
        lines.push(line(if number == 0 { Tone::Quiet } else { Tone::Plain }, row));
    }
    lines
}

fn table(snapshot: &Snapshot, tab: Tab) -> (Table, usize) {
    let now = snapshot.at;
    let none = || "-".to_owned();
    match tab {
        Tab::Due => {
            let columns = [
                whole("DUE"),
                whole("KIND"),
                shortening("WORKFLOW"),
                shortening("STEP"),
                optional("SINCE"),
                whole("WAIT"),
            ];
            let mut table = Table::new(columns);
            for due in &snapshot.due {
                let at = due.resume_at.map_or_else(none, |at| times::relative(at, now));
                let (workflow, step) =
                    (due.workflow.clone().unwrap_or_else(none), due.step.clone().unwrap_or_else(none));
                table.row([at, due.kind.clone(), workflow, step, since(due.created_at, now), due.id.clone()]);
            }
            (table, snapshot.due.len())
        }
        Tab::Tasks => {
            let columns = [
                shortening("HANDLER"),
                whole("READY"),
                whole("OLDEST"),
                whole("LEASED"),
                whole("ENDED/S"),
                optional("WORKSPACE"),
            ];
            let mut table = Table::new(columns);
            for tasks in &snapshot.tasks {
                let oldest = if tasks.ready > 0.0 { seconds(tasks.oldest_ready_seconds) } else { none() };
                let [ready, leased] = [tasks.ready, tasks.leased].map(|count| number(Some(count)));
                let ended = figure(Some(tasks.ended_per_second));
                table.row([tasks.handler.clone(), ready, oldest, leased, ended, tasks.workspace.clone()]);
            }
            (table, snapshot.tasks.len())
        }
        Tab::Workflows => {
            let columns = [
                shortening("WORKFLOW"),
                whole("STARTED/S"),
                whole("COMPLETED/S"),
                whole("FAILED/S"),
                whole("FAILED"),
                optional("WORKSPACE"),
            ];
            let mut table = Table::new(columns);
            for workflow in &snapshot.workflows {
                let rates =
                    [workflow.started_per_second, workflow.completed_per_second, workflow.failed_per_second];
                let [started, completed, failed] = rates.map(|rate| figure(Some(rate)));
                let all = number(Some(workflow.failed));
                table.row([
                    workflow.workflow.clone(),
                    started,
                    completed,
                    failed,
                    all,
                    workflow.workspace.clone(),
                ]);
            }
            (table, snapshot.workflows.len())
        }
        Tab::Workers => {
            let columns = [
                shortening("WORKER"),
                whole("TASKS"),
                whole("SEEN"),
                shortening("HANDLERS"),
                optional("BUILD"),
            ];
            let mut table = Table::new(columns);
            for worker in &snapshot.workers {
                let build = worker.build_id.clone().unwrap_or_else(none);
                let seen = since(worker.seen_at, now);
                table.row([
                    worker.id.clone(),
                    worker.tasks.to_string(),
                    seen,
                    worker.handlers.join(" "),
                    build,
                ]);
            }
            (table, snapshot.workers.len())
        }
    }
}

fn since(at: Timestamp, now: Timestamp) -> String {
    times::relative(at.min(now), now)
}

fn unknown() -> String {
    "-".to_owned()
}

fn plus(more: bool) -> &'static str {
    if more { "+" } else { "" }
}

/// `3m 20s`
fn seconds(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds, for people")]
    times::length((seconds * 1_000.0) as i64)
}

/// `p50 1.2 ms, p99 8 ms`
fn quantiles(Quantiles { p50, p99 }: Quantiles) -> String {
    let of = |value: Option<f64>| value.map_or_else(unknown, |ms| format!("{} ms", figure(Some(ms))));
    format!("p50 {} p99 {}", of(p50), of(p99))
}

/// Two digits that matter below ten.
fn figure(value: Option<f64>) -> String {
    match value {
        None => unknown(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value < 10.0 => format!("{value:.1}"),
        Some(value) => number(Some(value)),
    }
}

fn number(value: Option<f64>) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, for people")]
    value.map_or_else(unknown, |value| whole_number(value.round().max(0.0) as u64))
}

/// `1,204`
fn whole_number(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests;
