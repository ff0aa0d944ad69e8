//! Starts of runs that somebody asks for: checked, found under their idempotency key, collected, or begun.

use std::sync::Arc;

use abide_core::command::{self, Context, Reply};
use abide_core::definition::{Definition, is_own};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::idempotency::{IdempotencyRecord, digest, replay};
use abide_core::json::Json;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use abide_store::{Page, RunFilter};

use super::Decider;
use super::batch::{AfterCommitAction, RunDelta};
use super::debounce::Debounced;
use crate::error::Error;
use crate::reply_listener::ReplyListener;
use crate::start::{StartRun, Started, StartedHow};

impl Decider<'_> {
    /// What the input of a run is to be checked against, if that is more than a moment's work.
    pub(crate) fn start_to_check(&mut self, start: &StartRun) -> Option<Arc<Definition>> {
        let version = start.version.as_deref();
        let definition = self.memory.definition(self.store, start.workspace, &start.name, version).ok()?;
        let is_checked = start.checked.as_ref().is_some_and(|checked| Arc::ptr_eq(checked, &definition));
        if is_checked || definition.is_quick_to_check(&start.input) {
            return None;
        }
        let key = start.key.as_ref().map(|key| format!("{}/start/{key}", start.workspace));
        let is_answered =
            key.is_some_and(|key| self.idempotency_record(&key).is_ok_and(|earlier| earlier.is_some()));
        (!is_answered).then_some(definition)
    }

    /// The first of many runs whose input is to be checked beside the writer, with what it is to be checked against.
    pub(crate) fn starts_to_check(
        &mut self,
        starts: &[Result<StartRun, Error>],
    ) -> Option<(usize, Arc<Definition>, Json)> {
        starts.iter().enumerate().find_map(|(index, start)| {
            let start = start.as_ref().ok()?;
            self.start_to_check(start).map(|definition| (index, definition, start.input.clone()))
        })
    }

    pub(crate) fn start(
        &mut self,
        start: StartRun,
        listener: Option<ReplyListener>,
    ) -> Result<Started, Error> {
        let key = start.key.as_ref().map(|key| format!("{}/start/{key}", start.workspace));
        let key = key.map(|key| {
            let input = start.asked.as_ref().unwrap_or(&start.input);
            (key, digest(&(&start.name, &start.version, input, start.run_at, &start.tags)))
        });
        if let Some((key, digest)) = &key
            && let Some(earlier) = self.idempotency_record(key)?
            && let Some((run, collected)) = replay(key, *digest, Some(&earlier))?.and_then(started_run)
        {
            self.listen_again(run, earlier.at, listener);
            return Ok(Started { run, how: StartedHow::Repeated { collected } });
        }
        let workspace = start.workspace;
        if let Some(tag) = &start.unique_tag
            && let Some(run) = self.run_with(workspace, tag)?
        {
            self.listen(run, listener);
            return Ok(Started { run, how: StartedHow::Repeated { collected: false } });
        }
        let version = start.version.as_deref();
        if is_own(&start.name) {
            // It is a part of another run, and nobody's to start.
            return Err(Error::UnknownDefinition { name: start.name, version: start.version });
        }
        let definition = self.memory.definition(self.store, workspace, &start.name, version)?;
        if !start.checked.as_ref().is_some_and(|checked| Arc::ptr_eq(checked, &definition)) {
            definition.check_input(&start.input)?;
        }
        // Who says when the run is to begin wants a run of its own.
        let debounced = match start.run_at {
            Some(_) => Debounced::Never,
            None => self.debounce(workspace, &definition, &start.input, &start.by)?,
        };
        let (run, reply) = match debounced {
            Debounced::Into(run) => {
                self.listen(run, listener);
                (run, Reply::Collected(run))
            }
            Debounced::Never | Debounced::Opens(_) => {
                self.check_open_runs(workspace)?;
                let id = self.memory.fresh_id(self.now, self.random.draw_u128());
                let new = command::NewRun {
                    workspace,
                    run_at: start.run_at,
                    tags: start.tags,
                    debounced: debounced.opens(),
                    ..command::NewRun::new(id, definition, start.input)
                };
                self.start_run(new, start.by, listener)?;
                (id, Reply::Started(id))
            }
        };
        let how = if let Reply::Collected(_) = reply {
            StartedHow::Collected
        } else if self.run(run)?.status == RunStatus::Cancelled {
            StartedHow::Skipped
        } else {
            StartedHow::Created
        };
        if let Some(tag) = start.unique_tag {
            let (key, reply) = (unique_key(workspace, &tag), reply.clone());
            let record =
                IdempotencyRecord { key: key.clone(), digest: 0, reply, run: Some(run), at: self.now };
            self.batch.unique_tags.insert(key, record);
        }
        if let Some((key, digest)) = key {
            let record = IdempotencyRecord { key: key.clone(), digest, reply, run: Some(run), at: self.now };
            self.batch.idempotency.insert(key, record);
        }
        Ok(Started { run, how })
    }

    /// The run that was started with a unique tag.
    fn run_with(&mut self, workspace: WorkspaceId, tag: &str) -> Result<Option<RunId>, Error> {
        let key = unique_key(workspace, tag);
        if let Some(record) = self.batch.unique_tags.get(&key) {
            return Ok(record.run);
        }
        if let Some((round, record)) = self.in_flight.find(|before| before.unique_tags.get(&key)) {
            let run = record.run;
            self.batch.depend_on(round);
            return Ok(run);
        }
        let tagged =
            RunFilter { workspace: Some(workspace), tag: Some(tag.to_owned()), ..RunFilter::default() };
        let found = self.store.run_ids(&tagged, &Page { after: None, limit: 1 })?;
        if let Some(run) = found.first() {
            return Ok(Some(*run));
        }
        // A run that was forgotten leaves its key for a while, where the store is shared.
        let earlier = self.store.idempotency_record(&key)?;
        Ok(earlier.and_then(|earlier| started_run(earlier.reply)).map(|(run, _)| run))
    }

    pub(crate) fn start_run(
        &mut self,
        new: command::NewRun,
        by: Actor,
        listener: Option<ReplyListener>,
    ) -> Result<(), Error> {
        let context = self.context(by);
        self.begin_run(new, &context, listener)?;
        self.follow_up();
        Ok(())
    }

    /// Starts a run, which begins at once if it has room under its limits. What follows for other runs is left to the caller.
    pub(super) fn begin_run(
        &mut self,
        new: command::NewRun,
        context: &Context,
        listener: Option<ReplyListener>,
    ) -> Result<(), Error> {
        let (id, parent, collecting) = (new.id, new.parent, new.debounced.clone());
        let mut has_taken = false;
        let started = command::start_with(new, context, &mut |run, request| {
            has_taken = self.room_at_start(run, request)?;
            Ok(has_taken)
        });
        if let (Err(refusal), true) = (&started, has_taken) {
            self.batch.poisoned.get_or_insert(Error::Refused(refusal.clone()));
        }
        let (run, outcome) = started?;
        if let Some(key) = collecting {
            self.begin_collecting(&run, &key);
        }
        if let Some(parent) = parent {
            *self.batch.descendants.entry(parent.root()).or_default() += 1;
        }
        let actions = listener.map(AfterCommitAction::Listen).into_iter().collect();
        self.batch.insert(RunDelta { run: Box::new(run), based_on: 0, records: outcome.records, actions });
        self.take_up_effects(id, outcome.in_round, outcome.after_commit);
        Ok(())
    }
}

/// The idempotency key under which a run has its unique tag.
fn unique_key(workspace: WorkspaceId, tag: &str) -> String {
    format!("{workspace}/tag/{tag}")
}

/// The run that a start came to, and whether it was there already.
pub(super) fn started_run(reply: Reply) -> Option<(RunId, bool)> {
    match reply {
        Reply::Started(run) => Some((run, false)),
        Reply::Collected(run) => Some((run, true)),
        Reply::Done
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Waitpoint(_)
        | Reply::Repeated(_)
        | Reply::Leased { .. }
        | Reply::EventSent { .. }
        | Reply::Voted { .. } => None,
    }
}
