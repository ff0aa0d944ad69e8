//! The doctor: reads every page and every history of a store, and compares the rows that are kept to find runs with
//! the histories. It reads and decides nothing; the caller holds what was found, or has it [mended](mend).
//!
//! One run at a time is in memory, so it can be done beside a server, and at any pace.

mod limits;

use std::collections::{BTreeMap, BTreeSet};

use abide_core::definition::Definition;
use abide_core::id::{RunId, ScheduleId, WorkspaceId};
use abide_core::run::Timer;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Waitpoint;
use abide_store::audit::{self, Verified};
use abide_store::{
    Error, Held, Owner, Page, Read, RunFilter, Store, StoredTimer, WaitpointFilter, WaitpointSummary,
};
use jiff::Timestamp;

use crate::holds::workspace_of;
use crate::memory::Memory;

/// How many rows are read between two reports of progress.
const PAGE: usize = 500;

/// Damage that was found in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The run or the schedule that is damaged: to hold it keeps the damage to it. `None`: the damage is nobody's.
    pub owner: Option<Owner>,
    /// What is wrong, for people.
    pub what: String,
}

/// The progress of an examination: what was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Runs that were read.
    pub runs: u64,
    /// Schedules that were read.
    pub schedules: u64,
    /// Definitions that were read.
    pub definitions: u64,
    /// Events that were read.
    pub events: u64,
}

/// Is told the progress of an examination, which goes on as long as the answer is yes.
pub type Tell<'t> = &'t mut dyn FnMut(Examined) -> bool;

/// Reads everything in a store. What cannot be read is a finding; only a store that is not there at all is an error.
pub fn examine(store: &mut dyn Read, tell: Tell<'_>) -> Result<(Examined, Vec<Finding>), Error> {
    let mut doctor = Doctor::default();
    let pages = store.check_pages()?;
    doctor.findings.extend(pages.into_iter().map(|what| Finding { owner: None, what }));
    if doctor.examine_all(store, tell)? {
        doctor.timers(store)?;
        if !doctor.is_partial {
            doctor.limits(store)?;
        }
        doctor.audit_log(store)?;
    }
    Ok((doctor.examined, doctor.findings))
}

/// Reads everything beside a server that goes on: nothing that takes long in one go, and nothing that can only be
/// compared while nobody writes.
pub(crate) fn examine_beside(
    store: &mut dyn Read,
    tell: Tell<'_>,
) -> Result<(Examined, Vec<Finding>), Error> {
    let mut doctor = Doctor::default();
    doctor.examine_all(store, tell)?;
    Ok((doctor.examined, doctor.findings))
}

/// The result of mending a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// How many runs and schedules have new rows for their waits.
    pub waits_of: u64,
    /// How many runs and schedules cannot be read, and are held.
    pub held: u64,
    /// How many keys of limits are written anew, as runs hold room under them and wait for it.
    pub limits: u64,
}

/// Writes the rows of waits anew where they differ from the histories, and holds what cannot be read. For a store
/// that nobody else has open.
pub fn mend(store: &mut dyn Store, now: Timestamp) -> Result<Mended, Error> {
    let mut doctor = Doctor::default();
    let mut mended = Mended::default();
    doctor.examine_all(store, &mut |_| true)?;
    let mut memory = Memory::default();
    let owners: BTreeSet<Owner> = doctor.findings.iter().filter_map(|finding| finding.owner).collect();
    for owner in owners {
        match rewrite_waits(store, &mut memory, owner) {
            Ok(()) => mended.waits_of += 1,
            Err(error) if error.passes() => return Err(Error::Unavailable(error.to_string())),
            Err(error) => {
                let (workspace, by, reason) =
                    (workspace_of(store, owner), DOCTOR.to_owned(), error.to_string());
                mended.held += u64::from(store.hold(&Held { owner, workspace, at: now, by, reason })?);
            }
        }
    }
    // What a run holds that cannot be read is not known.
    if !doctor.is_partial {
        mended.limits = doctor.mend_limits(store, now)?;
    }
    Ok(mended)
}

