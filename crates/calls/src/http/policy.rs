//! Which addresses may be connected to.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::address::{plain, reserved};
use super::error::Error;
use super::rule::{Refusal, Rule};

/// By default the public internet and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    everything: bool,
    allowed: Vec<Rule>,
}

impl Policy {
    pub fn allowing(rules: impl IntoIterator<Item = Rule>) -> Policy {
        Policy { everything: false, allowed: rules.into_iter().collect() }
    }

    /// This policy, with more addresses allowed.
    pub fn and(mut self, rules: impl IntoIterator<Item = Rule>) -> Policy {
        self.allowed.extend(rules);
        self
    }

    /// For addresses that stand in the settings of the server. Never for one that a definition or a payload named.
    pub fn everything() -> Policy {
        Policy { everything: true, allowed: Vec::new() }
    }

    /// Whether this address, which the host was found to have, may be connected to.
    pub fn judge(&self, host: &str, address: IpAddr, port: u16) -> Result<(), Refusal> {
        let Some(reserved) = reserved(address) else { return Ok(()) };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let allowed = self.everything
            || self.allowed.iter().any(|rule| {
                rule.allows_address(plain(address), port, reserved) || rule.allows_host(&host, port, reserved)
            });
        if allowed { Ok(()) } else { Err(Refusal { address, reserved }) }
    }

    /// Those that may be connected to; if there are none, the reason why the first may not.
    pub(super) fn admitted(&self, host: &str, found: &[SocketAddr]) -> Result<Vec<SocketAddr>, Error> {
        let mut refused = None;
        let mut admitted = Vec::with_capacity(found.len());
        for address in found {
            match self.judge(host, address.ip(), address.port()) {
                Ok(()) => admitted.push(*address),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if admitted.is_empty() => {
                Err(Error::AddressRefused { host: host.to_owned(), refusal })
            }
            Some(_) | None => Ok(admitted),
        }
    }

    /// An address in the URL itself is judged before a pooled connection is looked for.
    pub(super) fn admit_literal(&self, url: &Url) -> Result<(), Error> {
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        let port = url.port_or_known_default().unwrap_or(0);
        self.judge(url.host_str().unwrap_or_default(), address, port)
            .map_err(|refusal| Error::AddressRefused { host: address.to_string(), refusal })
    }
}
