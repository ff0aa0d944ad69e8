//! The server's own routes, for gateways in this process. What a gateway asks for on behalf of somebody passes the same checks
//! as if they had asked themselves: their address, their credentials and their page come along.

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use axum::response::Response;
use tower_service::Service;

use crate::guard::{Peer, Visiting};

/// What is about the gateway's own request, not about who sent it.
const OWN: [HeaderName; 8] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::TRANSFER_ENCODING,
    HeaderName::from_static("idempotency-key"),
];

/// Every route of the server but those of its guests.
#[derive(Clone)]
pub struct OwnRoutes {
    router: Router,
}

impl std::fmt::Debug for OwnRoutes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnRoutes")
    }
}

impl OwnRoutes {
    pub(crate) fn new(router: Router) -> OwnRoutes {
        OwnRoutes { router }
    }

    /// Makes a request on behalf of whoever sent the one with these parts.
    pub fn call(&self, on_behalf_of: &Parts, mut request: Request) -> impl Future<Output = Response> + use<> {
        for (name, value) in &on_behalf_of.headers {
            if !OWN.contains(name) && !request.headers().contains_key(name) {
                request.headers_mut().append(name, value.clone());
            }
        }
        if let Some(peer) = on_behalf_of.extensions.get::<Peer>() {
            request.extensions_mut().insert(*peer);
        }
        if let Some(visiting) = on_behalf_of.extensions.get::<Visiting>() {
            request.extensions_mut().insert(visiting.clone());
        }
        let mut router = self.router.clone();
        async move {
            let answered: Result<Response, Infallible> = router.call(request).await;
            answered.unwrap_or_else(|never| match never {})
        }
    }
}
