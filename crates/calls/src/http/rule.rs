//! One entry of the allow-list: `10.0.0.0/8`, `::1`, `127.0.0.1:11434`, `vault.internal`, `*.corp.internal:8443`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::address::{Reserved, plain};

/// Allows what the policy would refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    target: Target,
    /// `None`: any.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Network {
        base: IpAddr,
        bits: u8,
    },
    Host(String),
    /// Every name that ends in this, which begins with a dot.
    Below(String),
}

/// Why an address was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub address: IpAddr,
    pub reserved: Reserved,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is a {} address", self.address, self.reserved.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a rule: {why}; write an address, a network such as `10.0.0.0/8`, or a host such as `*.example.internal`, each with `:port` if only that port is meant"
)]
pub struct RuleError {
    pub given: String,
    pub why: &'static str,
}

impl Rule {
    pub(super) fn allows_address(&self, address: IpAddr, port: u16, reserved: Reserved) -> bool {
        let Target::Network { base, bits } = self.target else { return false };
        // A wide network was not written with the machine's own credentials in mind.
        let meant = reserved != Reserved::Metadata || bits == width(base);
        meant && self.port_fits(port) && contains(base, bits, address)
    }

    pub(super) fn allows_host(&self, host: &str, port: u16, reserved: Reserved) -> bool {
        let named = match &self.target {
            Target::Network { .. } => false,
            Target::Host(name) => name == host,
            Target::Below(ending) => host.ends_with(ending.as_str()),
        };
        named && self.port_fits(port) && reserved != Reserved::Metadata
    }

    fn port_fits(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }
}

fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn contains(base: IpAddr, bits: u8, address: IpAddr) -> bool {
    match (base, plain(address)) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            let shift = 32 - u32::from(bits);
            u32::from(base).checked_shr(shift).unwrap_or(0)
                == u32::from(address).checked_shr(shift).unwrap_or(0)
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => {
            let shift = 128 - u32::from(bits);
            u128::from(base).checked_shr(shift).unwrap_or(0)
                == u128::from(address).checked_shr(shift).unwrap_or(0)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(given: &str) -> Result<Rule, RuleError> {
        let wrong = |why| RuleError { given: given.to_owned(), why };
        let (target, port) =
            split_port(given).ok_or_else(|| wrong("the port is not a number up to 65535"))?;
        if let Some((base, bits)) = target.split_once('/') {
            let base: IpAddr = base.parse().map_err(|_| wrong("there is no address before the `/`"))?;
            let bits = bits.parse().ok().filter(|bits| *bits <= width(base));
            let bits = bits.ok_or_else(|| wrong("the length of the network is not a number that fits"))?;
            return Ok(Rule { target: Target::Network { base, bits }, port });
        }
        if let Ok(address) = target.parse::<IpAddr>() {
            let base = plain(address);
            return Ok(Rule { target: Target::Network { base, bits: width(base) }, port });
        }
        let (name, below) = match target.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (target, false),
        };
        let label = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || !name.bytes().all(label) || name.starts_with('.') {
            return Err(wrong("it is neither an address nor a host"));
        }
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let target = if below { Target::Below(format!(".{name}")) } else { Target::Host(name) };
        Ok(Rule { target, port })
    }
}

/// `[::1]:80`, `127.0.0.1:80`, `host:80`; an IPv6 address without brackets has no port.
fn split_port(given: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = given.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        return match port.strip_prefix(':') {
            None if port.is_empty() => Some((address, None)),
            None => None,
            Some(port) => Some((address, Some(port.parse().ok()?))),
        };
    }
    match given.split_once(':') {
        Some((target, port)) if !port.contains(':') => Some((target, Some(port.parse().ok()?))),
        Some(_) | None => Some((given, None)),
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(given: String) -> Result<Rule, RuleError> {
        given.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.to_string()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.target, self.port) {
            (Target::Network { base: IpAddr::V6(base), bits: 128 }, Some(_)) => write!(f, "[{base}]")?,
            (Target::Network { base: base @ IpAddr::V6(_), bits }, Some(_)) => write!(f, "[{base}/{bits}]")?,
            (Target::Network { base, bits }, _) if *bits == width(*base) => write!(f, "{base}")?,
            (Target::Network { base, bits }, _) => write!(f, "{base}/{bits}")?,
            (Target::Host(name), _) => f.write_str(name)?,
            (Target::Below(ending), _) => write!(f, "*{ending}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_and_shown_the_same() {
        for rule in [
            "10.0.0.0/8",
            "127.0.0.1",
            "127.0.0.1:11434",
            "::1",
            "[::1]:80",
            "fd00::/8",
            "[fd00::/8]:80",
            "vault.internal",
            "*.corp.internal:8443",
            "0.0.0.0/0",
        ] {
            assert_eq!(rule.parse::<Rule>().unwrap().to_string(), rule);
        }
    }

    #[test]
    fn what_is_not_a_rule_is_named() {
        for (given, why) in [
            ("10.0.0.0/33", "the length"),
            ("ten/8", "no address before"),
            ("host:port", "the port"),
            ("http://host", "the port"),
            ("*", "neither"),
            ("", "neither"),
        ] {
            let error = given.parse::<Rule>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(given), "{error}");
        }
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let fits = |rule: &str, address: &str| {
            rule.parse::<Rule>().unwrap().allows_address(address.parse().unwrap(), 80, Reserved::Private)
        };
        assert!(fits("10.0.0.0/8", "10.255.0.1"));
        assert!(fits("10.0.0.0/8", "::ffff:10.0.0.1"));
        assert!(!fits("10.0.0.0/8", "11.0.0.1"));
        assert!(fits("0.0.0.0/0", "192.168.0.1"));
        assert!(!fits("0.0.0.0/0", "fd00::1"));
        assert!(fits("fd00::/8", "fd12::1"));
        assert!(fits("10.0.0.1:80", "10.0.0.1"));
        assert!(!fits("10.0.0.1:81", "10.0.0.1"));
    }

    #[test]
    fn the_metadata_address_is_allowed_only_by_its_own_number() {
        let fits = |rule: &str| {
            rule.parse::<Rule>().unwrap().allows_address(
                "169.254.169.254".parse().unwrap(),
                80,
                Reserved::Metadata,
            )
        };
        assert!(!fits("0.0.0.0/0"));
        assert!(!fits("169.254.0.0/16"));
        assert!(fits("169.254.169.254"));
    }
}
