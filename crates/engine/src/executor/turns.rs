//! Turns of outgoing calls. Each kind of call has turns of its own, shared fairly between workspaces, and a host has
//! no more than its part of a workspace's: one that hangs holds up those who call it, and nobody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use abide_core::id::WorkspaceId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fair::{Fair, Turn};

/// How many calls of one kind may be under way at the same time; more wait for their turn.
pub const CALLS_AT_ONCE: usize = 512;
/// How many calls one workspace may have under way to one host.
pub const CALLS_TO_HOST: usize = 64;

type Host = (WorkspaceId, String);

pub(super) struct Turns {
    all: Arc<Fair<WorkspaceId>>,
    hosts: Mutex<HashMap<Host, Weak<Semaphore>>>,
}

/// The turn of a call, held while it is under way.
pub(super) struct CallTurn {
    _host: Option<OwnedSemaphorePermit>,
    _turn: Option<Turn<WorkspaceId>>,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns { all: Fair::keeping(CALLS_AT_ONCE), hosts: Mutex::default() }
    }

    pub(super) async fn turn(&self, workspace: WorkspaceId, url: &str) -> CallTurn {
        let host = self.host((workspace, host_of(url))).acquire_owned().await;
        // Neither is ever closed.
        CallTurn { _host: host.ok(), _turn: self.all.turn(workspace).await }
    }

    pub(super) fn limit(&self, any: Option<usize>, of: HashMap<WorkspaceId, usize>) {
        self.all.limit(any, of);
    }

    pub(super) fn share(&self, of: HashMap<WorkspaceId, usize>) {
        self.all.share(of);
    }

    fn host(&self, host: Host) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts.get(&host).and_then(Weak::upgrade) {
            return known;
        }
        // There are as many as there are calls, but for those that are over.
        if hosts.len() >= 2 * CALLS_AT_ONCE {
            hosts.retain(|_, known| known.strong_count() > 0);
        }
        let turns = Arc::new(Semaphore::new(CALLS_TO_HOST));
        hosts.insert(host, Arc::downgrade(&turns));
        turns
    }
}

/// The host of a URL with its port, in lower case; URLs that cannot be read count as one host.
fn host_of(url: &str) -> String {
    let authority = url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    let host = authority.map(|authority| authority.rsplit('@').next().unwrap_or(authority));
    host.unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_host_that_hangs_leaves_turns_for_other_hosts_and_other_workspaces() {
        let turns = Turns::new();
        let (one, other) = (WorkspaceId::DEFAULT, WorkspaceId(7));
        let take = |workspace, url: &str| now(turns.turn(workspace, url));
        let hanging: Vec<_> =
            (0..CALLS_TO_HOST).map(|_| take(one, "https://hangs.example/a").unwrap()).collect();
        assert!(take(one, "https://u:p@HANGS.example/b").is_none());
        assert!(
            take(one, "https://works.example").is_some() && take(other, "https://hangs.example").is_some()
        );
        let many: Vec<_> =
            (0..CALLS_AT_ONCE).map_while(|host| take(one, &format!("http://h{host}/"))).collect();
        assert_eq!(many.len() + hanging.len(), CALLS_AT_ONCE / 2);
        assert!(take(other, "https://works.example").is_some());
        drop((hanging, many));
        assert!(take(one, "https://hangs.example/a").is_some());
    }

    #[test]
    fn hosts_are_forgotten_with_their_calls() {
        let turns = Turns::new();
        for host in 0..10 * CALLS_AT_ONCE {
            drop(now(turns.turn(WorkspaceId::DEFAULT, &format!("http://h{host}/"))));
        }
        assert!(turns.hosts.lock().unwrap().len() <= 2 * CALLS_AT_ONCE);
    }
}
