//! What `any` and `all` take: waits, and branches with durable calls of their own.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::failure::Result;
use crate::wait::{Opened, Wait};

/// A named part of a handler that runs beside others: see [`Context::branch`](crate::Context::branch).
#[must_use = "a branch does nothing unless it is given to `any` or `all`"]
pub struct Branch<'a, T> {
    name: String,
    work: Work<'a, T>,
}

enum Work<'a, T> {
    Wait(Wait<T>),
    Own(Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>),
}

impl<'a, T> Branch<'a, T> {
    pub(crate) fn new(name: String, work: impl Future<Output = Result<T>> + Send + 'a) -> Branch<'a, T> {
        Branch { name, work: Work::Own(Box::pin(work)) }
    }

    pub(crate) fn of_wait(wait: Wait<T>) -> Branch<'a, T> {
        Branch { name: wait.name(), work: Work::Wait(wait) }
    }
}

impl<T> fmt::Debug for Branch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branch").field("name", &self.name).finish_non_exhaustive()
    }
}

/// For the compiler only.
#[doc(hidden)]
#[derive(Debug)]
pub struct OpenedWait(pub(crate) Arc<Opened>);

/// What can stand in an `any` or an `all`: a [`Wait`] or a [`Branch`].
pub trait Part: Unpin + Sized {
    /// What it comes to.
    type Value;

    #[doc(hidden)]
    fn name(&self) -> String;
    /// The wait, if it is one.
    #[doc(hidden)]
    fn opened(&self) -> Option<Result<OpenedWait>>;
    #[doc(hidden)]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::Value>>;
    /// What a wait that is over came to.
    #[doc(hidden)]
    fn value(self) -> Result<Self::Value>;
}

impl<T, K> Part for Wait<T, K> {
    type Value = T;

    fn name(&self) -> String {
        self.opened().map(|wait| wait.name.clone()).unwrap_or_default()
    }

    fn opened(&self) -> Option<Result<OpenedWait>> {
        Some(Wait::opened(self).map(OpenedWait))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T>> {
        Future::poll(Pin::new(self), cx)
    }

    fn value(self) -> Result<T> {
        Wait::value(self)
    }
}

impl<T> Part for Branch<'_, T> {
    type Value = T;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn opened(&self) -> Option<Result<OpenedWait>> {
        match &self.work {
            Work::Wait(wait) => Part::opened(wait),
            Work::Own(_) => None,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T>> {
        match &mut self.work {
            Work::Wait(wait) => Part::poll(wait, cx),
            Work::Own(work) => work.as_mut().poll(cx),
        }
    }

    fn value(self) -> Result<T> {
        match self.work {
            Work::Wait(wait) => wait.value(),
            Work::Own(_) => unreachable!("what a branch came to is kept when it is over"),
        }
    }
}

/// One of several that are all awaited.
#[doc(hidden)]
#[derive(Debug)]
pub struct Slot<P: Part> {
    part: P,
    value: Option<P::Value>,
}

impl<P: Part> Slot<P> {
    fn new(part: P) -> Slot<P> {
        Slot { part, value: None }
    }

    /// Goes on with a branch. Waits are waited for together.
    fn work(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if self.value.is_some() || self.part.opened().is_some() {
            return Poll::Ready(Ok(()));
        }
        self.part.poll(cx).map_ok(|value| self.value = Some(value))
    }

    fn value(self) -> Result<P::Value> {
        self.value.map_or_else(|| self.part.value(), Ok)
    }
}

/// Several waits and branches: a list of one type, or a tuple.
pub trait Waits {
    /// What they come to.
    type Values;
    #[doc(hidden)]
    type Slots;

    #[doc(hidden)]
    fn slots(self) -> Self::Slots;
    #[doc(hidden)]
    fn opened(slots: &Self::Slots) -> Result<Vec<OpenedWait>>;
    #[doc(hidden)]
    fn work(slots: &mut Self::Slots, cx: &mut Context<'_>) -> Poll<Result<()>>;
    #[doc(hidden)]
    fn values(slots: Self::Slots) -> Result<Self::Values>;
}

impl<P: Part> Waits for Vec<P> {
    type Values = Vec<P::Value>;
    type Slots = Vec<Slot<P>>;

    fn slots(self) -> Self::Slots {
        self.into_iter().map(Slot::new).collect()
    }

    fn opened(slots: &Self::Slots) -> Result<Vec<OpenedWait>> {
        slots.iter().filter_map(|slot| slot.part.opened()).collect()
    }

    fn work(slots: &mut Self::Slots, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut is_over = true;
        for slot in slots {
            match slot.work(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_over = false,
            }
        }
        if is_over { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn values(slots: Self::Slots) -> Result<Self::Values> {
        slots.into_iter().map(Slot::value).collect()
    }
}

macro_rules! tuples {
    ($($slot:ident: $part:ident),*) => {
        impl<$($part: Part),*> Waits for ($($part,)*) {
            type Values = ($($part::Value,)*);
            type Slots = ($(Slot<$part>,)*);

            fn slots(self) -> Self::Slots {
                let ($($slot,)*) = self;
                ($(Slot::new($slot),)*)
            }

            fn opened(slots: &Self::Slots) -> Result<Vec<OpenedWait>> {
                let ($($slot,)*) = slots;
                [$($slot.part.opened()),*].into_iter().flatten().collect()
            }

            fn work(slots: &mut Self::Slots, cx: &mut Context<'_>) -> Poll<Result<()>> {
                let ($($slot,)*) = slots;
                let mut is_over = true;
                $(
                    match $slot.work(cx) {
                        Poll::Ready(Ok(())) => {}
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => is_over = false,
                    }
                )*
                if is_over { Poll::Ready(Ok(())) } else { Poll::Pending }
            }

            fn values(slots: Self::Slots) -> Result<Self::Values> {
                let ($($slot,)*) = slots;
                Ok(($($slot.value()?,)*))
            }
        }
    };
}

tuples!(a: A, b: B);
tuples!(a: A, b: B, c: C);
tuples!(a: A, b: B, c: C, d: D);
tuples!(a: A, b: B, c: C, d: D, e: E);