/// The actor that holds what could not be mended.
const DOCTOR: &str = "doctor";

fn rewrite_waits(store: &mut dyn Store, memory: &mut Memory, owner: Owner) -> Result<(), crate::Error> {
    match owner {
        Owner::Schedule(id) => {
            if let Some(schedule) = store.schedule(id)? {
                store.rewrite_waits(owner, schedule.workspace, &schedule.waits().collect::<Vec<_>>())?;
            }
        }
        Owner::Limit(_) => {}
        Owner::Run(id) => {
            if let Some(run) = memory.take(store, id)? {
                store.rewrite_waits(owner, run.workspace, &run.waitpoints().collect::<Vec<_>>())?;
            }
        }
    }
    Ok(())
}

/// How often a run or a schedule is read again that changed meanwhile.
const LOOKS: usize = 3;

#[derive(Default)]
struct Doctor {
    examined: Examined,
    findings: Vec<Finding>,
    /// The sum of the timers that histories and schedules ask for.
    expected: Sum,
    claims: limits::Claims,
    /// A run could not be read.
    is_partial: bool,
}

/// A sum of timers that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    sum: u128,
}

impl Sum {
    fn add(&mut self, timer: &StoredTimer) {
        let number = match timer.timer {
            Timer::Waitpoint(number) => u128::from(number) + 2,
            Timer::Run => 1,
            Timer::Attempt { .. } => return,
        };
        let at = timer.at.as_nanosecond().cast_unsigned();
        self.count += 1;
        let mixed =
            (timer.run.0 ^ number.rotate_left(64)).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        self.sum = self.sum.wrapping_add(mixed ^ at.wrapping_mul(0xD1B5_4A32_D192_ED03));
    }
}

impl Doctor {
    fn find(&mut self, owner: Option<RunId>, what: String) {
        self.findings.push(Finding { owner: owner.map(Owner::of), what });
    }

