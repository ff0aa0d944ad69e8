//! Looks a host up, judges what was found, connects to one of the addresses that may be, and speaks TLS if asked.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::Error;
use super::policy::Policy;

pub type Looked<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of a host.
pub trait Resolve: Send + Sync {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Looked<'a>;
}

/// As the operating system is set up.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Looked<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

#[derive(Clone)]
pub(super) struct Connector {
    policy: Arc<Policy>,
    within: Duration,
    resolver: Arc<dyn Resolve>,
    tls: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
}

/// Where a response came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) SocketAddr);

impl Connector {
    pub(super) fn new(policy: Arc<Policy>, within: Duration, resolver: Arc<dyn Resolve>) -> Connector {
        Connector { policy, within, resolver, tls: Arc::default() }
    }

    async fn connect(self, target: Uri) -> Result<Stream, Error> {
        let host = target.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = target.scheme_str() == Some("https");
        let port = target.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let deadline = Instant::now() + self.within;
        let late = || Error::ConnectTimedOut { host: host.clone(), port, after: self.within };

        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => timeout_at(deadline, self.resolver.look_up(&host, port))
                .await
                .map_err(|_| late())?
                .map_err(|error| Error::UnknownHost { host: host.clone(), why: error.to_string() })?,
        };
        let admitted = self.policy.admitted(&host, &found)?;
        let tcp = timeout_at(deadline, first(&host, &admitted, deadline)).await.map_err(|_| late())??;
        let _ = tcp.set_nodelay(true);
        let peer = tcp.peer_addr().map_err(|error| not_connected(&host, admitted[0], &error))?;
        if !secure {
            return Ok(Stream::Plain { peer, io: TokioIo::new(tcp) });
        }
        let broken = |why: String| Error::Tls { host: host.clone(), why };
        let config = self.tls.get_or_init(tls).clone().map_err(broken)?;
        let name = ServerName::try_from(host.clone()).map_err(|error| broken(error.to_string()))?;
        let tls = timeout_at(deadline, TlsConnector::from(config).connect(name, tcp))
            .await
            .map_err(|_| late())?
            .map_err(|error| broken(error.to_string()))?;
        Ok(Stream::Secure { peer, io: Box::new(TokioIo::new(tls)) })
    }
}

/// One after the other, each with its share of the time that is left.
async fn first(host: &str, addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, Error> {
    let mut last = Error::UnknownHost { host: host.to_owned(), why: "it has no address".to_owned() };
    for (index, address) in addresses.iter().enumerate() {
        let now = Instant::now();
        let left = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let share = now + deadline.saturating_duration_since(now) / left;
        match timeout_at(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = not_connected(host, *address, &error),
            Err(_) => last = not_connected(host, *address, &io::ErrorKind::TimedOut.into()),
        }
    }
    Err(last)
}

fn not_connected(host: &str, address: SocketAddr, error: &io::Error) -> Error {
    Error::NotConnected { host: host.to_owned(), address, why: error.to_string() }
}

/// The roots that the machine trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
fn tls() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (trusted, _) = roots.add_parsable_certificates(found.certs);
    if trusted == 0 {
        return Err(
            "this machine has no root certificates; install them, or name a file in SSL_CERT_FILE".to_owned()
        );
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl tower_service::Service<Uri> for Connector {
    type Response = Stream;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        Box::pin(self.clone().connect(target))
    }
}

pub(super) enum Stream {
    Plain { peer: SocketAddr, io: TokioIo<TcpStream> },
    Secure { peer: SocketAddr, io: Box<TokioIo<TlsStream<TcpStream>>> },
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let (Stream::Plain { peer, .. } | Stream::Secure { peer, .. }) = self;
        Connected::new().extra(Peer(*peer))
    }
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain { io, .. } => Pin::new(io).poll_read(cx, buffer),
            Stream::Secure { io, .. } => Pin::new(io).poll_read(cx, buffer),
        }
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain { io, .. } => Pin::new(io).poll_write(cx, bytes),
            Stream::Secure { io, .. } => Pin::new(io).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain { io, .. } => Pin::new(io).poll_flush(cx),
            Stream::Secure { io, .. } => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain { io, .. } => Pin::new(io).poll_shutdown(cx),
            Stream::Secure { io, .. } => Pin::new(io).poll_shutdown(cx),
        }
    }
}
