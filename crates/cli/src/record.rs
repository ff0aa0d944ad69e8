//! A record of a history as a line.

use std::io;

use serde_json::Value;

use crate::client::Record;
use crate::console::Console;
use crate::terminal::shortened;

/// Where the output goes elsewhere, a payload is cut at this.
const DETAIL_CHARS: usize = 400;
/// What stands elsewhere in the line, or is only a number that a name stands for.
const LEFT_OUT: [&str; 4] = ["at", "resumedFromWait", "waitpointId", "number"];

pub(crate) fn write(console: &mut Console<'_>, record: &Record) -> io::Result<()> {
    let time = record.time.strftime("%Y-%m-%d %H:%M:%S%.3f");
    let step = record.step_name.as_deref().unwrap_or_default();
    let mut line = format!("{:>4}  {time}  {:<24} {step}", record.seq, record.r#type);
    if record.fields.get("resumedFromWait") == Some(&Value::Bool(true)) {
        line.push_str("  after its wait");
    }
    let fields =
        record.fields.iter().filter(|(name, value)| !LEFT_OUT.contains(&name.as_str()) && !value.is_null());
    let detail = fields.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
    if !detail.is_empty() {
        line = format!("{}  {}", line.trim_end(), shortened(&detail, DETAIL_CHARS));
    }
    if record.by != "engine" {
        line = format!("{}  by {}", line.trim_end(), record.by);
    }
    let width = console.width;
    console.line(&width.map_or(line.clone(), |width| shortened(&line, width)))
}
