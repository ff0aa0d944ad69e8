//! Limits under the doctor: what is kept of them is compared with what the histories of runs hold and wait for. Room that
//! nobody holds is a slot that leaked, and a line without somebody who waits in it has lost him.

use std::collections::BTreeMap;

use abide_core::capacity::{Ask, HOLDERS_NAMED, Holder, Limit};
use abide_core::id::{LimitId, WorkspaceId};
use abide_core::run::Run;
use abide_store::{Batch, Error, LimitPlace, LimitWrite, Page, Read, Store};
use jiff::Timestamp;

use super::{Doctor, Finding, PAGE};

/// What runs hold and wait for, by the key of a limit.
#[derive(Default)]
pub(super) struct Claims(BTreeMap<LimitId, Claim>);

#[derive(Default)]
struct Claim {
    used: u32,
    waiting: u64,
    /// The first that have room; more are only counted.
    holders: Vec<Holder>,
    /// What one of those that wait asks, in which workspace, and when its run was created.
    ask: Option<(Ask, WorkspaceId, Timestamp)>,
}

impl Claim {
    fn hold(&mut self, holder: Holder) {
        self.used += 1;
        if self.holders.len() < HOLDERS_NAMED {
            self.holders.push(holder);
        }
    }
}

impl Claims {
    /// Adds what a run holds and waits for.
    pub(super) fn add(&mut self, run: &Run) {
        for held in run.held_rooms() {
            let holder = Holder { run: run.id, at: held.at, since: run.created_at };
            held.rooms.iter().for_each(|room| self.0.entry(room.limit).or_default().hold(holder));
        }
        for held in run.call_rooms() {
            let holder = Holder { run: run.id, at: Some(held.at), since: run.created_at };
            held.rooms.iter().for_each(|room| self.0.entry(room.limit).or_default().hold(holder));
        }
        for wait in run.open_waitpoints() {
            if let Some(collecting) = wait.listens_for.starts() {
                let holder = Holder { run: run.id, at: None, since: wait.created_at };
                self.0.entry(collecting.limit).or_default().hold(holder);
            }
            let Some(request) = wait.listens_for.capacity() else { continue };
            let holder = Holder { run: run.id, at: wait.at, since: wait.created_at };
            request.kept().for_each(|kept| self.0.entry(kept).or_default().hold(holder));
            if let Some(ask) = request.awaited() {
                let claim = self.0.entry(ask.limit).or_default();
                claim.waiting += 1;
                claim.ask.get_or_insert_with(|| (ask.clone(), run.workspace, run.created_at));
            }
        }
    }
}

impl Doctor {
    /// Compares what is kept of limits with what runs hold and wait for. Only while nobody writes.
    pub(super) fn limits(&mut self, store: &mut dyn Read) -> Result<(), Error> {
        for (what, _, _) in self.wrong_limits(store)? {
            self.findings.push(Finding { owner: None, what });
        }
        Ok(())
    }

    /// The keys of limits that differ: what is wrong, the limit as it should be, and the version it is kept under.
    fn wrong_limits(&mut self, store: &mut dyn Read) -> Result<Vec<(String, Option<Limit>, u64)>, Error> {
        let mut claims = std::mem::take(&mut self.claims.0);
        let mut wrong = Vec::new();
        for workspace in store.workspaces()? {
            let mut page = Page { after: None, limit: PAGE };
            loop {
                let found = store.limits(workspace.id, None, &page)?;
                for limit in &found {
                    let claim = claims.remove(&limit.id).unwrap_or_default();
                    if (limit.used, limit.waiting) != (claim.used, claim.waiting) {
                        let key =
                            if limit.key.is_empty() { String::new() } else { format!(" `{}`", limit.key) };
                        let what = format!(
                            "limit `{}`{key}: {} have room and {} wait, and runs say {} and {}",
                            limit.name, limit.used, limit.waiting, claim.used, claim.waiting
                        );
                        let right = Limit {
                            used: claim.used,
                            waiting: claim.waiting,
                            holders: claim.holders,
                            ..limit.clone()
                        };
                        wrong.push((what, Some(right), limit.version));
                    }
                }
                page.after = found.last().map(LimitPlace::of);
                if found.len() < PAGE {
                    break;
                }
            }
        }
        for (id, claim) in claims {
            let what = format!(
                "limit {id}: it is forgotten while {} have room and {} wait",
                claim.used, claim.waiting
            );
            let right = claim.ask.map(|(ask, workspace, said_at)| {
                let limit = Limit::new(workspace, &ask, said_at, 1);
                Limit { used: claim.used, waiting: claim.waiting, holders: claim.holders, ..limit }
            });
            wrong.push((what, right, 0));
        }
        Ok(wrong)
    }

    /// Writes what is kept of limits anew where runs say otherwise; says of how many. Whoever may have room gets it when the
    /// store is opened.
    pub(super) fn mend_limits(&mut self, store: &mut dyn Store, now: Timestamp) -> Result<u64, Error> {
        let mut mended = 0;
        for (_, right, based_on) in self.wrong_limits(store)? {
            let Some(mut limit) = right else { continue };
            limit.obey(store.limit_settings(limit.settings_id())?.as_ref());
            limit.version += 1;
            limit.settle(now);
            if limit.is_to_grant(now) {
                limit.due_at = Some(now);
            }
            let removed = limit.is_idle();
            let limits = vec![LimitWrite { based_on, limit: &limit, removed }];
            store.commit(&Batch { limits, ..Batch::default() })?;
            mended += 1;
        }
        Ok(mended)
    }
}
