//! Waits and branches together: all of them, the first, or the first few.

use std::sync::Arc;
use std::task::Poll;

use super::{Context, First};
use crate::branch::{Branch, Part, Waits};
use crate::execution::Group;
use crate::failure::{Result, TaskError};
use crate::wait::{Opened, Wait};
use crate::wire::Wake;

impl Context {
    /// A branch of the handler, with durable calls of its own, for [`any`](Context::any) and [`all`](Context::all).
    pub fn branch<'a, T>(
        &self,
        name: impl Into<String>,
        work: impl Future<Output = Result<T>> + Send + 'a,
    ) -> Branch<'a, T> {
        Branch::new(name.into(), work)
    }

    /// What all come to, when all are over: waits and branches in a tuple, or in a list of one type. A branch that fails
    /// ends it at once.
    pub async fn all<W: Waits>(&self, waits: W) -> Result<W::Values> {
        let mut slots = waits.slots();
        let opened = W::opened(&slots)?.into_iter().map(|wait| wait.0).collect();
        let mut group = Group::new(self.execution.clone(), opened, Wake::All);
        let over = std::future::poll_fn(|cx| {
            let worked = W::work(&mut slots, cx);
            if let Poll::Ready(Err(error)) = worked {
                self.execution.note_branch_failure();
                return Poll::Ready(Err(error));
            }
            match group.poll(cx) {
                Poll::Ready(Ok(())) => worked,
                waited @ (Poll::Ready(Err(_)) | Poll::Pending) => waited,
            }
        });
        over.await?;
        W::values(slots)
    }

    /// The first that is over: waits and branches. The others are cancelled: waits are ended, with the children that they
    /// wait for, and branches are dropped where they are. [`Wait::map`](crate::Wait::map) makes waits of different types one, and
    /// [`Wait::into_branch`](crate::Wait::into_branch) makes a branch of a wait. A branch that fails is over, and `any` fails with its error.
    ///
    /// Where a branch is among them, the winner is recorded before this returns.
    pub async fn any<P: Part>(&self, parts: impl IntoIterator<Item = P>) -> Result<First<P::Value>> {
        let mut parts: Vec<P> = parts.into_iter().collect();
        let opened: Vec<_> = parts.iter().map(Part::opened).collect();
        if opened.iter().any(Option::is_none) {
            let (index, name, value) = self.execution.race(parts).await?;
            return Ok(First { index, name, value });
        }
        let opened = opened.into_iter().flatten().map(|wait| Ok(wait?.0));
        let opened: Vec<Arc<Opened>> = opened.collect::<Result<_>>()?;
        let mut group = Group::new(self.execution.clone(), opened.clone(), Wake::Any);
        std::future::poll_fn(|cx| group.poll(cx)).await?;
        let Some(index) = self.execution.winner(&opened) else {
            return Err(TaskError::wait_cancelled(opened.first().map_or("", |wait| &wait.name)));
        };
        Ok(First { index, name: opened[index].name.clone(), value: parts.swap_remove(index).value()? })
    }

    /// The first `count` of several waits that are over, in the order of the list. The others are cancelled.
    pub async fn some<T, K>(
        &self,
        count: usize,
        waits: impl IntoIterator<Item = Wait<T, K>>,
    ) -> Result<Vec<First<T>>> {
        let mut waits: Vec<Option<Wait<T, K>>> = waits.into_iter().map(Some).collect();
        let opened: Vec<Arc<Opened>> =
            waits.iter().flatten().map(|wait| wait.opened()).collect::<Result<_>>()?;
        if count == 0 || count > opened.len() {
            return Err(TaskError::misused(format!("{count} of {} waits cannot come", opened.len())));
        }
        loop {
            if let Some(winners) = self.execution.winners(count, &opened) {
                let came = |index: usize| {
                    let wait =
                        waits[index].take().ok_or_else(|| TaskError::wait_cancelled(&opened[index].name))?;
                    Ok(First { index, name: opened[index].name.clone(), value: wait.value()? })
                };
                return winners.into_iter().map(came).collect();
            }
            let cancelled: Vec<&Arc<Opened>> =
                opened.iter().filter(|wait| wait.has_ended() && !wait.has_happened()).collect();
            if let Some(first) = cancelled.first().filter(|_| opened.len() - cancelled.len() < count) {
                return Err(TaskError::wait_cancelled(&first.name));
            }
            let open = opened.iter().filter(|wait| !wait.has_ended()).cloned().collect();
            let mut group = Group::new(self.execution.clone(), open, Wake::Each);
            std::future::poll_fn(|cx| group.poll(cx)).await?;
        }
    }
}
