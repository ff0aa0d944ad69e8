//! `abide deploy`: workflows are checked here, where their lines are known, and stored there.

use std::path::PathBuf;

use abide_sdk::wire::DeployedDefinition;
use clap::Args;

use super::{Api, deploy_check};
use crate::check::{Outcome, check_file};
use crate::client::{Error, Exit};
use crate::console::Console;

/// Store workflows on the server. A version never changes; the very same again is no error.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide deploy examples/payment.json\n  abide deploy workflows/*.yaml\n  cat workflow.yaml | abide deploy -\n  abide deploy --check order.yaml\n\nWith --check it exits with 1 when the new version would strand a run that waits: `abide move` would refuse to take it over."
)]
pub(crate) struct Deploy {
    /// Files in JSON or YAML; `-` reads the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Store nothing: say which of the runs that wait would fit the new version, and which not
    #[arg(long)]
    check: bool,
    /// With --check: only runs of this version
    #[arg(long, value_name = "VERSION", requires = "check")]
    from: Option<String>,
    #[command(flatten)]
    api: Api,
}

impl Deploy {
    /// Every file is tried; the worst decides the exit code.
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        let mut worst: Option<Exit> = None;
        for file in &self.files {
            let outcome = check_file(file);
            match self.deploy(console, &outcome).await {
                Ok(()) => {}
                Err(error @ (Error::Unreachable { .. } | Error::Io(_))) => return Err(error),
                Err(error) => {
                    let exit = error.exit();
                    if !matches!(error, Error::Said(_)) {
                        console.note(&format!("{}: {error}", outcome.file))?;
                    }
                    worst = worst.max(Some(exit));
                }
            }
        }
        worst.map_or(Ok(()), |exit| Err(Error::Said(exit)))
    }

    async fn deploy(&self, console: &mut Console<'_>, outcome: &Outcome) -> Result<(), Error> {
        match &outcome.result {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => {
                console.note(&outcome.findings()?)?;
                return Err(Error::Said(Exit::Failed));
            }
            Err(why) => return Err(Error::Usage(format!("cannot be read: {why}"))),
        }
        if self.check {
            return deploy_check::check_runs(&self.api, console, outcome, self.from.as_deref()).await;
        }
        let client = self.api.open()?;
        // JSON is YAML, too.
        let answer = client.post_yaml(&["workflow-definitions"], &[], &outcome.text).await?;
        self.api.show(console, &answer, |console, deployed: DeployedDefinition| {
            let DeployedDefinition { id, name, version, created, .. } = deployed;
            let news = if created { "stored" } else { "there already" };
            console.line(&format!("{name} {version}  {id}  {news}"))
        })?;
        if !self.api.json {
            console.note(&outcome.findings()?)?;
        }
        Ok(())
    }
}
