//! `abide check`: everything that is wrong or doubtful in workflow files, and a drawing of those that are good.

mod draw;
mod report;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use abide_core::limits;
use abide_definition::time::Millis;
use abide_definition::{Checked, Definition, Rejected};
use clap::Args;

/// Check workflow files: all problems and warnings, each with its place.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide check workflow.yaml\n  abide check examples/*.json\n  cat workflow.json | abide check -\n  abide check --json workflow.yaml | jq '.[].problems[].pointer'\n\nExits with 0 when all files are good, 1 when one has problems, 2 when one cannot be read."
)]
pub(crate) struct Check {
    /// Files in JSON or YAML; `-` reads the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the findings as JSON: a list with one object a file
    #[arg(long)]
    json: bool,
}

/// What became of one file.
pub(crate) struct Outcome {
    /// As it was named.
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) result: Result<Result<Checked, Rejected>, io::Error>,
}

impl Check {
    pub(crate) fn run(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let outcomes: Vec<Outcome> = self.files.iter().map(|file| check_file(file)).collect();
        if self.json {
            report::as_json(&outcomes, out)?;
        } else {
            for outcome in &outcomes {
                report::as_text(outcome, out, err)?;
            }
        }
        out.flush()?;
        Ok(ExitCode::from(outcomes.iter().map(Outcome::exit_code).max().unwrap_or(0)))
    }
}

impl Outcome {
    /// What was found, line by line; empty for a file without doubts.
    pub(crate) fn findings(&self) -> io::Result<String> {
        let mut text = Vec::new();
        report::all_findings(self, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn exit_code(&self) -> u8 {
        match &self.result {
            Ok(Ok(_)) => 0,
            Ok(Err(_)) => 1,
            Err(_) => 2,
        }
    }
}

pub(crate) fn check_file(path: &Path) -> Outcome {
    let is_stdin = path == Path::new("-");
    let file = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let read = if is_stdin { read_text(io::stdin().lock()) } else { read_file(path) };
    match read {
        Ok(text) => check_text(file, text, limits::WAIT),
        Err(error) => Outcome { file, text: String::new(), result: Err(error) },
    }
}

/// `max_wait` is the longest that a wait may take.
pub(crate) fn check_text(file: String, text: String, max_wait: Millis) -> Outcome {
    Outcome { file, result: Ok(Definition::from_text_within(&text, max_wait)), text }
}

pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    File::open(path).and_then(read_text)
}

/// Reads no more than is needed to see that it is too much.
fn read_text(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(limits::DEFINITION_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limits::DEFINITION_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8"))
}
