//! Resume links: which of them are still valid.

use abide_core::id::WaitpointId;

use crate::Error;

/// Reads how often links were revoked.
pub trait Links: Send {
    /// How often the links to a waitpoint were revoked: those of an earlier generation are void.
    fn link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error>;
}

/// Revokes links.
pub trait WriteLinks: Send {
    /// Revokes all links to a waitpoint there are, and says which generation is valid from here on; 0 if there is no
    /// such waitpoint.
    fn bump_link_generation(&mut self, waitpoint: WaitpointId) -> Result<u32, Error>;
}
