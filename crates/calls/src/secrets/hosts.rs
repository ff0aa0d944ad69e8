//! Where a secret may be sent.

use std::fmt;
use std::str::FromStr;

use url::Url;

/// The hosts that a secret may be sent to; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

/// A host as it is written: `api.stripe.com`, `*.stripe.com`, `example.com:8443`, `http://10.0.0.5:8080`, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Any,
    Named {
        /// Only where it is said: a secret that travels in clear is anybody's on the way.
        in_clear: bool,
        /// In small letters, as URLs have it.
        name: String,
        /// Only the names below this one (`*.example.com`), not the name itself.
        below: bool,
        port: Option<u16>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error("names no host; write at least one, such as `api.example.com`, or `*` for any")]
    None,
    #[error(
        "`{0}` is not a host; it would look like `api.example.com`, `*.example.com`, `http://10.0.0.5:8080`, or `*` for any"
    )]
    NotAHost(String),
}

impl Hosts {
    /// Any host at all: whoever writes workflows can then read the secret.
    pub fn any() -> Hosts {
        Hosts(vec![Host::Any])
    }

    pub fn new<'h>(hosts: impl IntoIterator<Item = &'h str>) -> Result<Hosts, HostError> {
        let hosts: Vec<Host> = hosts.into_iter().map(str::parse).collect::<Result<_, _>>()?;
        if hosts.is_empty() { Err(HostError::None) } else { Ok(Hosts(hosts)) }
    }

    pub fn allow(&self, url: &Url) -> bool {
        self.0.iter().any(|host| host.allows(url))
    }
}

impl Host {
    fn allows(&self, url: &Url) -> bool {
        let Host::Named { in_clear, name, below, port } = self else { return true };
        let Some(host) = url.host_str() else { return false };
        let is_named = match below {
            true => {
                host.strip_suffix(name.as_str()).is_some_and(|label| label.len() > 1 && label.ends_with('.'))
            }
            false => host == name,
        };
        let speaks = url.scheme() == "https" || (*in_clear && url.scheme() == "http");
        is_named && speaks && port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(given: &str) -> Result<Host, HostError> {
        let bad = || HostError::NotAHost(given.to_owned());
        if given == "*" {
            return Ok(Host::Any);
        }
        let (in_clear, rest) = match given.strip_prefix("http://") {
            Some(rest) => (true, rest),
            None => (false, given.strip_prefix("https://").unwrap_or(given)),
        };
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        // Read as a URL would be, so that it is compared with what a URL becomes.
        let url = Url::parse(&format!("https://{rest}/")).map_err(|_| bad())?;
        let name = url.host_str().filter(|name| !name.is_empty() && !name.contains('*')).ok_or_else(bad)?;
        let plain = url.path() == "/" && url.query().is_none() && url.username().is_empty();
        if !plain || rest.ends_with('/') || url.fragment().is_some() {
            return Err(bad());
        }
        // The port of the scheme is left out by the URL, and means the same.
        let port = rest.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Ok(Host::Named { in_clear, name: name.to_owned(), below, port })
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, host) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match host {
                Host::Any => write!(f, "{comma}*")?,
                Host::Named { in_clear, name, below, port } => {
                    let scheme = if *in_clear { "http://" } else { "" };
                    let below = if *below { "*." } else { "" };
                    write!(f, "{comma}{scheme}{below}{name}")?;
                    if let Some(port) = port {
                        write!(f, ":{port}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(host: &str, url: &str) -> bool {
        Hosts::new([host]).unwrap().allow(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_secret_goes_to_its_hosts_and_nowhere_else() {
        for (host, url) in [
            ("api.stripe.com", "https://api.stripe.com/v1/charges"),
            ("api.stripe.com", "https://API.Stripe.com:8443/"),
            ("https://api.stripe.com", "https://api.stripe.com/"),
            ("api.stripe.com:443", "https://api.stripe.com/"),
            ("*.stripe.com", "https://files.stripe.com/"),
            ("*.stripe.com", "https://a.b.stripe.com/"),
            ("http://10.0.0.5:8080", "http://10.0.0.5:8080/x"),
            ("http://[::1]:80", "http://[::1]/x"),
            ("*", "http://anywhere.example/"),
        ] {
            assert!(allows(host, url), "{host} {url}");
        }
        for (host, url) in [
            ("api.stripe.com", "https://api.stripe.com.evil.example/"),
            ("api.stripe.com", "https://evil.example/api.stripe.com"),
            ("api.stripe.com", "https://notapi.stripe.com/"),
            ("api.stripe.com", "http://api.stripe.com/"),
            ("api.stripe.com:443", "https://api.stripe.com:444/"),
            ("*.stripe.com", "https://stripe.com/"),
            ("*.stripe.com", "https://evilstripe.com/"),
            ("*.stripe.com", "https://.stripe.com.evil/"),
            ("http://10.0.0.5:8080", "http://10.0.0.5:8081/x"),
        ] {
            assert!(!allows(host, url), "{host} {url}");
        }
    }

    #[test]
    fn what_is_not_a_host_is_refused() {
        for bad in ["", "a b", "*.*", "example.com/x", "ftp://example.com", "user@example.com", "x?y", "*."] {
            assert!(Hosts::new([bad]).is_err(), "{bad}");
        }
        assert_eq!(Hosts::new([]), Err(HostError::None));
        let shown = Hosts::new(["*.example.com", "http://10.0.0.5:8080"]).unwrap().to_string();
        assert_eq!(shown, "*.example.com, http://10.0.0.5:8080");
    }
}
