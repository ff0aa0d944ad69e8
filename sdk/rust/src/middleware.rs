//! Code around every handler and every durable call of a worker: for traces, metrics, and services that collect errors.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use crate::context::Context;
use crate::execution::Running;
use crate::failure::Result;
use crate::wire::Json;

/// What a middleware stands around: it awaits this, or gives it back as it is.
pub type Next<'a> = Pin<Box<dyn Future<Output = Result<Json>> + Send + 'a>>;

/// Stands around handlers and calls: see [`Worker::middleware`](crate::Worker::middleware). An error of a middleware is the
/// handler's error.
///
/// ```
/// use abide_sdk::{CallAttempt, Middleware, Next};
///
/// struct Times;
///
/// impl Middleware for Times {
///     fn call<'a>(&'a self, call: &'a CallAttempt<'a>, next: Next<'a>) -> Next<'a> {
///         Box::pin(async move {
///             let begun = std::time::Instant::now();
///             let done = next.await;
///             println!("{} took {:?} in attempt {}: {}", call.name, begun.elapsed(), call.attempt, done.is_ok());
///             done
///         })
///     }
/// }
/// ```
pub trait Middleware: Send + Sync {
    /// Around each execution of a task to a handler, re-executions included: [`Context::replaying`] says which. A handler that
    /// is suspended does not return, and neither does `next`: what is held here is dropped, and
    /// [`suspended`](Middleware::suspended) is called.
    fn handler<'a>(&'a self, ctx: &'a Context, next: Next<'a>) -> Next<'a> {
        let _ = ctx;
        next
    }

    /// Around each real execution of the work of a [`Context::run`], never at replay.
    fn call<'a>(&'a self, call: &'a CallAttempt<'a>, next: Next<'a>) -> Next<'a> {
        let _ = call;
        next
    }

    /// The handler only waits, and was suspended.
    fn suspended(&self, ctx: &Context) {
        let _ = ctx;
    }
}

/// One execution of the work of a durable call.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallAttempt<'a> {
    /// The name of the call.
    pub name: &'a str,
    /// From 1; more where the call has a policy.
    pub attempt: u32,
    /// What other services may know the call by.
    pub idempotency_key: String,
    /// The handler's.
    pub ctx: &'a Context,
}

/// The middleware of a worker, the outermost first.
#[derive(Clone, Default)]
pub(crate) struct Stack(Arc<Vec<Arc<dyn Middleware>>>);

impl Stack {
    pub(crate) fn push(&mut self, middleware: impl Middleware + 'static) {
        Arc::make_mut(&mut self.0).push(Arc::new(middleware));
    }

    pub(crate) fn handler(&self, ctx: &Context, handler: Running) -> Running {
        self.0.iter().rev().fold(handler, |next, middleware| {
            let (middleware, ctx) = (middleware.clone(), ctx.clone());
            Box::pin(async move { middleware.handler(&ctx, next).await })
        })
    }

    pub(crate) fn call<'a>(&'a self, call: &'a CallAttempt<'a>, work: Next<'a>) -> Next<'a> {
        self.0.iter().rev().fold(work, |next, middleware| middleware.call(call, next))
    }

    pub(crate) fn suspended(&self, ctx: &Context) {
        for middleware in self.0.iter().rev() {
            // The handler is gone; there is nothing left that could fail.
            if catch_unwind(AssertUnwindSafe(|| middleware.suspended(ctx))).is_err() {
                tracing::warn!(run = ctx.run_id(), "a middleware panicked when the handler was suspended");
            }
        }
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} middleware", self.0.len())
    }
}
