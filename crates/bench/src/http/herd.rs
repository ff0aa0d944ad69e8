//! W2 over HTTP: sleepers, a request each; the worker notes when they wake.

use jiff::Timestamp;

use super::connection::Connection;
use super::server::Server;
use super::worker::Hired;
use crate::herd::{Cost, Herd};
use crate::report::{Quantiles, Report};
use crate::sleeper::{self, Due};
use crate::{Bed, scratch, starters};

pub(crate) async fn measure(herd: &Herd, bed: &Bed) -> anyhow::Result<Report> {
    let (server, store, count) = (Server::start(bed)?, bed.scratch.store(), herd.sleepers);
    server.deploy(sleeper::workflow()).await?;
    let connections = server.connections(bed.starters).await?;
    let before = (server.resident_bytes(), scratch::disk_bytes(&store));
    let due = Due::after(Timestamp::now(), herd.due_in, herd.spread);
    let worker = Hired::for_sleepers(server.address(), sleeper::WOKE, count, due.last_ms())?;
    let pace = starters::repeat_with("created", count, connections, move |mut connection: Connection, n| {
        let due = due.of(n, count);
        async move {
            let body = format!("{{\"name\":\"{}\",\"input\":{{\"n\":{n},\"due\":{due}}}}}", sleeper::SLEEPER);
            connection.post("/api/v1/workflow-runs", &body).await?.expect(201)?;
            Ok(connection)
        }
    });
    let pace = pace.await?;
    due.ensure_ahead()?;
    let cost = Cost {
        seconds: pace.seconds,
        latency: Quantiles::of(&pace.latency),
        memory: server.resident_bytes().zip(before.0).map(|(after, before)| after.saturating_sub(before)),
        disk: scratch::disk_bytes(&store).saturating_sub(before.1),
    };
    let told = worker.tell()?;
    if told.lost == 0 {
        server.ensure_completed(count).await?;
    }
    let ended = Timestamp::now();
    let engine = server.metrics().await?.engine()?;
    Ok(Report::new("w2", [herd.asleep(bed, &cost), herd.awake(&told, due, Some(ended)), engine]))
}
