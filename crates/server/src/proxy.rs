//! Requests that came through a proxy: who sent them, as far as the proxy can be believed.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::HeaderMap;

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED: &str = "forwarded";
/// A request that has one of these came through a proxy, or wants to look like it.
const SIGNS: [&str; 12] = [
    FORWARDED_FOR,
    FORWARDED,
    "via",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
    "x-client-ip",
    "cf-connecting-ip",
    "true-client-ip",
    "x-original-forwarded-for",
];

/// A network, such as `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// What is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an address or a network; it would look like `10.0.0.5` or `10.0.0.0/8`")]
pub struct BadNetwork(String);

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Network, BadNetwork> {
        let bad = || BadNetwork(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| bad())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.trim().parse().map_err(|_| bad()))?;
        if bits > most {
            return Err(bad());
        }
        Ok(Network { address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Network {
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        match (self.address.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differ = u32::from(network) ^ u32::from(address);
                differ.checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differ = u128::from(network) ^ u128::from(address);
                differ.checked_shr(128 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

pub(crate) fn is_trusted(trusted: &[Network], address: IpAddr) -> bool {
    trusted.iter().any(|network| network.has(address))
}

/// Who sent the request: whoever connected, or, if that is a trusted proxy, the nearest address before it that is not
/// one. What others claim about themselves stands to the left of that, and does not count.
pub(crate) fn client(trusted: &[Network], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    if !is_trusted(trusted, peer) {
        return peer;
    }
    let mut nearest = peer;
    for hop in hops(headers).iter().rev() {
        match hop {
            Some(hop) => nearest = *hop,
            None => return nearest,
        }
        if !is_trusted(trusted, nearest) {
            return nearest;
        }
    }
    nearest
}

/// The addresses on the way, the farthest first; `None` for what is not an address.
fn hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let values = |name: &str| {
        let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?").to_owned());
        values.collect::<Vec<_>>().join(",")
    };
    if headers.contains_key(FORWARDED_FOR) {
        return values(FORWARDED_FOR).split(',').map(address).collect();
    }
    if !headers.contains_key(FORWARDED) {
        return Vec::new();
    }
    let of = |element: &str| {
        let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| name.eq_ignore_ascii_case("for")).and_then(|(_, value)| address(value))
    };
    values(FORWARDED).split(',').map(of).collect()
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `"[2001:db8::1]:80"`.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split(']').next()?.parse().ok();
    }
    text.parse().ok().or_else(|| text.split_once(':').and_then(|(address, _)| address.parse().ok()))
}

/// A header that only a proxy writes.
pub(crate) fn sign(headers: &HeaderMap) -> Option<&'static str> {
    SIGNS.into_iter().find(|name| headers.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_network_has_its_addresses_and_no_others() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("0.0.0.0/0", "203.0.113.1", "::1"),
            ("127.0.0.1", "::ffff:127.0.0.1", "::1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.has(inside.parse().unwrap()), "{network} {inside}");
            assert!(!network.has(outside.parse().unwrap()), "{network} {outside}");
        }
        for bad in ["", "10.0.0.0/33", "proxy", "10.0.0.0/x", "::/129"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_who_sent_a_request() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let of = |peer: &str, pairs: &[(&'static str, &str)]| {
            client(&trusted, peer.parse().unwrap(), &headers(pairs)).to_string()
        };
        let claim = [("x-forwarded-for", "192.0.2.1")];
        assert_eq!(of("203.0.113.9", &claim), "203.0.113.9");
        assert_eq!(of("10.0.0.1", &claim), "192.0.2.1");
        assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(of("10.0.0.1", &[("x-forwarded-for", "6.6.6.6, 192.0.2.1, 10.0.0.2")]), "192.0.2.1");
        assert_eq!(
            of("10.0.0.1", &[("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "192.0.2.1")]),
            "192.0.2.1"
        );
        assert_eq!(of("10.0.0.1", &[("x-forwarded-for", "unknown, 10.0.0.3")]), "10.0.0.3");
        assert_eq!(
            of("10.0.0.1", &[("forwarded", "for=6.6.6.6, for=\"[2001:db8::1]:80\";proto=https")]),
            "2001:db8::1"
        );
        assert_eq!(of("10.0.0.1", &[("forwarded", "for=192.0.2.1:99")]), "192.0.2.1");
    }

    #[test]
    fn what_came_through_a_proxy_shows_it() {
        assert_eq!(sign(&headers(&[("host", "localhost")])), None);
        assert_eq!(sign(&headers(&[("via", "1.1 proxy")])), Some("via"));
        assert_eq!(sign(&headers(&[("x-real-ip", "192.0.2.1")])), Some("x-real-ip"));
    }
}
