//! A record of a history as a line.

use std::io;

use crate::client::Record;
use crate::console::Console;
use crate::terminal::shortened;

/// Where the output goes elsewhere, a payload is cut at this.
const DETAIL_CHARS: usize = 400;
/// What stands elsewhere in the line, or is there for the engine alone.
const LEFT_OUT: [&str; 9] =
    ["at", "awaits", "number", "opens", "resumedFromWait", "runId", "waitpoint", "waitpointId", "wake"];

pub(crate) fn write(console: &mut Console<'_>, record: &Record) -> io::Result<()> {
    let time = record.time.strftime("%Y-%m-%d %H:%M:%S%.3f");
    let step = record.step_name.as_deref().unwrap_or("-");
    let mut parts = vec![format!("{:>4}  {time}  {:<22}  {step}", record.seq, record.r#type)];
    parts.extend(waiting(record));
    if record.r#type == "STEP_COMPLETED" && record.fields.get("waitpoint").is_some_and(|wait| !wait.is_null())
    {
        parts.push("after its wait".to_owned());
    }
    let fields =
        record.fields.iter().filter(|(name, value)| !LEFT_OUT.contains(&name.as_str()) && !value.is_null());
    let fields = fields.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
    if !fields.is_empty() {
        parts.push(shortened(&fields, DETAIL_CHARS));
    }
    parts.push(format!("by {}", record.by));
    let line = parts.join("  ");
    let width = console.width;
    console.line(&width.map_or(line.clone(), |width| shortened(&line, width)))
}

/// The waits that a record opens.
fn waiting(record: &Record) -> Option<String> {
    let opens = record.fields.get("opens")?.as_array()?;
    let waits = opens.iter().map(|wait| match (wait["kind"].as_str(), wait["resumeAt"].as_str()) {
        (kind, Some(until)) => format!("{} until {until}", kind.unwrap_or_default()),
        (kind, None) => kind.unwrap_or_default().to_owned(),
    });
    Some(waits.collect::<Vec<_>>().join(", ")).filter(|waits| !waits.is_empty())
}
