//! `ctx.run`: work that is done at least once until its result is recorded, and answers from the journal after that.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Call, Execution, Group, INSIDE, OWN, read};
use crate::call::{Limit, RunOptions, back_off_name, room_name};
use crate::context::Context;
use crate::failure::{Result, TaskError};
use crate::middleware::CallAttempt;
use crate::wait::{Open, Spec};
use crate::wire::{NewJournalEntry, TaskReportHeartbeat, Wake};

impl Execution {
    pub(crate) async fn run_once<T, F, Fut>(
        self: &Arc<Self>,
        ctx: &Context,
        name: &str,
        options: &RunOptions,
        work: F,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<T>> + Send,
    {
        let entry = self.ask(name, Call::Run)?;
        if let Some(failed) = self.failed(name) {
            self.note_branch_failure();
            return Err(read(name, failed.result.clone())?);
        }
        if let Some(entry) = entry {
            return read(name, entry.result);
        }
        let mut attempt = 1;
        while self.recorded(&back_off_name(name, attempt)).is_some() {
            self.back_off(name, attempt, options, None).await?;
            attempt += 1;
        }
        if let Some(limit) = &options.limit {
            self.wait_for_room(name, limit).await?;
        }
        let work = async {
            let idempotency_key = self.idempotency_key(name);
            let call = CallAttempt { name, attempt, idempotency_key, ctx };
            let work = Box::pin(async {
                let value = work().await?;
                serde_json::to_value(value).map_err(|error| TaskError::not_json(name, &error))
            });
            let done = INSIDE.scope(name.to_owned(), ctx.middleware().call(&call, work));
            let result = match options.within(name, done).await {
                Ok(result) => result,
                Err(error) if error.retryable && attempt < options.attempts() => return Ok(Err(error)),
                Err(error) => return Err(self.note_failure(name, error, options)),
            };
            let entry = NewJournalEntry::new(name).result(result.clone());
            self.record(TaskReportHeartbeat::new(&self.task.lease_token).entries([entry])).await?;
            read(name, result).map(Ok)
        };
        match self.act(name, work).await? {
            Ok(value) => Ok(value),
            Err(error) => {
                self.back_off(name, attempt, options, Some(&error)).await?;
                Err(error)
            }
        }
    }

    /// Waits until a call is made again. A handler that only waits for that is suspended.
    async fn back_off(
        self: &Arc<Self>,
        name: &str,
        attempt: u32,
        options: &RunOptions,
        error: Option<&TaskError>,
    ) -> Result<()> {
        let spec = Spec::Wait(options.back_off(name, attempt, error).into());
        let opened = Open::new(self, self.open(back_off_name(name, attempt), spec)?);
        let mut group = Group::new(self.clone(), vec![opened.wait.clone()], Wake::All);
        std::future::poll_fn(|cx| group.poll(cx)).await?;
        opened.wait.payload().map(drop).inspect_err(|_| self.note_branch_failure())
    }

    /// Waits until there is room for a call. A handler that only waits for that is suspended.
    async fn wait_for_room(self: &Arc<Self>, name: &str, limit: &Limit) -> Result<()> {
        let spec = Spec::Wait(limit.wait(name).into());
        self.check_same(&room_name(name), self.recorded(&room_name(name)), &spec)?;
        let opened = Open::new(self, self.open(room_name(name), spec)?);
        let mut group = Group::new(self.clone(), vec![opened.wait.clone()], Wake::All);
        std::future::poll_fn(|cx| group.poll(cx)).await?;
        let given = opened.wait.payload().map(|payload| payload.is_some());
        let given = given.inspect_err(|_| self.note_branch_failure())?;
        if given { Ok(()) } else { Err(limit.is_late(name)) }
    }

    /// Does several things while it has room, which is given back when they are done or have failed.
    pub(crate) async fn with_room<T>(
        self: &Arc<Self>,
        limit: &Limit,
        name: &str,
        body: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let is_over = self.ask(name, Call::Run)?.is_some() || self.failed(name).is_some();
        if is_over {
            return body.await;
        }
        self.wait_for_room(name, limit).await?;
        match body.await {
            Ok(value) => {
                let entry = NewJournalEntry::new(name).result(serde_json::Value::Null);
                let left = self.record(TaskReportHeartbeat::new(&self.task.lease_token).entries([entry]));
                self.act(name, left).await?;
                Ok(value)
            }
            Err(error) => Err(self.note_failure(name, error, &RunOptions::new())),
        }
    }

    fn note_failure(&self, name: &str, mut error: TaskError, options: &RunOptions) -> TaskError {
        // A call that had attempts of its own has used them up: another attempt of the handler would only go beyond.
        error.retryable &= !options.has_policy();
        error.origin.get_or_insert_default().call.get_or_insert_with(|| name.to_owned());
        let idempotency = serde_json::to_value(&error).expect("a failure is JSON");
        let entry = NewJournalEntry::new(format!("{OWN}{name}")).result(idempotency);
        self.locked(|state| state.unsaved.push(entry));
        error
    }
}
