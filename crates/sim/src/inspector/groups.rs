//! Several waits of one step: it goes on with as many as are wanted and no others, the moment they have come, and leaves
//! none of them open. By the document, and by what was recorded of each wait.

use abide_core::definition::document::Step;
use abide_core::history::{Change, Record};
use abide_core::id::StepAddress;
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::status::{StepStatus, WaitStatus};
use abide_core::waitpoint::{Kind, Waitpoint};
use jiff::Timestamp;
use serde_json::Value;

use super::{Ledger, Watched};
use crate::world::Check;

/// The name of the wait that holds the deadline of all.
const DEADLINE: &str = "$deadline";

/// How a wait ended.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    status: WaitStatus,
    at: Timestamp,
    /// An approval was rejected.
    rejected: bool,
    /// A child run did not complete.
    broken: bool,
}

impl Ended {
    pub(super) fn new(record: &Record, kind: Kind, status: WaitStatus, payload: Option<&Json>) -> Ended {
        let said = |key: &str| payload.and_then(|payload| payload.get(key)).and_then(Value::as_str);
        let rejected = kind == Kind::Approval && said("decision") == Some("reject");
        let broken = kind == Kind::Child && matches!(said("status"), Some("FAILED" | "CANCELLED"));
        Ended { status, at: record.at, rejected, broken }
    }
}

/// The deadline of several waits, beside this one.
pub(crate) fn shared_deadline(run: &Run, wait: &Waitpoint) -> Option<Timestamp> {
    let at = wait.at.filter(|_| &*wait.name != DEADLINE)?;
    let mut open = run.open_waitpoints().filter(|other| other.at == Some(at));
    open.find(|other| &*other.name == DEADLINE)?.resume_at
}

fn is_group(step: &Step) -> bool {
    matches!(step.kind.type_name(), "wait_any" | "wait_all" | "wait_some")
}

enum Stands {
    Open,
    /// Those that came are named from the first to the last that is needed.
    Came((Timestamp, u32), Vec<String>),
    Out,
    Broken,
}

impl Watched {
    /// A step that waits for several things has not got what it waits for.
    pub(super) fn check_groups(&self, run: &Run) -> Check {
        for (index, step) in (0..).zip(&run.definition.document.steps) {
            let at = StepAddress::step(index);
            if !is_group(step) || run.step_status(at) != StepStatus::Waiting {
                continue;
            }
            let written = serde_json::to_value(step).map_err(|error| error.to_string())?;
            match self.stands(run, at, &written, "") {
                Stands::Open => {}
                Stands::Came(_, names) => {
                    return Err(format!("{}: `{}` waits on, and {names:?} have come", run.id, step.name));
                }
                Stands::Out | Stands::Broken => {
                    return Err(format!("{}: `{}` waits on for what cannot come", run.id, step.name));
                }
            }
        }
        Ok(())
    }

    /// What a step that waited for several things ended with.
    pub(super) fn completes(&self, run: &Run, record: &Record) -> Check {
        let Change::StepCompleted { at, output: Some(output), .. } = &record.change else { return Ok(()) };
        let step = &run.definition.document.steps[usize::from(at.step)];
        if at.item.is_some() || !is_group(step) {
            return Ok(());
        }
        let written = serde_json::to_value(step).map_err(|error| error.to_string())?;
        let told: Vec<&String> = output["results"].as_object().into_iter().flat_map(|it| it.keys()).collect();
        let stands = self.stands(run, *at, &written, "");
        if output["timeout"] == true {
            return match stands {
                Stands::Open | Stands::Out => Ok(()),
                Stands::Came(..) | Stands::Broken => {
                    Err(format!("{}: `{}` was too late, and had what it waits for", run.id, step.name))
                }
            };
        }
        let Stands::Came(_, mut names) = stands else {
            return Err(format!("{}: `{}` went on before enough had come", run.id, step.name));
        };
        if output["first"] != names[0].as_str() {
            return Err(format!("{}: `{}` names {}, and {names:?} came", run.id, step.name, output["first"]));
        }
        names.sort();
        if names.iter().collect::<Vec<_>>() != told {
            return Err(format!("{}: `{}` won by {told:?}, and {names:?} came", run.id, step.name));
        }
        Ok(())
    }

    /// One of several waits ends before the deadline of all (R4), and the clock ends none of them while an event that came in
    /// time is still to be offered (R5b).
    pub(super) fn resolves_one_of_several(
        &self,
        run: &Run,
        record: &Record,
        number: u32,
        mailed: Option<Timestamp>,
        store: &impl Ledger,
    ) -> Check {
        let Some(wait) = run.waitpoint(number).filter(|wait| wait.status == WaitStatus::Completed) else {
            return Ok(());
        };
        let step = wait.at.filter(|at| at.item.is_none());
        let step = step.map(|at| &run.definition.document.steps[usize::from(at.step)]);
        if !step.is_some_and(is_group) {
            return Ok(());
        }
        let deadline = shared_deadline(run, wait);
        let is_late = |at: Timestamp| deadline.is_some_and(|deadline| at >= deadline);
        let is_told = !wait.kind.ends_by_time() && wait.kind != Kind::Event;
        if is_told && is_late(record.at) && mailed.is_none_or(is_late) {
            return Err(format!("R4: {} came after the deadline of all", run.waitpoint_id(number)));
        }
        if !wait.kind.ends_by_time() || *record.by.0 != *"timer" {
            return Ok(());
        }
        let beside = run.open_waitpoints().filter(|other| other.at == wait.at && other.kind == Kind::Event);
        beside.map(|other| other.number).try_for_each(|other| {
            let in_time = wait.resume_at.into_iter().chain(shared_deadline(run, wait)).min();
            self.missed_event(run, other, in_time, store)
        })
    }

    fn stands(&self, run: &Run, at: StepAddress, written: &Value, above: &str) -> Stands {
        let Some(waits) = written["waits"].as_object() else {
            return self.one_stands(run, at, written, above);
        };
        let needed = match written["type"].as_str() {
            Some("wait_any") => 1,
            Some("wait_some") => written["count"].as_u64().unwrap_or(1) as usize,
            _ => waits.len(),
        };
        let (mut came, mut open) = (Vec::new(), 0);
        for (name, inside) in waits {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match self.stands(run, at, inside, &path) {
                Stands::Open => open += 1,
                Stands::Came(when, _) => came.push((when, name.clone())),
                Stands::Out => {}
                Stands::Broken => return Stands::Broken,
            }
        }
        came.sort();
        if came.len() >= needed {
            let names = came[..needed].iter().map(|(_, name)| name.clone()).collect();
            return Stands::Came(came[needed - 1].0, names);
        }
        if came.len() + open < needed { Stands::Out } else { Stands::Open }
    }

    fn one_stands(&self, run: &Run, at: StepAddress, written: &Value, path: &str) -> Stands {
        let number = run.step(at).and_then(|step| step.waits.get(path).copied());
        let Some((number, wait)) = number.and_then(|number| Some((number, self.waits.get(&number)?))) else {
            return Stands::Open;
        };
        match wait.ended {
            None => Stands::Open,
            Some(Ended { broken: true, .. }) => Stands::Broken,
            Some(Ended { rejected: true, status: WaitStatus::Completed, .. })
                if written["onReject"] != "continue" =>
            {
                Stands::Broken
            }
            Some(Ended { status: WaitStatus::Completed, at, .. }) => Stands::Came((at, number), Vec::new()),
            Some(_) => Stands::Out,
        }
    }
}
