//! How several waits of one step begin, and what of them stays when the step begins again.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::definition::{Action, Group, Member};
use crate::effect::ChildInput;
use crate::flow::begin::{approval_request, due, event_filter, expression_failed, render, sleep_until};
use crate::flow::child::{NewChild, ParentWaits, check_depth, start_child_run};
use crate::flow::finish::fail_step;
use crate::flow::group::{came, go_on_if_over};
use crate::flow::wait::{NewWait, look_for_early_ones, new_waitpoint, next_number};
use crate::history::{Change, Failure, WakeOn};
use crate::id::{RunId, StepAddress};
use crate::refusal::Refusal;
use crate::run::Run;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{DEADLINE, Kind, ListensFor, Waitpoint};

/// What a step that begins again keeps of its waits: what has come stays, and sleeps that only another step's failure ended
/// go on to their instants.
#[derive(Default)]
pub(crate) struct Kept {
    came: BTreeMap<Arc<str>, u32>,
    instants: BTreeMap<Arc<str>, Timestamp>,
}

impl Kept {
    pub(crate) fn of(run: &Run, at: StepAddress, group: &Group) -> Kept {
        let Some(state) = run.step(at).filter(|state| state.visit > 0) else { return Kept::default() };
        let has_come = |member: &&Member| came(run, at, member).is_some();
        let number = |path: &Arc<str>| state.waits.get(path).copied();
        let came = group.waits().into_iter().filter(has_come);
        let came =
            came.filter_map(|member| Some((Arc::clone(&member.path), number(&member.path)?))).collect();
        let waits = state.waits.iter().filter_map(|(name, number)| Some((name, run.waitpoint(*number)?)));
        let cut_off = waits.filter(|(_, wait)| {
            state.stopped && wait.kind == Kind::Delay && wait.status == WaitStatus::Cancelled
        });
        let instants = cut_off.filter_map(|(name, wait)| Some((Arc::clone(name), wait.resume_at?))).collect();
        Kept { came, instants }
    }
}

/// Opens the waits of a step that has just started, all at once, and offers them what came before.
pub(crate) fn begin(turn: &mut Turn<'_>, at: StepAddress, group: &Group, kept: &Kept) -> Result<(), Refusal> {
    let Opening { opens, mut awaits, children } = match opening(turn, at, group, kept) {
        Ok(opening) => opening,
        Err(failure) => return fail_step(turn, at, failure),
    };
    let opened: Vec<u32> = opens.iter().map(|wait| wait.number).collect();
    awaits.extend(opens.iter().filter(|wait| !wait.is_deadline()).map(|wait| wait.number));
    awaits.sort_unstable();
    turn.emit(Change::StepWaiting { at, opens, awaits, wake: WakeOn::Group })?;
    for (number, run_id, child) in children {
        start_child_run(turn, run_id, ParentWaits::UntilEnded(number), child);
    }
    // What has come already may be enough: then nothing is taken for the others.
    go_on_if_over(turn, at)?;
    for number in opened {
        if turn.run.open.contains_key(&number) {
            if turn.run.waitpoint(number).is_some_and(|wait| wait.kind == Kind::Approval) {
                turn.emit(Change::ApprovalRequested { number })?;
            }
            look_for_early_ones(turn, number)?;
        }
    }
    Ok(())
}

struct Opening {
    opens: Vec<Waitpoint>,
    /// The waits that have come already.
    awaits: Vec<u32>,
    children: Vec<(u32, RunId, NewChild)>,
}

fn opening(turn: &mut Turn<'_>, at: StepAddress, group: &Group, kept: &Kept) -> Result<Opening, Failure> {
    let (mut opens, mut awaits, mut children) = (Vec::new(), Vec::new(), Vec::new());
    let mut number = next_number(turn.run);
    for member in group.waits() {
        let early = turn.run.step(at).and_then(|step| step.waits.get(&member.path).copied());
        if let Some(known) = early.or_else(|| kept.came.get(&member.path).copied()) {
            awaits.push(known);
            continue;
        }
        let (wait, child) = member_wait(turn, at, member, kept)?;
        children.extend(child.map(|(run_id, child)| (number, run_id, child)));
        let opened = new_waitpoint(turn, Some(at), Arc::clone(&member.path), wait);
        opens.push(Waitpoint { number, ..opened });
        number += 1;
    }
    let deadline = kept.instants.get(DEADLINE).copied().or_else(|| due(turn.now, &group.deadline));
    if let Some(resume_at) = deadline {
        let wait = delay(resume_at);
        opens.push(Waitpoint { number, ..new_waitpoint(turn, Some(at), DEADLINE.into(), wait) });
    }
    Ok(Opening { opens, awaits, children })
}

fn delay(resume_at: Timestamp) -> NewWait {
    let (kind, resume_at, listens_for) = (Kind::Delay, Some(resume_at), ListensFor::Time);
    NewWait { kind, resume_at, listens_for, response: None }
}

type WithChild = (NewWait, Option<(RunId, NewChild)>);

fn member_wait(
    turn: &mut Turn<'_>,
    at: StepAddress,
    member: &Member,
    kept: &Kept,
) -> Result<WithChild, Failure> {
    let of = |kind, listens_for| NewWait { kind, resume_at: None, listens_for, response: None };
    let wait = match &member.action {
        Action::Wait(until) => delay(sleep_until(turn, at, until, kept.instants.get(&member.path).copied())?),
        Action::Signal { signal_type, .. } => {
            of(Kind::Signal, ListensFor::Signal { signal_type: Arc::clone(signal_type) })
        }
        Action::Event { event_id, matching, lookback, .. } => {
            let filter = event_filter(turn, at, event_id, matching.as_ref(), *lookback)?;
            of(Kind::Event, ListensFor::Event(filter))
        }
        Action::Webhook { allow_get, .. } => of(Kind::Webhook, ListensFor::Call { allow_get: *allow_get }),
        Action::Approval(approval) => {
            of(Kind::Approval, ListensFor::Approval(approval_request(turn, at, approval)?))
        }
        Action::Child { definition, version, input, .. } => {
            check_depth(turn.run)?;
            let input = render(turn.run, at, input).map_err(|error| expression_failed(&error))?;
            turn.spend(input.bytes());
            let run_id = RunId::new(turn.now, turn.random.draw_u128());
            let child = NewChild {
                definition: Arc::clone(definition),
                version: version.clone(),
                input: ChildInput::Given(input),
                tags: Vec::new(),
                started_on: None,
            };
            return Ok((of(Kind::Child, ListensFor::Child { run_id }), Some((run_id, child))));
        }
        Action::Work(_)
        | Action::Condition { .. }
        | Action::Respond { .. }
        | Action::Map(_)
        | Action::Group(_) => {
            unreachable!("the check lets nothing but waits be one of several")
        }
    };
    Ok((wait, None))
}
