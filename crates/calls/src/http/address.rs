//! Which addresses are not on the public internet, and why.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    Loopback,
    Private,
    LinkLocal,
    UniqueLocal,
    Multicast,
    /// Where clouds hand out the credentials of their machines.
    Metadata,
    Unspecified,
    /// Shared by the customers of a provider, `100.64.0.0/10`.
    Shared,
    /// Kept for documents, tests and protocols; nobody's address.
    SpecialUse,
    /// An IPv6 address that stands for an IPv4 address, in a form that is not judged further.
    Translated,
}

impl Reserved {
    pub fn name(self) -> &'static str {
        match self {
            Reserved::Loopback => "loopback",
            Reserved::Private => "private",
            Reserved::LinkLocal => "link-local",
            Reserved::UniqueLocal => "unique-local",
            Reserved::Multicast => "multicast",
            Reserved::Metadata => "metadata",
            Reserved::Unspecified => "unspecified",
            Reserved::Shared => "shared",
            Reserved::SpecialUse => "special-use",
            Reserved::Translated => "translated",
        }
    }
}

/// `None` for an address of the public internet.
pub(super) fn reserved(address: IpAddr) -> Option<Reserved> {
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

/// An IPv4 address in IPv6 clothes is connected to as the IPv4 address.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

const METADATA_V4: [Ipv4Addr; 5] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    // Public by its number, and the host of the machine on Azure.
    Ipv4Addr::new(168, 63, 129, 16),
];
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

fn reserved_v4(address: Ipv4Addr) -> Option<Reserved> {
    if METADATA_V4.contains(&address) {
        return Some(Reserved::Metadata);
    }
    match address.octets() {
        [0, 0, 0, 0] => Some(Reserved::Unspecified),
        [0, ..] => Some(Reserved::SpecialUse),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Reserved::Private),
        [100, 64..=127, ..] => Some(Reserved::Shared),
        [127, ..] => Some(Reserved::Loopback),
        [169, 254, ..] => Some(Reserved::LinkLocal),
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18..=19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some(Reserved::SpecialUse)
        }
        [224..=239, ..] => Some(Reserved::Multicast),
        [240..=255, ..] => Some(Reserved::SpecialUse),
        _ => None,
    }
}

fn reserved_v6(address: Ipv6Addr) -> Option<Reserved> {
    if METADATA_V6.contains(&address) {
        return Some(Reserved::Metadata);
    }
    if let Some(mapped) = address.to_ipv4_mapped() {
        return reserved_v4(mapped);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Reserved::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Reserved::Loopback),
        // IPv4-compatible, and the translated form of SIIT.
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => Some(Reserved::Translated),
        // NAT64: what a network without IPv4 gives for every public IPv4 address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, ..] => Some(Reserved::Translated),
        // 6to4 and Teredo carry an IPv4 address that somebody else connects to.
        [0x2002, ..] | [0x2001, 0, ..] => Some(Reserved::Translated),
        // ISATAP.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => Some(Reserved::Translated),
        [0x2001, 0x1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Some(Reserved::SpecialUse)
        }
        [0xfc00..=0xfdff, ..] => Some(Reserved::UniqueLocal),
        [0xfe80..=0xfebf, ..] => Some(Reserved::LinkLocal),
        [0xfec0..=0xfeff, ..] => Some(Reserved::Private),
        [0xff00..=0xffff, ..] => Some(Reserved::Multicast),
        [0x2000..=0x3fff, ..] => None,
        // Only `2000::/3` is given out.
        _ => Some(Reserved::SpecialUse),
    }
}

fn embedded(high: u16, low: u16) -> Option<Reserved> {
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    reserved_v4(Ipv4Addr::new(a, b, c, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_address_that_is_not_public_is_known() {
        let cases = [
            ("127.0.0.1", Reserved::Loopback),
            ("127.255.255.254", Reserved::Loopback),
            ("0.0.0.0", Reserved::Unspecified),
            ("0.1.2.3", Reserved::SpecialUse),
            ("10.0.0.1", Reserved::Private),
            ("172.16.0.1", Reserved::Private),
            ("172.31.255.255", Reserved::Private),
            ("192.168.1.1", Reserved::Private),
            ("100.64.0.1", Reserved::Shared),
            ("169.254.1.1", Reserved::LinkLocal),
            ("169.254.169.254", Reserved::Metadata),
            ("100.100.100.200", Reserved::Metadata),
            ("168.63.129.16", Reserved::Metadata),
            ("192.0.2.1", Reserved::SpecialUse),
            ("198.18.0.1", Reserved::SpecialUse),
            ("224.0.0.1", Reserved::Multicast),
            ("255.255.255.255", Reserved::SpecialUse),
            ("::", Reserved::Unspecified),
            ("::1", Reserved::Loopback),
            ("::ffff:127.0.0.1", Reserved::Loopback),
            ("::ffff:169.254.169.254", Reserved::Metadata),
            ("::ffff:0:127.0.0.1", Reserved::Translated),
            ("::127.0.0.1", Reserved::Translated),
            ("64:ff9b::7f00:1", Reserved::Loopback),
            ("64:ff9b::a9fe:a9fe", Reserved::Metadata),
            ("64:ff9b:1::1", Reserved::Translated),
            ("2002:7f00:1::1", Reserved::Translated),
            ("2001:0:53aa:64c::1", Reserved::Translated),
            ("2a00::5efe:7f00:1", Reserved::Translated),
            ("2001:db8::1", Reserved::SpecialUse),
            ("fc00::1", Reserved::UniqueLocal),
            ("fd00:ec2::254", Reserved::Metadata),
            ("fd12:3456::1", Reserved::UniqueLocal),
            ("fe80::1", Reserved::LinkLocal),
            ("fec0::1", Reserved::Private),
            ("ff02::1", Reserved::Multicast),
            ("100::1", Reserved::SpecialUse),
            ("5f00::1", Reserved::SpecialUse),
        ];
        for (address, kind) in cases {
            assert_eq!(reserved(address.parse().unwrap()), Some(kind), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public_also_through_nat64() {
        for address in
            ["1.1.1.1", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:8.8.8.8"]
        {
            assert_eq!(reserved(address.parse().unwrap()), None, "{address}");
        }
    }
}
