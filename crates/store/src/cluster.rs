//! What the nodes of a cluster know of each other: who is there, what time it is by the store's clock, and notifications
//! of what the others committed.

use std::sync::Arc;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::RunStatus;
use jiff::Timestamp;

use crate::Error;

/// A process that works on a store, from its opening to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u128);

/// Membership of a cluster. For one thread of a node.
pub trait Cluster: Send {
    /// Says that a node is there.
    fn heartbeat(&mut self, node: NodeId) -> Result<Heartbeat, Error>;

    /// Says that a node is not there any more.
    fn leave(&mut self, node: NodeId) -> Result<(), Error>;

    /// Calls `listener` with what other nodes commit, soon after they did, from another thread, until the store is
    /// dropped. Notifications may be lost: whoever depends on one looks for himself now and then.
    fn listen(&mut self, listener: Box<dyn Fn(Vec<ClusterNotification>) + Send + Sync>) -> Result<(), Error>;
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Heartbeat {
    /// The time by the store's clock, which is everybody's.
    pub now: Timestamp,
    /// The nodes seen lately, in one order for all.
    pub nodes: Vec<NodeId>,
}

/// What another node committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterNotification {
    RunChanged {
        run: RunId,
        workspace: WorkspaceId,
        status: RunStatus,
        version: u64,
    },
    TaskReady {
        workspace: WorkspaceId,
        queue: Arc<str>,
    },
    /// Notifications may have been lost until here.
    Missed,
}
