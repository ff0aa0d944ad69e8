//! `abide completions`: what a shell needs to complete commands and flags.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Write completions for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide completions bash > ~/.local/share/bash-completion/completions/abide\n  abide completions zsh > ~/.zfunc/_abide\n  abide completions fish > ~/.config/fish/completions/abide.fish"
)]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run<Parser: CommandFactory>(&self, out: &mut dyn Write) -> io::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Parser::command(), "abide", &mut script);
        out.write_all(&script)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
