//! A look at all there is: every page, every history, and whether what is kept to find runs says what their histories say.
//! It reads and decides nothing; whoever asked holds what was found, or has it mended.
//!
//! One run at a time is in memory, so it can be done beside a server, and at any pace.

use std::collections::BTreeMap;

use abide_core::definition::Definition;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::{Run, Timer};
use abide_core::schedule::Schedule;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Waitpoint;
use abide_store::{Error, Owner, Page, Read, RunFilter, StoredTimer, WaitpointFilter, WaitpointSummary};
use jiff::Timestamp;

use crate::memory::Memory;

/// Looked at between two words of how far it is.
const PAGE: usize = 500;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whose it is, if it is anybody's: holding it keeps the damage to it.
    pub owner: Option<Owner>,
    pub what: String,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    pub runs: u64,
    pub schedules: u64,
    pub definitions: u64,
    pub events: u64,
}

/// Is told how far it is; it goes on as long as the answer is yes.
pub type Tell<'t> = &'t mut dyn FnMut(Examined) -> bool;

/// Looks at everything. What cannot be read is a finding; only a store that is not there at all is an error.
pub fn examine(store: &mut dyn Read, tell: Tell<'_>) -> Result<(Examined, Vec<Finding>), Error> {
    let mut doctor = Doctor { examined: Examined::default(), findings: Vec::new(), expected: Sum::default() };
    let pages = store.check_pages()?;
    doctor.findings.extend(pages.into_iter().map(|what| Finding { owner: None, what }));
    doctor.examine_all(store, tell)?;
    Ok((doctor.examined, doctor.findings))
}

struct Doctor {
    examined: Examined,
    findings: Vec<Finding>,
    /// The timers that histories and schedules ask for.
    expected: Sum,
}

/// Of timers, in whatever order.
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
        self.findings.push(Finding { owner: owner.map(Owner), what });
    }

    /// Damage is a finding; anything else ends it.
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

    fn examine_all(&mut self, store: &mut dyn Read, tell: Tell<'_>) -> Result<(), Error> {
        let workspaces = store.workspaces();
        let Some(workspaces) = self.note(None, workspaces)? else { return Ok(()) };
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
                return Ok(());
            }
        }
        self.timers(store)
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
                self.schedule(store, schedule)?;
            }
            page.after = found.last().map(|last| last.plan.name.clone());
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn schedule(&mut self, store: &mut dyn Read, schedule: &Schedule) -> Result<(), Error> {
        let owner = schedule.id.owner();
        let Some(rows) = self.rows(store, owner)? else { return Ok(()) };
        for wait in schedule.waits() {
            self.wait(owner, wait, rows.get(&wait.number));
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
                match memory.take(store, *id) {
                    Ok(Some(run)) => self.run(store, &run)?,
                    Ok(None) => {
                        self.find(Some(*id), "it is in the list of runs, and is not there".to_owned())
                    }
                    Err(crate::Error::Store(error)) if !error.is_damage() => {
                        return Err(Error::Unavailable(error.to_string()));
                    }
                    Err(error) => self.find(Some(*id), error.to_string()),
                }
            }
            page.after = found.last().copied();
            if !tell(self.examined) || found.len() < PAGE {
                return Ok(found.len() < PAGE);
            }
        }
    }

    fn run(&mut self, store: &mut dyn Read, run: &Run) -> Result<(), Error> {
        let summary = store.run(run.id);
        if let Some(Some(summary)) = self.note(Some(run.id), summary)?
            && (summary.status, summary.version, summary.workspace) != (run.status, run.seq, run.workspace)
        {
            let what = format!("its row says {:?}, and its history {:?}", summary.status, run.status);
            self.find(Some(run.id), what);
        }
        if let Some(at) = run.open_deadline() {
            self.expected.add(&StoredTimer { at, run: run.id, timer: Timer::Run });
        }
        let Some(rows) = self.rows(store, run.id)? else { return Ok(()) };
        let mut known = 0;
        for wait in run.waitpoints() {
            known += 1;
            self.wait(run.id, wait, rows.get(&wait.number));
        }
        if known < rows.len() {
            let what = format!("there are {} rows of its waits, and {known} in its history", rows.len());
            self.find(Some(run.id), what);
        }
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

    fn wait(&mut self, owner: RunId, wait: &Waitpoint, row: Option<&WaitpointSummary>) {
        let number = wait.number;
        match row {
            None => self.find(Some(owner), format!("its wait {number} has no row")),
            Some(row) => {
                let told = (row.status, row.kind, row.resume_at);
                let is = (wait.status, wait.kind, wait.resume_at);
                if told != is {
                    let what = format!("the row of its wait {number} says {told:?}, and its history {is:?}");
                    self.find(Some(owner), what);
                }
            }
        }
        if wait.status == WaitStatus::Pending
            && let Some(at) = wait.resume_at
        {
            self.expected.add(&StoredTimer { at, run: owner, timer: Timer::Waitpoint(number) });
        }
    }

    /// Whether what is due is found where it is looked for.
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
