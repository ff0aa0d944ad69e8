//! What the engine calls by itself, over real sockets: HTTP, models (a stand-in), handlers behind URLs.

#![allow(clippy::unwrap_used, reason = "a host that cannot be set up is a failed test")]

#[path = "calls/budgets.rs"]
mod budgets;
#[path = "calls/documented.rs"]
mod documented;
#[path = "calls/examples.rs"]
mod examples;
#[path = "calls/for_code.rs"]
mod for_code;
#[path = "calls/http.rs"]
mod http;
#[path = "calls/llm.rs"]
mod llm;
#[path = "calls/place.rs"]
mod place;
#[path = "calls/url.rs"]
mod url;
