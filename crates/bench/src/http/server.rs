//! The server that is measured, started as a user would, and what it says of itself.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use abide_definition::document::Workflow;
use anyhow::Context;

use super::connection::Connection;
use super::metrics::Metrics;
use crate::Bed;
use crate::child::Kin;
use crate::machine;

/// A server in a process of its own, which is killed when this is dropped.
pub(super) struct Server {
    kin: Kin,
    address: SocketAddr,
}

impl Server {
    pub(super) fn start(bed: &Bed) -> anyhow::Result<Server> {
        let store = std::path::absolute(bed.scratch.store())?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--store"]);
        command.arg(format!("sqlite:{}", store.display()));
        // Settings of whoever measures are not measured: neither a file here nor the environment.
        command.current_dir(store.parent().unwrap_or(Path::new(".")));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ABIDE_"))
        {
            command.env_remove(name);
        }
        let mut kin = Kin::spawn(&mut command)?;
        let greeting = kin.hear_line()?;
        let address = greeting.trim_end().rsplit("http://").next().and_then(|text| text.parse().ok());
        let address = address.with_context(|| format!("the server does not say where it is: {greeting}"))?;
        Ok(Server { kin, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn connections(&self, count: usize) -> anyhow::Result<Vec<Connection>> {
        Connection::open_many(self.address, count).await
    }

    pub(super) async fn deploy(&self, workflow: Workflow) -> anyhow::Result<()> {
        let document = serde_json::to_string(&workflow)?;
        let mut connection = Connection::open(self.address).await?;
        connection.post("/api/v1/workflow-definitions", &document).await?.expect(201)?;
        Ok(())
    }

    pub(super) async fn metrics(&self) -> anyhow::Result<Metrics> {
        let mut connection = Connection::open(self.address).await?;
        let page = connection.get("/metrics").await?.expect(200)?;
        Ok(Metrics::read(std::str::from_utf8(page)?))
    }

    /// Fails unless so many runs have completed: an answer alone is not believed.
    pub(super) async fn ensure_completed(&self, runs: usize) -> anyhow::Result<()> {
        let completed = self.metrics().await?.sum("abide_runs", "status", "COMPLETED")?;
        anyhow::ensure!(completed == runs as f64, "{completed} runs have completed, not {runs}");
        Ok(())
    }

    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        machine::cpu_seconds_of(self.kin.id())
    }

    pub(super) fn resident_bytes(&self) -> Option<u64> {
        machine::resident_bytes_of(self.kin.id())
    }
}
