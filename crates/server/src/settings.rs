//! What can be set about the server. Where the values come from (flags, environment, a file) is the binary's matter.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::proxy::Network;
use crate::quotas::Quotas;

/// The port that `abide serve` listens on if it is not told otherwise.
pub const PORT: u16 = 22_433;

#[derive(Clone, Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub auth: Auth,
    /// Serve without keys where others can reach it. Everyone who can connect can then do everything.
    pub allow_everyone: bool,
    /// How others reach this server: the beginning of every resume URL.
    pub public_url: Option<String>,
    /// Names that `Host` may have, besides those of this machine and of the public URL.
    pub allowed_hosts: Vec<String>,
    /// Proxies that say truly who sent a request.
    pub trusted_proxies: Vec<Network>,
    /// Origins of web pages that may use the API, besides the server's own.
    pub allowed_origins: Vec<String>,
    /// Where OpenTelemetry traces go, as OTLP over HTTP; nowhere if absent.
    pub traces: Option<String>,
    pub limits: Limits,
    /// Of every workspace that has none of its own.
    pub quotas: Quotas,
    /// For one developer on their own machine: a workflow that is posted again with other content becomes a new version by
    /// itself, and the dashboard lets waits be skipped.
    pub development: bool,
}

/// Whether a key is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// On loopback none is needed; a key that is given is checked all the same.
    #[default]
    OnLoopbackOpen,
    Required,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections. For one more, one without a key gives way; if all have one, it is told to come back later.
    pub connections: usize,
    /// Open connections of one address that have not shown a key or a link yet; 0 for any number.
    pub connections_per_address: usize,
    /// What all who have not shown a key or a link yet may have sent without being answered.
    pub stranger_bytes: usize,
    /// Requests a second for each key, or for each address where no key is needed; as many may come at once.
    pub requests_per_second: u32,
    /// Keys that are none, of one address, in a second: who guesses is slowed down before the store is.
    pub guesses_per_second: u32,
    /// From the first byte of a request to the end of its headers, and the idle time between two requests.
    pub header_time: Duration,
    /// From the end of the headers to the end of the body.
    pub body_time: Duration,
    /// In which a client must take some of its answer.
    pub write_time: Duration,
    /// A connection that is older is closed after its next answer.
    pub connection_age: Duration,
    pub headers: usize,
    pub header_bytes: usize,
    /// How long a shutdown waits for what is in flight.
    pub shutdown_time: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            auth: Auth::default(),
            allow_everyone: false,
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            allowed_origins: Vec::new(),
            traces: None,
            limits: Limits::default(),
            quotas: Quotas { schedules: Some(1_000), webhooks: Some(100), ..Quotas::default() },
            development: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 20_000,
            connections_per_address: 1_000,
            stranger_bytes: 64 * 1024 * 1024,
            requests_per_second: 50_000,
            guesses_per_second: 1_000,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            connection_age: Duration::from_secs(60 * 60),
            headers: 100,
            header_bytes: 32 * 1024,
            shutdown_time: Duration::from_secs(10),
        }
    }
}

/// Files that are kept for the store, calls and logs, whatever may connect.
const FILES_KEPT: u64 = 128;

impl Limits {
    /// Where the process may open fewer files than connections are allowed: as many as there can be.
    pub fn within_files(&mut self, files: u64) -> Option<usize> {
        let kept = FILES_KEPT.max((files / 8).min(1_024)).min(files / 2);
        let most = usize::try_from(files - kept).unwrap_or(usize::MAX).max(1);
        (self.connections > most).then(|| {
            self.connections = most;
            most
        })
    }
}

/// Settings that would let in people who were not meant to be let in, or that make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    #[error(
        "{0} can be reached from other machines, and no key is required: everyone who can connect could do \
         everything. Add `--auth required`, or listen on 127.0.0.1, or say `--allow-everyone` if that is meant"
    )]
    OpenAddress(SocketAddr),
    #[error(
        "with a public URL ({0}) others are meant to reach this server, and no key is required: everyone who does \
         could do everything. Add `--auth required`, or say `--allow-everyone` if that is meant"
    )]
    OpenUrl(String),
    #[error(
        "others are meant to reach this server as `{0}` (--allow-host), and no key is required: everyone who does could \
         do everything. Add `--auth required`, or say `--allow-everyone` if that is meant"
    )]
    OpenHost(String),
    #[error(
        "others are meant to reach this server through a proxy ({0}, --trusted-proxy), and no key is required: everyone \
         who does could do everything. Add `--auth required`, or say `--allow-everyone` if that is meant"
    )]
    OpenProxy(Network),
    #[error("`{0}` is not a public URL; it would look like `https://abide.example.com`")]
    PublicUrl(String),
    #[error("`{0}` is not where traces can go; it would look like `http://127.0.0.1:4318`")]
    Traces(String),
    #[error("`{0}` is not an origin; it would look like `https://example.com`")]
    Origin(String),
}

