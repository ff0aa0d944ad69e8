//! Connections that nobody can listen to, as `sslmode` in an address asks for:
//!
//! | `sslmode` | |
//! |---|---|
//! | `disable` | never encrypted |
//! | `prefer` | encrypted where the server can, whoever it is; the default on this machine |
//! | `require` | encrypted, whoever the server is |
//! | `verify-full` | encrypted, and the server has a certificate for its name from an authority that is trusted; the default elsewhere |
//!
//! Sockets of this machine are never encrypted.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;

/// What an address says of encryption, as far as the driver does not read it itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TlsParameters {
    /// Whether the address says anything about encryption.
    pub(super) has_mode: bool,
    pub(super) verifies: bool,
    roots: Option<String>,
}

/// Takes out of an address what the driver does not know, and says what that was.
pub(super) fn split(address: &str) -> Result<(Cow<'_, str>, TlsParameters), String> {
    let Some((before, query)) = address.split_once('?') else {
        return Ok((
            address.into(),
            TlsParameters { has_mode: address.contains("sslmode"), ..TlsParameters::default() },
        ));
    };
    let (mut asked, mut rest) = (TlsParameters::default(), Vec::new());
    let (mut mode, mut is_ours) = ("prefer", false);
    for parameter in query.split('&') {
        asked.has_mode |= parameter.starts_with("sslmode=");
        match parameter.split_once('=') {
            Some(("sslmode", "verify-full")) => {
                (asked.verifies, mode, is_ours) = (true, "verify-full", true);
                rest.push("sslmode=require");
            }
            Some(("sslmode", "verify-ca")) => {
                return Err("sslmode=verify-ca is not known; `verify-full` checks the name, too".to_owned());
            }
            Some(("sslmode", other)) => {
                mode = other;
                rest.push(parameter);
            }
            Some(("sslrootcert", file)) => {
                (asked.roots, is_ours) = (Some(decoded(file)), true);
            }
            Some(_) | None => rest.push(parameter),
        }
    }
    // Who names an authority wants it asked.
    if asked.roots.is_some() && !asked.has_mode {
        asked.verifies = true;
        rest.push("sslmode=require");
    }
    if asked.roots.is_some() && !asked.verifies {
        return Err(format!("sslrootcert does nothing with sslmode={mode}; give sslmode=verify-full"));
    }
    let rest = rest.join("&");
    let joined = if rest.is_empty() { before.to_owned() } else { format!("{before}?{rest}") };
    Ok((if is_ours { joined.into() } else { address.into() }, asked))
}

/// `%2F` is a slash.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &others[2..];
            }
            Some(_) | None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encrypts what the driver sends.
#[derive(Clone)]
pub(super) struct Encryption(Arc<ClientConfig>);

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

impl Encryption {
    pub(super) fn new(asked: &TlsParameters) -> Result<Encryption, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = match asked.verifies {
            true => builder.with_root_certificates(roots(asked.roots.as_deref())?),
            false => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider))),
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Encryption(Arc::new(config)))
    }
}

/// Those in the file, or those that the machine trusts.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file.filter(|file| *file != "system") else {
        let (trusted, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let none = "this machine has no root certificates; name a file with sslrootcert=FILE";
        return if trusted == 0 { Err(none.to_owned()) } else { Ok(roots) };
    };
    let unreadable = |error: &dyn fmt::Display| format!("sslrootcert={file}: {error}");
    let found = CertificateDer::pem_file_iter(Path::new(file)).map_err(|error| unreadable(&error))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if roots.is_empty() {
        return Err(unreadable(&"there is no certificate in it"));
    }
    Ok(roots)
}

/// Whether a connection failed because of who the server is.
pub(super) fn is_distrusted(error: &tokio_postgres::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    let inner = cause.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}

/// Whether a connection failed because the server does not encrypt. The driver says so in words only.
pub(super) fn is_not_offered(error: &tokio_postgres::Error) -> bool {
    let cause = std::error::Error::source(error);
    cause.is_some_and(|cause| cause.to_string() == "server does not support TLS")
}

/// Takes every certificate: what is sent is encrypted, but nobody knows for whom.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Encryption {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, server: &str) -> io::Result<Handshake> {
        Ok(Handshake { config: Arc::clone(&self.0), server: server.to_owned() })
    }
}

/// With one server.
pub(super) struct Handshake {
    config: Arc<ClientConfig>,
    server: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let server = ServerName::try_from(self.server).map_err(io::Error::other)?;
            let stream = TlsConnector::from(self.config).connect(server, socket).await?;
            Ok(Encrypted(stream))
        })
    }
}

pub(super) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl tokio_postgres::tls::TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_does_not_know_is_taken_out_of_an_address() {
        let plain = "postgres://ann@h/db?sslmode=require&application_name=x";
        assert_eq!(
            split(plain).unwrap(),
            (plain.into(), TlsParameters { has_mode: true, ..TlsParameters::default() })
        );
        let (rest, asked) = split(
            "postgres://ann@h/db?sslmode=verify-full&application_name=x&sslrootcert=%2Fetc%2Fca%20x.pem",
        )
        .unwrap();
        assert_eq!(rest, "postgres://ann@h/db?sslmode=require&application_name=x");
        assert_eq!(
            asked,
            TlsParameters { has_mode: true, verifies: true, roots: Some("/etc/ca x.pem".to_owned()) }
        );
        let (rest, asked) = split("postgres://localhost/db?sslrootcert=ca.pem").unwrap();
        assert_eq!((rest.as_ref(), asked.verifies), ("postgres://localhost/db?sslmode=require", true));
        for (address, words) in [
            ("postgres://h/db?sslmode=verify-ca", "`verify-full`"),
            ("postgres://h/db?sslmode=require&sslrootcert=ca.pem", "sslmode=require"),
        ] {
            let said = split(address).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_named() {
        let roots = Some("/dev/null".to_owned());
        let said = Encryption::new(&TlsParameters { verifies: true, roots, ..TlsParameters::default() })
            .unwrap_err();
        assert!(said.contains("sslrootcert=/dev/null") && said.contains("no certificate"), "{said}");
    }
}
