//! A response, in one piece or in chunks.

use std::net::SocketAddr;

use ::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::Instant;
use url::Url;

use super::connect::Peer;
use super::error::Error;
use super::{Bounds, shown};

#[derive(Clone, Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Where it came from, after all redirects.
    pub url: String,
    pub address: Option<SocketAddr>,
}

/// The headers, and a body that is still coming.
#[derive(Debug)]
pub struct Streaming {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub address: Option<SocketAddr>,
    url: Url,
    body: Incoming,
    left: usize,
    bounds: Bounds,
    deadline: Instant,
}

impl Streaming {
    pub(super) fn new(
        response: ::http::Response<Incoming>,
        url: Url,
        bounds: Bounds,
        deadline: Instant,
    ) -> Result<Streaming, Error> {
        let (parts, body) = response.into_parts();
        let address = parts.extensions.get::<Peer>().map(|peer| peer.0);
        let streaming = Streaming {
            status: parts.status,
            headers: parts.headers,
            address,
            url,
            body,
            left: bounds.response_bytes,
            bounds,
            deadline,
        };
        if streaming.body.size_hint().lower() > bounds.response_bytes as u64 {
            return Err(streaming.too_large());
        }
        Ok(streaming)
    }

    /// `None` at the end of the body.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = tokio::time::timeout_at(self.deadline, self.body.frame())
                .await
                .map_err(|_| Error::TimedOut { url: shown(&self.url), after: self.bounds.whole })?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| Error::of_connection(&error, &self.url))?;
            let Ok(data) = frame.into_data() else { continue };
            self.left = self.left.checked_sub(data.len()).ok_or_else(|| self.too_large())?;
            return Ok(Some(data));
        }
    }

    pub async fn collect(mut self) -> Result<Response, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        let Streaming { status, headers, address, url, .. } = self;
        Ok(Response { status, headers, body: body.freeze(), url: url.into(), address })
    }

    fn too_large(&self) -> Error {
        Error::ResponseTooLarge { url: shown(&self.url), limit: self.bounds.response_bytes }
    }
}
