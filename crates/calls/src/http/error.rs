//! Why a call gave no response.

use std::error::Error as _;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::client::legacy;
use url::Url;

use super::rule::Refusal;
use super::shown;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("`{url}` cannot be called: {why}")]
    BadUrl { url: String, why: String },
    #[error("`{url}` is refused: only `http` and `https` are called, not `{scheme}`")]
    SchemeRefused { url: String, scheme: String },
    #[error("`{host}` is refused: {refusal}; no `allow_address` setting allows it")]
    AddressRefused { host: String, refusal: Refusal },
    #[error("secret `{secret}` may not be sent to {origin}; it may be sent to {hosts}")]
    SecretRefused { secret: String, origin: String, hosts: String },
    #[error("`{host}` was not found: {why}")]
    UnknownHost { host: String, why: String },
    #[error("`{host}` at {address} could not be connected to: {why}")]
    NotConnected { host: String, address: SocketAddr, why: String },
    #[error("`{host}` at port {port} could not be connected to within {} ms", after.as_millis())]
    ConnectTimedOut { host: String, port: u16, after: Duration },
    #[error("`{host}` could not be trusted: {why}")]
    Tls { host: String, why: String },
    #[error("`{url}` would be redirect {}, and at most {limit} are followed", limit + 1)]
    TooManyRedirects { limit: u32, url: String },
    #[error("`{url}` redirects to what is not a URL: {why}")]
    BadRedirect { url: String, why: String },
    #[error("`{url}` did not answer in full within {} ms", after.as_millis())]
    TimedOut { url: String, after: Duration },
    #[error("`{url}` answers with more than {limit} bytes")]
    ResponseTooLarge { url: String, limit: usize },
    #[error("the connection to `{url}` was cut: {why}")]
    Cut { url: String, why: String },
    #[error("`{url}` did not answer in HTTP: {why}")]
    NotHttp { url: String, why: String },
}

impl Error {
    /// Stable; the words beside it may change.
    pub fn code(&self) -> &'static str {
        match self {
            Error::BadUrl { .. } => "HTTP_BAD_URL",
            Error::SchemeRefused { .. } => "HTTP_SCHEME_REFUSED",
            Error::AddressRefused { .. } => "HTTP_ADDRESS_REFUSED",
            Error::SecretRefused { .. } => "SECRET_HOST_REFUSED",
            Error::UnknownHost { .. } => "HTTP_UNKNOWN_HOST",
            Error::NotConnected { .. } => "HTTP_NOT_CONNECTED",
            Error::ConnectTimedOut { .. } => "HTTP_CONNECT_TIMED_OUT",
            Error::Tls { .. } => "HTTP_TLS",
            Error::TooManyRedirects { .. } => "HTTP_TOO_MANY_REDIRECTS",
            Error::BadRedirect { .. } => "HTTP_BAD_REDIRECT",
            Error::TimedOut { .. } => "HTTP_TIMED_OUT",
            Error::ResponseTooLarge { .. } => "HTTP_RESPONSE_TOO_LARGE",
            Error::Cut { .. } => "HTTP_CUT",
            Error::NotHttp { .. } => "HTTP_NOT_HTTP",
        }
    }

    /// Whether the same call may go better at another time.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::UnknownHost { .. }
            | Error::NotConnected { .. }
            | Error::ConnectTimedOut { .. }
            | Error::Tls { .. }
            | Error::TimedOut { .. }
            | Error::Cut { .. }
            | Error::NotHttp { .. } => true,
            Error::BadUrl { .. }
            | Error::SchemeRefused { .. }
            | Error::AddressRefused { .. }
            | Error::SecretRefused { .. }
            | Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::ResponseTooLarge { .. } => false,
        }
    }

    /// Whether the server may have seen the call, and done what it asks.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Error::TooManyRedirects { .. }
            | Error::BadRedirect { .. }
            | Error::TimedOut { .. }
            | Error::ResponseTooLarge { .. }
            | Error::Cut { .. }
            | Error::NotHttp { .. } => true,
            Error::BadUrl { .. }
            | Error::SchemeRefused { .. }
            | Error::AddressRefused { .. }
            | Error::SecretRefused { .. }
            | Error::UnknownHost { .. }
            | Error::NotConnected { .. }
            | Error::ConnectTimedOut { .. }
            | Error::Tls { .. } => false,
        }
    }

    pub(super) fn of_client(error: legacy::Error, url: &Url) -> Error {
        let mut cause = error.source();
        while let Some(source) = cause {
            if let Some(ours) = source.downcast_ref::<Error>() {
                return ours.clone();
            }
            if let Some(hyper) = source.downcast_ref::<hyper::Error>() {
                return Error::of_connection(hyper, url);
            }
            cause = source.source();
        }
        Error::Cut { url: shown(url), why: error.to_string() }
    }

    pub(super) fn of_connection(error: &hyper::Error, url: &Url) -> Error {
        let why = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        if error.is_parse() || error.is_parse_too_large() {
            return Error::NotHttp { url: shown(url), why };
        }
        Error::Cut { url: shown(url), why }
    }
}
