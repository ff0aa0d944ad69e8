//! The nodes of a cluster. Heartbeats are not synced: a crash of the server takes them along, and the next one is soon.

use jiff::Timestamp;

use crate::Error;
use crate::cluster::{Cluster, ClusterNotification, Heartbeat, NodeId};
use crate::postgres::column::Id;
use crate::postgres::{Handle, Unsynced, notifications};
use crate::row::RowReader;

/// A node without a heartbeat for so long does not count as there.
const SEEN_US: i64 = 1_200_000;
/// The row of a node without a heartbeat for so long is removed.
const FORGOTTEN_US: i64 = 60_000_000;

impl Cluster for Handle<Unsynced> {
    fn heartbeat(&mut self, node: NodeId) -> Result<Heartbeat, Error> {
        const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let alive = format!(
            "INSERT INTO nodes (id, seen_at) VALUES ($1, {NOW}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at"
        );
        let others = format!("SELECT id, {NOW} FROM nodes WHERE seen_at > {NOW} - $1 ORDER BY id");
        let gone = format!(
            "DELETE FROM nodes WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM nodes WHERE seen_at < {NOW} - $1 FOR UPDATE SKIP LOCKED))"
        );
        let rows = self.connection.ask(async |session| {
            session.count(&alive, &[&Id(node.0)]).await?;
            session.count(&gone, &[&FORGOTTEN_US]).await?;
            session.rows(&others, &[&SEEN_US]).await
        })?;
        let last = rows.last().ok_or_else(|| Error::Corrupt("a node that is not there".to_owned()))?;
        let now: i64 = last.try_get(1)?;
        let now = Timestamp::from_microsecond(now).map_err(|error| Error::Corrupt(error.to_string()))?;
        let nodes: Vec<NodeId> =
            rows.iter().map(|row| Ok(NodeId(row.id(0)?))).collect::<Result<_, Error>>()?;
        if let Some(notifier) = self.connection.notifier.get() {
            notifier.set_alone(nodes == [node]);
        }
        Ok(Heartbeat { now, nodes })
    }

    fn leave(&mut self, node: NodeId) -> Result<(), Error> {
        let sql = "DELETE FROM nodes WHERE id = $1";
        self.connection.ask(async |session| session.count(sql, &[&Id(node.0)]).await).map(drop)
    }

    fn listen(&mut self, listener: Box<dyn Fn(Vec<ClusterNotification>) + Send + Sync>) -> Result<(), Error> {
        notifications::begin(&self.connection, listener);
        Ok(())
    }
}
