//! W3 over HTTP: a request starts a run that waits, and a request sends the event it waits for. When that is
//! answered, the run has ended in the same commit; that it has is counted afterwards.

use super::connection::{Connection, says};
use super::server::Server;
use crate::events::{self, WORKFLOW, event_id};
use crate::report::Report;
use crate::{Bed, starters};

pub(crate) async fn measure(runs: usize, bed: &Bed) -> anyhow::Result<Report> {
    let server = Server::start(bed)?;
    server.deploy(events::workflow()).await?;
    let connections = server.connections(bed.starters).await?;
    let waiting =
        starters::repeat_with("waiting", runs, connections, |mut connection: Connection, n| async move {
            let body = format!("{{\"name\":\"{WORKFLOW}\",\"input\":{{\"n\":{n}}}}}");
            connection.post("/api/v1/workflow-runs", &body).await?.expect(201)?;
            Ok(connection)
        });
    let waiting = waiting.await?;
    let connections = server.connections(bed.starters).await?;
    let sent =
        starters::repeat_with("events", runs, connections, |mut connection: Connection, n| async move {
            let body = format!("{{\"eventId\":\"{}\"}}", event_id(n));
            let woken = connection.post("/api/v1/events", &body).await?.expect(200)?;
            anyhow::ensure!(says(woken, "\"waiters\":[{"), "an event woke nobody");
            Ok(connection)
        });
    let sent = sent.await?;
    server.ensure_completed(runs).await?;
    let part = events::part(runs, bed.starters, &waiting, &sent);
    Ok(Report::new("w3", [part, server.metrics().await?.engine()?]))
}
