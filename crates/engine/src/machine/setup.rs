//! The setup of a machine: the roles of the store that it reads, and what its owner may set.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::bounds::Bounds;
use abide_store::cluster::NodeId;
use abide_store::tasks::Tasks;
use abide_store::{Read, Suspect};
use tokio::sync::mpsc;

use crate::followers::Followers;
use crate::holds::Holds;
use crate::limits::{Limits, OpenRuns};
use crate::request::Request;
use crate::shares::Shares;
use crate::watch::Watch;

/// The parts that a machine is built from.
pub struct Setup {
    /// The store that decisions read from.
    pub store: Box<dyn Read>,
    /// The id of this node, and the task board that nodes share; `None` if the store is this node's alone.
    pub node: Option<(NodeId, Box<dyn Tasks>)>,
    /// The seed of ids and jitter.
    pub seed: u64,
    /// Whether time passes by itself. Otherwise the machine does not wait for it.
    pub time_passes: bool,
    /// How many rounds may be committed at once.
    pub committers: usize,
    /// Whether the machine only reads, and decides nothing.
    pub paused: bool,
    /// The names of handlers that are called at a URL.
    pub urls: BTreeSet<Arc<str>>,
    /// The way back of tasks whose poller has gone: they come again as requests.
    pub back: mpsc::WeakSender<Request>,
    /// What earlier processes were deciding when they died.
    pub suspects: Vec<Suspect>,
    pub bounds: Bounds,
    pub limits: Limits,
    pub(crate) open_runs: OpenRuns,
    pub(crate) shares: Shares,
    pub(crate) followers: Followers,
    pub(crate) holds: Holds,
    pub(crate) watch: Arc<Watch>,
}

impl Setup {
    /// The setup of a node that has the store to itself, with everything else as it usually is.
    pub fn new(store: Box<dyn Read>, seed: u64, back: mpsc::WeakSender<Request>) -> Setup {
        Setup {
            store,
            node: None,
            seed,
            time_passes: true,
            committers: 1,
            paused: false,
            urls: BTreeSet::new(),
            back,
            suspects: Vec::new(),
            bounds: Bounds::default(),
            limits: Limits::default(),
            open_runs: OpenRuns::default(),
            shares: Shares::default(),
            followers: Followers::default(),
            holds: Holds::default(),
            watch: Arc::default(),
        }
    }
}