impl Settings {
    pub fn check(&self) -> Result<(), BadSettings> {
        let open = self.auth == Auth::OnLoopbackOpen && !self.allow_everyone;
        if open && !self.listen.ip().is_loopback() {
            return Err(BadSettings::OpenAddress(self.listen));
        }
        if let Some(url) = &self.public_url {
            if host_of(url).is_none() || url.contains(['?', '#']) {
                return Err(BadSettings::PublicUrl(url.clone()));
            }
            if open && !is_loopback_name(host_of(url).unwrap_or_default()) {
                return Err(BadSettings::OpenUrl(url.clone()));
            }
        }
        let foreign = |name: &&String| !is_loopback_name(without_port(name));
        if let Some(name) = self.allowed_hosts.iter().find(foreign).filter(|_| open) {
            return Err(BadSettings::OpenHost(name.clone()));
        }
        if let Some(proxy) = self.trusted_proxies.first().filter(|_| open) {
            return Err(BadSettings::OpenProxy(*proxy));
        }
        if let Some(url) =
            self.traces.as_ref().filter(|url| host_of(url).is_none() || url.contains(['?', '#']))
        {
            return Err(BadSettings::Traces(url.clone()));
        }
        match self.allowed_origins.iter().find(|origin| host_of(origin).is_none()) {
            Some(origin) => Err(BadSettings::Origin(origin.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn needs_keys(&self) -> bool {
        self.auth == Auth::Required
    }

    /// Where no key is needed, everyone is known: no address has too many connections.
    pub(crate) fn limits_of_strangers(&self) -> Limits {
        let connections_per_address = if self.needs_keys() { self.limits.connections_per_address } else { 0 };
        Limits { connections_per_address, ..self.limits.clone() }
    }
}

/// The host of a URL or an origin, without its port.
pub(crate) fn host_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = without_port(authority);
    (!host.is_empty() && !authority.contains('@')).then_some(host)
}

/// `localhost:22433` → `localhost`, `[::1]:22433` → `[::1]`.
pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(':') => {
            if host.contains(':') && !host.ends_with(']') {
                authority
            } else {
                host
            }
        }
        Some(_) | None => authority,
    }
}

/// Names that only this machine answers to.
pub(crate) fn is_loopback_name(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_to(listen: &str) -> Settings {
        Settings { listen: listen.parse().unwrap(), ..Settings::default() }
    }

    #[test]
    fn an_address_that_others_reach_needs_keys_or_a_flag_that_says_what_it_does() {
        assert_eq!(open_to("127.0.0.1:1").check(), Ok(()));
        assert_eq!(open_to("[::1]:1").check(), Ok(()));
        let open = open_to("0.0.0.0:1");
        assert!(matches!(open.check(), Err(BadSettings::OpenAddress(_))));
        assert_eq!(Settings { auth: Auth::Required, ..open.clone() }.check(), Ok(()));
        assert_eq!(Settings { allow_everyone: true, ..open }.check(), Ok(()));
    }

    #[test]
    fn a_public_url_without_keys_is_refused_too() {
        let with = |url: &str| Settings { public_url: Some(url.to_owned()), ..Settings::default() };
        assert!(matches!(with("https://abide.example.com").check(), Err(BadSettings::OpenUrl(_))));
        assert!(matches!(with("abide.example.com").check(), Err(BadSettings::PublicUrl(_))));
        assert_eq!(with("http://localhost:8080/base").check(), Ok(()));
    }

    #[test]
    fn a_name_or_a_proxy_for_others_without_keys_is_refused_too() {
        let named = |name: &str| Settings { allowed_hosts: vec![name.to_owned()], ..Settings::default() };
        assert!(matches!(named("abide.example.com").check(), Err(BadSettings::OpenHost(_))));
        assert_eq!(named("app.localhost:8080").check(), Ok(()));
        assert_eq!(Settings { auth: Auth::Required, ..named("abide.example.com") }.check(), Ok(()));
        let behind = Settings { trusted_proxies: vec!["10.0.0.1".parse().unwrap()], ..Settings::default() };
        assert!(matches!(behind.check(), Err(BadSettings::OpenProxy(_))));
        assert_eq!(Settings { auth: Auth::Required, ..behind }.check(), Ok(()));
    }

    #[test]
    fn there_are_never_more_connections_than_files() {
        let within = |connections, files| {
            let mut limits = Limits { connections, ..Limits::default() };
            (limits.within_files(files), limits.connections)
        };
        assert_eq!(within(20_000, 1_048_576), (None, 20_000));
        assert_eq!(within(20_000, 1_024), (Some(896), 896));
        assert_eq!(within(20_000, 64), (Some(32), 32));
        assert_eq!(within(100, 1_024), (None, 100));
    }

    #[test]
    fn hosts_are_told_from_ports() {
        assert_eq!(without_port("localhost:22433"), "localhost");
        assert_eq!(without_port("[::1]:22433"), "[::1]");
        assert_eq!(without_port("[::1]"), "[::1]");
        assert_eq!(without_port("example.com"), "example.com");
        for name in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "LocalHost", "app.localhost"] {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in ["example.com", "127.0.0.1.example.com", "localhost.example.com", "10.0.0.1", ""] {
            assert!(!is_loopback_name(name), "{name}");
        }
    }
}
