//! One line of JSON for every call.

use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::request::Protocol;
use crate::script::Usage;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged {
    /// From one, in the order in which the calls came.
    pub call: u64,
    pub protocol: Protocol,
    pub model: String,
    pub stream: bool,
    /// The rule that answered.
    pub rule: Option<usize>,
    pub status: u16,
    /// What the caller pays for.
    pub usage: Option<Usage>,
    pub request: Value,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<Logged>>,
    file: Option<Mutex<File>>,
}

impl Log {
    pub(crate) fn to_file(file: Option<File>) -> Log {
        Log { lines: Mutex::default(), file: file.map(Mutex::new) }
    }

    pub(crate) fn write(&self, logged: Logged) -> std::io::Result<()> {
        if let Some(file) = &self.file {
            let mut line = serde_json::to_vec(&logged)?;
            line.push(b'\n');
            file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)?;
        }
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(logged);
        Ok(())
    }

    pub(crate) fn lines(&self) -> Vec<Logged> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
