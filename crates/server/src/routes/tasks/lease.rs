//! Lease tokens: opaque to the worker, they name the run, the place in it, the execution and the workspace.

use abide_core::id::{RunId, StepAddress, WorkspaceId};

use crate::app::App;
use crate::caller::Caller;
use crate::problem::{Code, Problem};

/// What tells a lease token from other things the server signs.
const WHAT: &str = "lease";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) run: RunId,
    pub(crate) at: StepAddress,
    pub(crate) lease_epoch: u32,
}

impl Lease {
    fn write(self, workspace: WorkspaceId) -> Vec<u8> {
        let Lease { run, at, lease_epoch } = self;
        let mut bytes = Vec::with_capacity(31);
        bytes.extend(workspace.0.to_be_bytes());
        bytes.extend(run.0.to_be_bytes());
        bytes.extend(lease_epoch.to_be_bytes());
        bytes.extend(at.step.to_be_bytes());
        bytes.extend(at.item.map(u32::to_be_bytes).into_iter().flatten());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<(WorkspaceId, Lease)> {
        let (workspace, rest) = bytes.split_first_chunk()?;
        let (run, rest) = rest.split_first_chunk()?;
        let (lease_epoch, rest) = rest.split_first_chunk()?;
        let (step, rest) = rest.split_first_chunk()?;
        let item = match rest {
            [] => None,
            rest => Some(u32::from_be_bytes(rest.try_into().ok()?)),
        };
        let at = StepAddress { step: u16::from_be_bytes(*step), item };
        let run = RunId(u128::from_be_bytes(*run));
        let lease = Lease { run, at, lease_epoch: u32::from_be_bytes(*lease_epoch) };
        Some((WorkspaceId(u32::from_be_bytes(*workspace)), lease))
    }
}

impl App {
    pub(in crate::routes) fn lease_token(&self, caller: &Caller, lease: Lease) -> String {
        self.seal_lease(caller.workspace, lease)
    }

    pub(crate) fn seal_lease(&self, workspace: WorkspaceId, lease: Lease) -> String {
        self.links.seal(WHAT, &lease.write(workspace))
    }

    /// The lease that a token stands for, if it is one of the caller's workspace.
    pub(in crate::routes) async fn lease(&self, caller: &Caller, token: &str) -> Result<Lease, Problem> {
        let content = self.links.unseal(&self.engine, WHAT, token).await;
        let lease = content.and_then(|bytes| Lease::read(&bytes));
        let own = lease.filter(|(workspace, _)| *workspace == caller.workspace).map(|(_, lease)| lease);
        let bad = || {
            let detail = "/leaseToken: the lease token is not one that this server made for this worker";
            Problem::new(Code::BadLease, detail).at("/leaseToken")
        };
        own.ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_read_as_it_was_written() {
        for at in [StepAddress::step(7), StepAddress::item(7, 9_999)] {
            let lease = Lease { run: RunId(u128::MAX - 5), at, lease_epoch: 3 };
            assert_eq!(Lease::read(&lease.write(WorkspaceId(9))), Some((WorkspaceId(9), lease)));
        }
        assert_eq!(Lease::read(&[0; 27]), None);
    }
}
