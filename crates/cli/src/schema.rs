//! `abide schema`: the JSON Schema of a workflow.

use std::io::{self, Write};
use std::process::ExitCode;

use abide_definition::json_schema;
use clap::Args;

/// Print the JSON Schema of a workflow, for editors.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide schema > workflow.schema.json\n\nIn a JSON file, `\"$schema\": \"workflow.schema.json\"` then makes editors complete and check fields;\nin a YAML file, the first line `# yaml-language-server: $schema=workflow.schema.json` does."
)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self, out: &mut dyn Write) -> io::Result<ExitCode> {
        serde_json::to_writer_pretty(&mut *out, &json_schema())?;
        writeln!(out)?;
        Ok(ExitCode::SUCCESS)
    }
}
