//! Defects that are planted on purpose into decisions, before they are committed, to show that the rules catch them.

use abide_core::definition::Action;
use abide_core::history::{Change, Record};
use abide_core::id::StepAddress;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use serde_json::Value;

use crate::store::{Store, Write};

/// What is wrong with the decisions of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionDefect {
    /// A step that waited for several things goes on, and leaves the others open.
    OpenLoser,
    /// A step that waited for several things names one more that came.
    SecondWinner,
    /// A step that waited for several things names another that came first.
    WrongFirst,
}

impl DecisionDefect {
    /// The write with the defect in it, if there is a place for it.
    pub(crate) fn plant(self, store: &Store, write: Write) -> Write {
        let Some(base) = store.runs.get(&write.run.id).map(|stored| &stored.run) else { return write };
        let Some(at) = write.outcome.records.iter().find_map(|record| won(&write.run, record)) else {
            return write;
        };
        let kept = write.outcome.records.iter().filter(|record| !self.leaves_out(&write.run, at, record));
        let mut records: Vec<Record> = kept.cloned().collect();
        for (seq, record) in (base.seq + 1..).zip(&mut records) {
            record.seq = seq;
            self.change(&write.run, record);
        }
        let mut run = base.clone();
        match records.iter().try_for_each(|record| run.apply_with(&store.versions, record)) {
            Ok(()) => {
                let mut write = Write { run, ..write };
                write.outcome.records = records;
                write
            }
            Err(_) => write,
        }
    }

    fn leaves_out(self, run: &Run, at: StepAddress, record: &Record) -> bool {
        let Change::WaitResolved { number, status: WaitStatus::Cancelled, .. } = &record.change else {
            return false;
        };
        self == DecisionDefect::OpenLoser && run.waitpoint(*number).is_some_and(|wait| wait.at == Some(at))
    }

    fn change(self, run: &Run, record: &mut Record) {
        if won(run, record).is_none() {
            return;
        }
        let Change::StepCompleted { at, output: Some(output), .. } = &mut record.change else { return };
        let Action::Group(group) = &run.defined(*at).action else { return };
        let mut told = Value::clone(output);
        let loser = group.members.iter().find(|member| told["results"].get(&*member.name).is_none());
        match (self, loser) {
            (DecisionDefect::SecondWinner, Some(loser)) => told["results"][&*loser.name] = Value::Null,
            (DecisionDefect::WrongFirst, Some(loser)) => told["first"] = Value::from(&*loser.name),
            (DecisionDefect::SecondWinner | DecisionDefect::WrongFirst, None)
            | (DecisionDefect::OpenLoser, _) => {}
        }
        *output = Json::new(told);
    }
}

/// The step that a record completes, if it waited for several things and got them.
fn won(run: &Run, record: &Record) -> Option<StepAddress> {
    let Change::StepCompleted { at, output: Some(output), .. } = &record.change else { return None };
    let is_group = run.defined(*at).action.group().is_some();
    (is_group && output.get("first").is_some() && output.get("timeout").is_none()).then_some(*at)
}
