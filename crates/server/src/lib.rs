//! The HTTP API of abide: routes, resume links, keys, OpenAPI. It translates and decides nothing: a request becomes a
//! command, what the engine says becomes an answer.
//!
//! ```text
//!   connection ──▶ guard (host, origin, size) ──▶ route ──▶ key and scope ──▶ handler ──▶ engine
//!                                                   │                          parse · command · shape
//!                                  endpoint table ──┴──▶ /openapi.json, /docs
//! ```
//!
//! A handler never blocks: reads go to the engine's readers, writes to its queue. Whoever waits (a long poll, a stream
//! of events, a reply) is a parked future and nothing else.

mod activity;
mod app;
mod audit;
mod caller;
mod connection;
mod edits;
mod endpoint;
mod guard;
mod links;
mod metrics;
mod openapi;
mod own_routes;
mod pages;
mod problem;
mod proxy;
mod quotas;
mod rate;
mod request;
mod routes;
mod seldom;
mod server;
mod settings;
mod shape;
mod strangers;
mod traces;
mod traffic;

pub use own_routes::OwnRoutes;
pub use problem::{Code, Problem};
pub use proxy::{BadNetwork, Network};
pub use quotas::Quotas;
pub use server::{Guest, Server, StartError, first_key};
pub use settings::{Auth, BadSettings, Limits, PORT, Settings};

/// The OpenAPI document, as it is served at `/openapi.json`.
pub fn openapi() -> serde_json::Value {
    openapi::document(&routes::all())
}