    /// Makes a finding of damage; any other error ends the examination.
    fn note<T>(&mut self, owner: Option<RunId>, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Ok(found) => Ok(Some(found)),
            Err(Error::Damaged { owner, what }) => {
                self.find(Some(owner), what);
                Ok(None)
            }
            Err(error) if error.is_damage() => {
                self.find(owner, error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Examines everything; says whether it came to the end.
    fn examine_all(&mut self, store: &mut dyn Read, tell: Tell<'_>) -> Result<bool, Error> {
        let workspaces = store.workspaces();
        let Some(workspaces) = self.note(None, workspaces)? else { return Ok(true) };
        let readable = [
            store.webhooks(None).map(drop),
            store.counts(None).map(drop),
            store.all_held(&Page { after: None, limit: PAGE }).map(drop),
        ];
        for read in readable {
            self.note(None, read)?;
        }
        for workspace in workspaces {
            let keys = store.keys(workspace.id).map(drop);
            self.note(None, keys)?;
            let goes_on = self.definitions(store, workspace.id, tell)?
                && self.schedules(store, workspace.id, tell)?
                && self.events(store, workspace.id, tell)?
                && self.runs(store, workspace.id, tell)?;
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn definitions(&mut self, store: &mut dyn Read, of: WorkspaceId, tell: Tell<'_>) -> Result<bool, Error> {
        let mut page = Page { after: None, limit: PAGE };
        loop {
            let found = store.definitions(of, None, &page);
            let Some(found) = self.note(None, found)? else { return Ok(true) };
            for summary in &found {
                self.examined.definitions += 1;
                let document = store.definition_by_id(summary.id);
                if let Some(Some(stored)) = self.note(None, document)?
                    && let Err(error) = Definition::from_json(&stored.document)
                {
                    let what = format!("workflow {} {}: {error}", stored.name, stored.version);
                    self.find(None, what);
                }
            }
            page.after = found.last().map(|last| last.id);
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn events(&mut self, store: &mut dyn Read, of: WorkspaceId, tell: Tell<'_>) -> Result<bool, Error> {
        let mut page = Page { after: None, limit: PAGE };
        loop {
            let found = store.events(of, None, &page);
            let Some(found) = self.note(None, found)? else { return Ok(true) };
            self.examined.events += found.len() as u64;
            page.after = found.last().map(|last| (last.received_at, last.id));
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn schedules(&mut self, store: &mut dyn Read, of: WorkspaceId, tell: Tell<'_>) -> Result<bool, Error> {
        let mut page = Page { after: None, limit: PAGE };
        loop {
            let found = store.schedules(of, &page);
            let Some(found) = self.note(None, found)? else { return Ok(true) };
            for schedule in &found {
                self.examined.schedules += 1;
                self.schedule(store, schedule.id)?;
            }
            page.after = found.last().map(|last| last.plan.name.clone());
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn schedule(&mut self, store: &mut dyn Read, id: ScheduleId) -> Result<(), Error> {
        for _ in 0..LOOKS {
            let Some(Some(schedule)) = self.note(Some(id.owner().id()), store.schedule(id))? else {
                return Ok(());
            };
            let Some(rows) = self.rows(store, id.owner().id())? else { return Ok(()) };
            let waits: Vec<&Waitpoint> = schedule.waits().collect();
            let different = differences(&waits, &rows);
            let is_as_it_was =
                different.is_empty() || store.schedule(id).is_ok_and(|now| now.as_ref() == Some(&schedule));
            if is_as_it_was {
                self.expect(id.owner().id(), &waits);
                different.into_iter().for_each(|what| self.find(Some(id.owner().id()), what));
                return Ok(());
            }
        }
        Ok(())
    }

    fn runs(&mut self, store: &mut dyn Read, of: WorkspaceId, tell: Tell<'_>) -> Result<bool, Error> {
        let filter = RunFilter { workspace: Some(of), ..RunFilter::default() };
        let mut page = Page { after: None, limit: PAGE };
        // Definitions are compiled once; the runs themselves are not kept.
        let mut memory = Memory::default();
        loop {
            let found = store.run_ids(&filter, &page);
            let Some(found) = self.note(None, found)? else { return Ok(true) };
            for id in &found {
                self.examined.runs += 1;
                self.run(store, &mut memory, *id)?;
            }
            page.after = found.last().copied();
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn run(&mut self, store: &mut dyn Read, memory: &mut Memory, id: RunId) -> Result<(), Error> {
        for _ in 0..LOOKS {
            let run = match memory.replayed(store, id) {
                Ok(Some(run)) => run,
                Ok(None) => {
                    // It may just have been forgotten; then it is in no list any more.
                    if store.run(id).is_ok_and(|row| row.is_some()) {
                        self.find(Some(id), "it has a row, and no history".to_owned());
                    }
                    return Ok(());
                }
                Err(crate::Error::Store(error)) if !error.is_damage() => {
                    return Err(Error::Unavailable(error.to_string()));
                }
                Err(error) => {
                    self.is_partial = true;
                    self.find(Some(id), error.to_string());
                    return Ok(());
                }
            };
            let Some(rows) = self.rows(store, id)? else { return Ok(()) };
            let Some(Some(row)) = self.note(Some(id), store.run(id))? else { return Ok(()) };
            if row.version != run.seq {
                continue;
            }
            if (row.status, row.workspace) != (run.status, run.workspace) {
                let what = format!("its row says {:?}, and its history {:?}", row.status, run.status);
                self.find(Some(id), what);
            }
            self.snapshot(store, memory, id)?;
            let waits: Vec<&Waitpoint> = run.waitpoints().collect();
            differences(&waits, &rows).into_iter().for_each(|what| self.find(Some(id), what));
            self.expect(id, &waits);
            self.claims.add(&run);
            if let Some(at) = run.open_deadline() {
                self.expected.add(&StoredTimer { at, run: id, timer: Timer::Run });
            }
            return Ok(());
        }
        Ok(())
    }

    /// Checks that the run can be loaded from its snapshot. Where it cannot, its history is read instead, so the run
    /// is not held for it.
    fn snapshot(&mut self, store: &mut dyn Read, memory: &mut Memory, id: RunId) -> Result<(), Error> {
        let what = match store.snapshot(id) {
            Ok(None) => return Ok(()),
            Ok(Some(snapshot)) => match memory.at_version(store, id, snapshot.seq) {
                Ok(Some(run)) if *run.snapshot() != snapshot => "it is not what its history gives".to_owned(),
                // What is wrong with the history itself is told elsewhere.
                Ok(_) | Err(_) => return Ok(()),
            },
            Err(error) if error.is_damage() => error.to_string(),
            Err(error) => return Err(error),
        };
        self.find(
            None,
            format!("the snapshot of {id} is ignored, and the run loaded from its history: {what}"),
        );
        Ok(())
    }

    fn rows(
        &mut self,
        store: &mut dyn Read,
        owner: RunId,
    ) -> Result<Option<BTreeMap<u32, WaitpointSummary>>, Error> {
        let filter = WaitpointFilter { run: Some(owner), ..WaitpointFilter::default() };
        let (mut rows, mut page) = (BTreeMap::new(), Page { after: None, limit: PAGE });
        loop {
            let found = store.waitpoints(&filter, &page);
            let Some(found) = self.note(Some(owner), found)? else { return Ok(None) };
            page.after = found.last().map(|last| (last.resume_at, last.id));
            let is_last = found.len() < PAGE;
            rows.extend(found.into_iter().map(|row| (row.id.number, row)));
            if is_last {
                return Ok(Some(rows));
            }
        }
    }

    /// Adds the timers that waits ask for to those that there must be.
    fn expect(&mut self, owner: RunId, waits: &[&Waitpoint]) {
        for wait in waits.iter().filter(|wait| wait.status == WaitStatus::Pending) {
            if let Some(at) = wait.resume_at {
                self.expected.add(&StoredTimer { at, run: owner, timer: Timer::Waitpoint(wait.number) });
            }
        }
    }

    /// Checks the hash chain of the audit log.
    fn audit_log(&mut self, store: &mut dyn Read) -> Result<(), Error> {
        let verified = audit::verify(store);
        if let Some(Verified::Broken { number }) = self.note(None, verified)? {
            self.find(None, format!("the audit log is not as it was written, from entry {number} on"));
        }
        Ok(())
    }

    /// Compares the stored timers with those that there must be.
    fn timers(&mut self, store: &mut dyn Read) -> Result<(), Error> {
        let (mut found, mut after) = (Sum::default(), None);
        loop {
            let page = store.timers(after.as_ref(), Timestamp::MAX, PAGE);
            let Some(page) = self.note(None, page)? else { return Ok(()) };
            page.iter().for_each(|timer| found.add(timer));
            after = page.last().copied();
            if page.len() < PAGE {
                break;
            }
        }
        // While others work, the two were looked at at different times: only what stands still can be compared.
        if found != self.expected {
            let what = format!(
                "{} timers are found where they are looked for, and histories and schedules have {}; or some came or \
                 went meanwhile",
                found.count, self.expected.count
            );
            self.find(None, what);
        }
        Ok(())
    }
}

/// Differences between the rows of waits and the waits in the history.
fn differences(waits: &[&Waitpoint], rows: &BTreeMap<u32, WaitpointSummary>) -> Vec<String> {
    let mut different = Vec::new();
    for wait in waits {
        let number = wait.number;
        let is = (wait.status, wait.kind, wait.resume_at);
        match rows.get(&number).map(|row| (row.status, row.kind, row.resume_at)) {
            None => different.push(format!("its wait {number} has no row")),
            Some(told) if told != is => {
                different.push(format!("the row of its wait {number} says {told:?}, and its history {is:?}"))
            }
            Some(_) => {}
        }
    }
    if waits.len() < rows.len() {
        let (rows, waits) = (rows.len(), waits.len());
        different.push(format!("there are {rows} rows of its waits, and {waits} in its history"));
    }
    different
}
