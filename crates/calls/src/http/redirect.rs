//! Where a redirect leads, and what is sent there: the rules of browsers.

use ::http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE,
    COOKIE, HOST, LOCATION, PROXY_AUTHORIZATION, TRANSFER_ENCODING,
};
use ::http::{HeaderMap, HeaderName, Method, StatusCode};
use bytes::Bytes;
use url::Url;

use super::error::Error;
use super::shown;
use crate::secrets::Hosts;

/// One request of a call.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// What it carries, and where each may be sent.
    pub(super) secrets: Vec<(String, Hosts)>,
}

const ABOUT_THE_BODY: [HeaderName; 6] =
    [CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, TRANSFER_ENCODING];
const CREDENTIALS: [HeaderName; 4] =
    [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, HeaderName::from_static("x-api-key")];

impl Hop {
    pub(super) fn follow(self, status: StatusCode, target: Url) -> Hop {
        let Hop { url, mut method, mut headers, mut body, mut secrets } = self;
        let becomes_get = match status {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
            StatusCode::SEE_OTHER => method != Method::GET && method != Method::HEAD,
            _ => false,
        };
        if becomes_get {
            method = Method::GET;
            body = Bytes::new();
            for name in ABOUT_THE_BODY {
                headers.remove(name);
            }
        }
        headers.remove(HOST);
        if url.origin() != target.origin() {
            for name in CREDENTIALS {
                headers.remove(name);
            }
            let secret: Vec<HeaderName> = headers
                .iter()
                .filter(|(_, value)| value.is_sensitive())
                .map(|(name, _)| name.clone())
                .collect();
            for name in secret {
                headers.remove(name);
            }
            // Those of the body are not sent on at all: whoever sends some follows no redirect.
            if body.is_empty() {
                secrets.clear();
            }
        }
        Hop { url: target, method, headers, body, secrets }
    }

    /// Every secret that it carries may be sent to where it goes.
    pub(super) fn check_secrets(&self) -> Result<(), Error> {
        match self.secrets.iter().find(|(_, hosts)| !hosts.allow(&self.url)) {
            None => Ok(()),
            Some((secret, hosts)) => Err(Error::SecretRefused {
                secret: secret.clone(),
                origin: self.url.origin().ascii_serialization(),
                hosts: hosts.to_string(),
            }),
        }
    }
}

/// `None` if the response is not a redirect.
pub(super) fn target<B>(url: &Url, response: &::http::Response<B>) -> Result<Option<Url>, Error> {
    let redirects = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| redirects) else { return Ok(None) };
    let bad = |why: String| Error::BadRedirect { url: shown(url), why };
    let location = std::str::from_utf8(location.as_bytes()).map_err(|error| bad(error.to_string()))?;
    let mut target = url.join(location).map_err(|error| bad(format!("{error}, `{location}`")))?;
    target.set_fragment(None);
    Ok(Some(target))
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;

    use super::*;

    fn post(url: &str) -> Hop {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-kept", HeaderValue::from_static("1"));
        let mut secret = HeaderValue::from_static("s");
        secret.set_sensitive(true);
        headers.insert("x-secret", secret);
        let (url, body) = (Url::parse(url).unwrap(), Bytes::from_static(b"{}"));
        let secrets = vec![("KEY".to_owned(), Hosts::new(["http://a.test"]).unwrap())];
        Hop { url, method: Method::POST, headers, body, secrets }
    }

    fn names(hop: &Hop) -> Vec<&str> {
        let mut names: Vec<&str> = hop.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_found_turns_a_post_into_a_get_without_its_body() {
        for status in [StatusCode::MOVED_PERMANENTLY, StatusCode::FOUND, StatusCode::SEE_OTHER] {
            let next = post("http://a.test/x").follow(status, Url::parse("http://a.test/y").unwrap());
            assert_eq!((next.method.as_str(), next.body.len()), ("GET", 0));
            assert_eq!(names(&next), ["authorization", "x-kept", "x-secret"]);
        }
    }

    #[test]
    fn a_temporary_redirect_keeps_method_and_body() {
        for status in [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT] {
            let next = post("http://a.test/x").follow(status, Url::parse("http://a.test/y").unwrap());
            assert_eq!((next.method.as_str(), next.body.len()), ("POST", 2));
            assert_eq!(names(&next), ["authorization", "content-type", "x-kept", "x-secret"]);
        }
    }

    #[test]
    fn a_put_stays_a_put_unless_it_is_told_to_see_other() {
        let mut put = post("http://a.test/x");
        put.method = Method::PUT;
        let y = Url::parse("http://a.test/y").unwrap();
        assert_eq!(put.clone().follow(StatusCode::FOUND, y.clone()).method, Method::PUT);
        assert_eq!(put.follow(StatusCode::SEE_OTHER, y).method, Method::GET);
    }

    #[test]
    fn another_host_port_or_scheme_gets_no_credentials() {
        for target in ["http://b.test/", "http://a.test:81/", "https://a.test/"] {
            let next =
                post("http://a.test/").follow(StatusCode::TEMPORARY_REDIRECT, Url::parse(target).unwrap());
            assert_eq!(names(&next), ["content-type", "x-kept"], "{target}");
        }
    }

    #[test]
    fn a_secret_is_held_to_its_hosts_at_every_hop_that_carries_it() {
        let hop = post("http://a.test/");
        assert_eq!(hop.check_secrets(), Ok(()));
        let same = hop.clone().follow(StatusCode::TEMPORARY_REDIRECT, Url::parse("http://a.test/x").unwrap());
        assert_eq!((same.check_secrets(), same.secrets.len()), (Ok(()), 1));
        let body = hop.clone().follow(StatusCode::TEMPORARY_REDIRECT, Url::parse("http://b.test/").unwrap());
        assert_eq!(body.check_secrets().unwrap_err().code(), "SECRET_HOST_REFUSED");
        let bare = hop.follow(StatusCode::SEE_OTHER, Url::parse("http://b.test/").unwrap());
        assert_eq!((bare.check_secrets(), names(&bare)), (Ok(()), vec!["x-kept"]));
    }
}
