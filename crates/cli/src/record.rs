//! A record of a history as a line: its sentence, and with `--fields` what is behind it.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::console::Console;
use crate::terminal::shortened;

/// Where the output goes elsewhere, the fields are cut at this.
const FIELDS_CHARS: usize = 2_000;

/// A record of a history, of a server or of a run here, with all the fields it has.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) seq: u64,
    pub(crate) time: Timestamp,
    pub(crate) by: String,
    pub(crate) r#type: String,
    /// What it says, in a sentence.
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) step_name: Option<String>,
    #[serde(flatten)]
    pub(crate) fields: Map<String, Value>,
}

pub(crate) fn write(console: &mut Console<'_>, record: &Record) -> io::Result<()> {
    let Record { seq, time, r#type, text, .. } = record;
    let time = time.strftime("%Y-%m-%d %H:%M:%S%.3f");
    let line = format!("{seq:>4}  {time}  {text}  {type}");
    let width = console.width;
    console.line(&width.map_or(line.clone(), |width| shortened(&line, width)))
}

/// Who or what caused it, and its own fields.
pub(crate) fn write_fields(console: &mut Console<'_>, record: &Record) -> io::Result<()> {
    let fields = record.fields.iter().filter(|(_, value)| !value.is_null());
    let fields = fields.map(|(name, value)| format!("{name}={value}"));
    let all = [format!("by={}", record.by)].into_iter().chain(fields).collect::<Vec<_>>().join(" ");
    console
        .line(&format!("      {}", shortened(&all, console.width.unwrap_or(FIELDS_CHARS).saturating_sub(6))))
}
