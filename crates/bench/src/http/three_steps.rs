//! W1 over HTTP: a request starts a run, and its answer is the run as it ended.

use super::connection::{Connection, says};
use super::server::Server;
use super::worker::Hired;
use crate::Bed;
use crate::format::Unit;
use crate::machine;
use crate::report::Report;
use crate::starters::{self, Pace};
use crate::three_steps::{self, HANDLER, WORKFLOW};

pub(crate) async fn measure(runs: usize, bed: &Bed) -> anyhow::Result<Report> {
    let server = Server::start(bed)?;
    server.deploy(three_steps::workflow()).await?;
    let worker = Hired::new(server.address(), HANDLER)?;
    let warm_up = three_steps::warm_up(runs);
    complete("warming up", &server, warm_up, bed.starters).await?;
    let cpu = || Some([server.cpu_seconds()?, worker.cpu_seconds()?, machine::cpu_seconds()?]);
    let before = cpu();
    let pace = complete("completed", &server, runs, bed.starters).await?;
    let after = cpu();
    server.ensure_completed(warm_up + runs).await?;

    let mut part = three_steps::part(runs, bed.starters, &pace);
    if let Some((after, before)) = after.zip(before) {
        let per_thousand = |seconds: f64| seconds * 1e6 / runs as f64;
        let [server, worker, client] = [0, 1, 2].map(|who| per_thousand(after[who] - before[who]));
        for (key, name, value) in [
            ("cpuMsPer1000Runs", "CPU per 1,000 runs", server + worker + client),
            ("serverCpuMsPer1000Runs", "of that, the server", server),
            ("workerCpuMsPer1000Runs", "of that, the worker", worker),
            ("clientCpuMsPer1000Runs", "of that, the client", client),
        ] {
            part.put(key, name, Unit::Milliseconds, value);
        }
    }
    Ok(Report::new("w1", [part, server.metrics().await?.engine()?]))
}

async fn complete(what: &'static str, server: &Server, runs: usize, starters: usize) -> anyhow::Result<Pace> {
    /// The path that starts a run and waits for its result, longer than any run here takes.
    const START: &str = "/api/v1/workflow-runs?wait=60s";
    let connections = server.connections(starters).await?;
    starters::repeat_with(what, runs, connections, |mut connection: Connection, _| async move {
        let body = format!("{{\"name\":\"{WORKFLOW}\",\"input\":{{}}}}");
        let ended = connection.post(START, &body).await?.expect(200)?;
        anyhow::ensure!(says(ended, "\"status\":\"COMPLETED\""), "a run ended otherwise");
        Ok(connection)
    })
    .await
}
