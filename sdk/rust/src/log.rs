//! The language's own logger: events of `tracing` that handlers write go to the log of their run.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::execution;
use crate::wire::LogLevel;

/// Writes what a handler tells `tracing` to the log of its run, as [`Context::log`](crate::Context::log) does: what an earlier
/// delivery has written is not written again. What is told outside of handlers, or in tasks that a handler has spawned, is
/// left to other layers.
///
/// ```
/// use abide_sdk::log::RunLogLayer;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let subscriber = tracing_subscriber::registry().with(RunLogLayer::new());
/// # let _ = subscriber;
/// ```
#[derive(Debug, Clone)]
pub struct RunLogLayer {
    level: LevelFilter,
}

impl Default for RunLogLayer {
    fn default() -> RunLogLayer {
        RunLogLayer { level: LevelFilter::INFO }
    }
}

impl RunLogLayer {
    /// Writes what matters as much as `INFO`, or more.
    pub fn new() -> RunLogLayer {
        RunLogLayer::default()
    }

    /// Writes what matters as much as this, or more.
    pub fn level(self, level: impl Into<LevelFilter>) -> RunLogLayer {
        RunLogLayer { level: level.into() }
    }
}

impl<S: Subscriber> Layer<S> for RunLogLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        // What this crate tells of a handler is in the history of its run.
        let is_ours = target == "abide_sdk" || target.starts_with("abide_sdk::");
        if self.level < level || is_ours {
            return;
        }
        execution::log_of_handler(severity(level), || {
            let mut line = Line::default();
            event.record(&mut line);
            line.message + &line.fields
        });
    }
}

fn severity(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG | Level::TRACE => LogLevel::Debug,
    }
}

/// The message, and the fields after it: `sent parcel=7`.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // A string takes what is written to it.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
