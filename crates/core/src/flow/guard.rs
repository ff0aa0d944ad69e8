//! `cancelOn` and `restartOn`: waits for events beside the whole run, which belong to no step. They are opened when the run
//! is created, never hold it up, and are cancelled when it ends.

use crate::definition::GuardAction;
use crate::effect::ChildInput;
use crate::flow::child::{NewChild, ParentWaits, start_child_run};
use crate::flow::end::cancel_run;
use crate::flow::wait::{NewWait, look_for_early_ones, new_waitpoint};
use crate::history::{Change, StartedOn};
use crate::id::{RunId, StepAddress};
use crate::json::Json;
use crate::refusal::Refusal;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{CANCEL_ON, EventFilter, Kind, ListensFor, RESTART_ON};

/// Opens the waits for the events that end the run: from now on it sees every event that is received.
pub(crate) fn open_guards(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let definition = std::sync::Arc::clone(&turn.run.definition);
    let (mut cancels, mut restarts) = (0, 0);
    for guard in &definition.guards {
        let (prefix, count) = match guard.action {
            GuardAction::Cancel => (CANCEL_ON, &mut cancels),
            GuardAction::Restart(_) => (RESTART_ON, &mut restarts),
        };
        let name = format!("{prefix}{count}");
        *count += 1;
        let mut filter = EventFilter {
            event_id: guard.event_id.clone(),
            since: turn.now,
            forgotten_before: None,
            matching: guard.matching.clone(),
            bound: Default::default(),
        };
        filter.bind(turn.run, StepAddress::step(0));
        let wait = NewWait {
            kind: Kind::Event,
            resume_at: None,
            listens_for: ListensFor::Event(filter),
            response: None,
        };
        let opens = new_waitpoint(turn, None, name.into(), wait);
        let number = opens.number;
        turn.emit(Change::WaitCreated { opens })?;
        look_for_early_ones(turn, number)?;
    }
    Ok(())
}

/// Ends the run if the event has come, or somebody says so. A guard that is cancelled or timed out by somebody is gone, and
/// the run goes on without it.
pub(super) fn guard_over(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let Some(wait) = turn.run.waitpoint(number) else { return Ok(()) };
    match wait.status {
        WaitStatus::Completed => {}
        WaitStatus::Pending | WaitStatus::TimedOut | WaitStatus::Cancelled => return Ok(()),
    }
    let event = wait.resume_payload.clone().unwrap_or_else(Json::null);
    // A run that was moved to a version without this restart begins with its own input again.
    let restart = wait.name.strip_prefix(RESTART_ON).and_then(|index| index.parse::<usize>().ok());
    let event_id = wait.listens_for.event().map_or_else(String::new, |filter| filter.event_id.to_string());
    let came = match wait.event {
        Some(taken) => format!("the event `{event_id}` came ({})", taken.id),
        None => format!("its wait for the event `{event_id}` was ended"),
    };
    let started_on = wait.event.map(|taken| StartedOn {
        event: taken.id,
        event_id: event_id.as_str().into(),
        received_at: taken.received_at,
    });
    let definition = std::sync::Arc::clone(&turn.run.definition);
    let input = restart.map(|index| {
        let mut restarts = definition.guards.iter().filter_map(|guard| guard.action.restart());
        restarts
            .nth(index)
            .map_or_else(|| Ok(turn.run.input.clone()), |restart| restart.input(&event, &turn.run.input))
    });
    let reason = match &input {
        None => came,
        Some(Ok(_)) => format!("{came}: it is started again"),
        Some(Err(error)) => format!("{came}, and it could not be started again: {error}"),
    };
    cancel_run(turn, Some(reason))?;
    if let Some(Ok(input)) = input {
        let run_id = RunId::new(turn.now, turn.random.draw_u128());
        let (name, input) = (definition.name().into(), ChildInput::Given(input));
        let child = NewChild { definition: name, version: None, input, tags: Vec::new(), started_on };
        start_child_run(turn, run_id, ParentWaits::Replaced, child);
    }
    Ok(())
}
