//! A gateway for clients of the Model Context Protocol: a workflow is a tool, a run is a task, and a wait for a person or a
//! signal is an input that is required.
//!
//! ```text
//!   client ── POST /mcp ──▶ http (metadata, era) ──▶ method ──▶ api ──▶ the server's own routes, on behalf of the caller
//!      ▲                                               │                        │
//!      └── a result, or a stream of notifications ◀────┴──── follow ◀── the history of the run
//! ```
//!
//! It is no second engine, and has no state: what it answers is read from runs and waitpoints, and whatever it is told goes
//! through the API of the server with the caller's own key. So a task outlives the process, any node can answer for it, and
//! nobody may do more here than there.

mod api;
mod ask;
mod call;
mod catalog;
mod client;
mod discover;
mod dispatch;
mod follow;
mod headers;
mod http;
mod listen;
mod metadata;
mod outcome;
mod own_tools;
mod prompts;
mod resources;
mod rpc;
mod tasks;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ::http::request::Parts;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use tokio::sync::Semaphore;

use crate::catalog::Catalog;

/// Where clients find it.
pub const PATH: &str = "/mcp";
/// Requests under way at the same time, of all clients.
const REQUESTS: usize = 2_000;
/// Streams of `subscriptions/listen` at the same time, of all clients.
const LISTENERS: usize = 200;

/// The server's own routes, in this process.
pub trait OwnRoutes: Send + Sync + 'static {
    /// Makes a request on behalf of whoever sent the one with these parts, with their credentials and from their address.
    fn call(
        &self,
        on_behalf_of: &Parts,
        request: Request<Body>,
    ) -> Pin<Box<dyn Future<Output = Response> + Send>>;
}

/// The gateway.
pub struct Gateway {
    routes: Arc<dyn OwnRoutes>,
    /// How others reach this server.
    public_url: String,
    catalog: Catalog,
    requests: Arc<Semaphore>,
    listeners: Arc<Semaphore>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("public_url", &self.public_url).finish_non_exhaustive()
    }
}

impl Gateway {
    /// A gateway before these routes of a server that others reach at `public_url`.
    pub fn new(routes: Arc<dyn OwnRoutes>, public_url: impl Into<String>) -> Arc<Gateway> {
        Arc::new(Gateway {
            routes,
            public_url: public_url.into(),
            catalog: Catalog::default(),
            requests: Arc::new(Semaphore::new(REQUESTS)),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        })
    }

    /// The routes of the gateway: [`PATH`], and what is said about it under `/.well-known`.
    pub fn router(self: &Arc<Gateway>) -> Router {
        http::router(Arc::clone(self))
    }
}
