//! The durable calls of a step's handler, as a list under it.

use std::io;

use jiff::Timestamp;

use crate::client::{Call, Step};
use crate::console::Console;
use crate::terminal::{counted, shortened};
use crate::{steps, times};

const INDENT: &str = "      ";

pub(super) fn write(console: &mut Console<'_>, step: &Step) -> io::Result<()> {
    if step.journal_omitted > 0 {
        let before = counted(step.journal_omitted as u64, "call");
        console.line(&format!("{INDENT}… {before} before these; `abide history` has all"))?;
    }
    let lines = texts(&step.journal, console.now());
    let width = console.width.unwrap_or(usize::MAX);
    lines.iter().try_for_each(|line| console.line(&shortened(line, width)))
}

fn texts(calls: &[Call], now: Timestamp) -> Vec<String> {
    let names = calls.iter().map(|call| call.name.chars().count()).max().unwrap_or(0);
    let kinds = calls.iter().map(|call| kind(call).chars().count()).max().unwrap_or(0);
    let text = |call: &Call| {
        let (sign, name, kind, state) = (sign(call), &call.name, kind(call), state(call, now));
        format!("{INDENT}{sign} {name:<names$}  {kind:<kinds$}  {state}")
    };
    calls.iter().map(text).collect()
}

fn sign(call: &Call) -> char {
    match call.status.as_str() {
        "PENDING" => steps::sign("WAITING"),
        "TIMED_OUT" => steps::sign("FAILED"),
        status => steps::sign(status),
    }
}

/// What a durable call does, in a word.
fn kind(call: &Call) -> &str {
    match call.kind.as_str() {
        "RUN" => "run",
        "DELAY" => "sleep",
        "WEBHOOK" => "call",
        "SIGNAL" => "signal",
        "EVENT" => "event",
        "APPROVAL" => "approval",
        "CHILD" => "child run",
        "PAUSE" => "pause",
        other => other,
    }
}

fn state(call: &Call, now: Timestamp) -> String {
    let took = call.started_at.zip(call.ended_at);
    let took = took.map(|(from, to)| times::length(to.as_millisecond() - from.as_millisecond()));
    let until = call.until.map(|until| (times::absolute(until), times::relative(until, now)));
    let error = call.error.as_deref().unwrap_or_default();
    match (call.status.as_str(), call.kind.as_str(), until) {
        ("PENDING", "RUN", Some((_, left))) => {
            format!("attempt {} {left}, after: {error}", call.attempts + 1)
        }
        ("PENDING", "RUN", None) => format!("attempt {}, after: {error}", call.attempts + 1),
        ("PENDING", "DELAY" | "PAUSE", Some((at, left))) => format!("until {at} ({left})"),
        ("PENDING", _, Some((at, left))) => format!("waits until {at} at the latest ({left})"),
        ("PENDING", _, None) => "waits".to_owned(),
        ("COMPLETED", "RUN", _) if call.attempts > 1 => {
            format!("{}  {}", took.unwrap_or_default(), counted(u64::from(call.attempts), "attempt"))
        }
        ("COMPLETED", _, _) => took.unwrap_or_default(),
        ("FAILED", _, _) => format!("failed: {error}"),
        (status, _, _) => {
            format!("{} after {}", status.to_lowercase().replace('_', " "), took.unwrap_or_default())
        }
    }
}
