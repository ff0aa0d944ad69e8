//! The heartbeat thread of a node: it writes the node's sign of life, and reads which other nodes are alive and what
//! time it is by the store's clock.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use abide_store::Store;
use abide_store::cluster::{Cluster, NodeId};

use crate::clock::StoreClock;
use crate::error::Error;
use crate::request::{Control, Request};

/// The interval between two heartbeats of a node.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(500);

/// The heartbeat of a node, before its thread is started.
pub(crate) struct Heartbeat {
    pub(crate) node: NodeId,
    /// The nodes that were alive when this one began.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) clock: Arc<StoreClock>,
    cluster: Box<dyn Cluster>,
}

/// The thread of the heartbeat, which ends with the node.
pub(crate) struct HeartbeatThread {
    _stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl HeartbeatThread {
    /// Stops the thread. When it returns, the other nodes know that this one is gone.
    pub(crate) fn stop(self) {
        let HeartbeatThread { _stop, thread } = self;
        drop(_stop);
        // Nothing is left to be told if it panicked.
        drop(thread.join());
    }
}

impl Heartbeat {
    /// The first heartbeat of a node; `None` if nobody else writes to the store.
    pub(crate) fn of(store: &dyn Store, node: NodeId) -> Result<Option<Heartbeat>, Error> {
        let Some(mut cluster) = store.cluster()? else { return Ok(None) };
        let asked = Instant::now();
        let beat = cluster.heartbeat(node)?;
        let clock = Arc::new(StoreClock::new(beat.now, asked));
        Ok(Some(Heartbeat { node, nodes: beat.nodes, clock, cluster }))
    }

    pub(crate) fn start(
        mut self,
        queue: tokio::sync::mpsc::WeakSender<Request>,
    ) -> Result<HeartbeatThread, std::io::Error> {
        let (stop, stopped) = mpsc::channel();
        let beat = move || {
            let mut is_heard = true;
            loop {
                is_heard = self.heartbeat(&queue, is_heard);
                match stopped.recv_timeout(HEARTBEAT_EVERY) {
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
            // If it fails, the others notice after a while.
            let _ = self.cluster.leave(self.node);
        };
        let thread = std::thread::Builder::new().name("abide-heartbeat".to_owned()).spawn(beat)?;
        Ok(HeartbeatThread { _stop: stop, thread })
    }

    fn heartbeat(&mut self, queue: &tokio::sync::mpsc::WeakSender<Request>, was_heard: bool) -> bool {
        let asked = Instant::now();
        match self.cluster.heartbeat(self.node) {
            Ok(beat) => {
                self.clock.set(beat.now, asked);
                if let Some(queue) = queue.upgrade() {
                    // When there is no room, the next one will do.
                    drop(queue.try_send(Control::Nodes(beat.nodes).into()));
                }
                true
            }
            Err(error) => {
                if was_heard {
                    tracing::warn!(%error, "the store does not answer");
                }
                false
            }
        }
    }
}
