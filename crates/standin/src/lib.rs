//! A stand-in for model providers: speaks their protocols over loopback and answers by a script.
//!
//! For tests and for trying workflows out without paying. It is as strict as the real ones where clients get it wrong
//! (ids of tool calls, missing fields, keys), and breaks in the ways they break: rate limits, errors, answers that are
//! no JSON, slowness, cut connections. Every call is one line of a log, written before it is answered.

mod anthropic;
mod log;
mod openai_chat;
mod openai_responses;
mod reply;
mod request;
mod script;
mod server;

pub use log::Logged;
pub use request::Protocol;
pub use script::{Cut, Error, Reply, Rule, Script, Stop, ToolCall, Usage};
pub use server::{Options, StandIn};
