//! The durable calls of a step's handler, as a list under it.

use std::io;

use abide_sdk::wire::{Step, StepCall, StepCallKind as Kind, StepCallStatus as Status};
use jiff::Timestamp;

use crate::console::Console;
use crate::terminal::{counted, shortened};
use crate::{steps, times};

const INDENT: &str = "      ";

pub(super) fn write(console: &mut Console<'_>, step: &Step) -> io::Result<()> {
    if let Some(omitted @ 1..) = step.journal_omitted {
        let before = counted(omitted, "call");
        console.line(&format!("{INDENT}… {before} before these; `abide history` has all"))?;
    }
    let lines = texts(&step.journal, console.now());
    let width = console.width.unwrap_or(usize::MAX);
    lines.iter().try_for_each(|line| console.line(&shortened(line, width)))
}

fn texts(calls: &[StepCall], now: Timestamp) -> Vec<String> {
    let names = calls.iter().map(|call| call.name.chars().count()).max().unwrap_or(0);
    let kinds = calls.iter().map(|call| kind(call).chars().count()).max().unwrap_or(0);
    let text = |call: &StepCall| {
        let (sign, name, kind, state) = (sign(call), &call.name, kind(call), state(call, now));
        format!("{INDENT}{sign} {name:<names$}  {kind:<kinds$}  {state}")
    };
    calls.iter().map(text).collect()
}

fn sign(call: &StepCall) -> char {
    match call.status {
        Status::Pending => steps::sign("WAITING"),
        Status::TimedOut => steps::sign("FAILED"),
        Status::Completed | Status::Failed | Status::Cancelled => steps::sign(call.status.as_str()),
    }
}

/// What a durable call does, in a word.
fn kind(call: &StepCall) -> &'static str {
    match call.kind {
        Kind::Run => "run",
        Kind::Delay => "sleep",
        Kind::Webhook => "call",
        Kind::Signal => "signal",
        Kind::Event => "event",
        Kind::Approval => "approval",
        Kind::Child => "child run",
        Kind::Pause => "pause",
        Kind::Retry | Kind::Schedule | Kind::Code | Kind::Capacity => call.kind.as_str(),
    }
}

fn state(call: &StepCall, now: Timestamp) -> String {
    let took = call.started_at.zip(call.ended_at);
    let took = took.map(|(from, to)| times::length(to.as_millisecond() - from.as_millisecond()));
    let until = call.until.map(|until| (times::absolute(until), times::relative(until, now)));
    let error = call.error.as_deref().unwrap_or_default();
    match (call.status, call.kind, until) {
        (Status::Pending, Kind::Run, Some((_, left))) => {
            format!("attempt {} {left}, after: {error}", call.attempts + 1)
        }
        (Status::Pending, Kind::Run, None) => format!("attempt {}, after: {error}", call.attempts + 1),
        (Status::Pending, Kind::Delay | Kind::Pause, Some((at, left))) => format!("until {at} ({left})"),
        (Status::Pending, _, Some((at, left))) => format!("waits until {at} at the latest ({left})"),
        (Status::Pending, _, None) => "waits".to_owned(),
        (Status::Completed, Kind::Run, _) if call.attempts > 1 => {
            format!("{}  {}", took.unwrap_or_default(), counted(u64::from(call.attempts), "attempt"))
        }
        (Status::Completed, _, _) => took.unwrap_or_default(),
        (Status::Failed, _, _) => format!("failed: {error}"),
        (status @ (Status::TimedOut | Status::Cancelled), _, _) => {
            let status = status.as_str().to_lowercase().replace('_', " ");
            format!("{status} after {}", took.unwrap_or_default())
        }
    }
}
