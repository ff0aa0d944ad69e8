//! The end of a world: no more faults, all nodes are up, workers do what they get. Everything must come to rest: nothing
//! due is left, nothing that was ready is forgotten, no run stands still for no reason.

use std::collections::BTreeMap;

use abide_core::command::Command;
use abide_core::history::Change;
use abide_core::id::{RunId, StepAddress};
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waiting_for::waiting_for;
use abide_core::waitpoint::{Kind as WaitKind, ListensFor};
use abide_engine::ScheduleOrder;
use abide_store::tasks::StoredTask;
use jiff::Timestamp;

use super::calls::{CommandCall, Retry};
use super::event_starts;
use super::store::Kind;
use super::world::World;
use crate::choices;
use crate::inspector::groups::shared_deadline;
use crate::world::Check;

/// Far more rounds than the longest of these workflows needs.
const ROUNDS: u32 = 1_500;
/// As long as nodes take to find what others left undone.
const REST: Millis = Millis(4_500);
/// How often workers ask meanwhile.
const BREATH: Millis = Millis(250);
/// Longer than any lease of a worker that vanished.
const LEASE: Millis = Millis(61_000);
/// How often leases are waited for, one after the other, while nothing else happens.
const LEASES: u32 = 8;

impl World {
    pub(super) fn heal(&mut self) -> Check {
        self.calm = true;
        self.tell(|| "the world calms down".to_owned());
        self.in_hand.clear();
        self.store.state().failing_reads.clear();
        for node in 0..self.nodes.len() {
            self.nodes[node].clock_ms = 0;
            let life = self.life(node);
            self.thaw(life)?;
        }
        // Those that are stopping come to their end, and begin again.
        self.let_pass(REST)?;
        for node in 0..self.nodes.len() {
            self.restart(node)?;
        }
        self.finish_performing();
        self.remove_schedules()?;
        self.remove_limit_settings()?;
        let mut waited_for_leases = 0;
        for _ in 0..ROUNDS {
            if self.is_busy()? {
                waited_for_leases = 0;
                continue;
            }
            self.check_rest()?;
            let live = self.live_runs();
            if live.is_empty() {
                event_starts::check(&self.store.state(), &self.sent)?;
                return self.check_ended();
            }
            if self.end_pause(&live) || self.wait_for_timer() {
                continue;
            }
            if waited_for_leases < LEASES && self.wait_for_leases() {
                waited_for_leases += 1;
                continue;
            }
            if self.end_some_wait(&live) {
                continue;
            }
            let state = self.store.state();
            let run = &state.runs[&live[0]].run;
            let waits: Vec<String> = waiting_for(run).iter().map(ToString::to_string).collect();
            return Err(format!("{} is {} and nothing will ever move it: {waits:?}", run.id, run.status));
        }
        Err("the world does not come to rest".to_owned())
    }

    fn remove_schedules(&mut self) -> Check {
        let stored: Vec<_> = self.store.state().schedules.keys().copied().collect();
        for id in stored {
            if let Some(node) = self.some_node() {
                self.call_schedule(node, ScheduleOrder::Remove(id));
            }
        }
        self.let_pass(REST)?;
        match self.store.state().schedules.keys().next() {
            Some(id) => Err(format!("{id} cannot be removed")),
            None => Ok(()),
        }
    }

    /// Lets workers and nodes do what they can. Says whether something was committed meanwhile.
    fn is_busy(&mut self) -> Check<bool> {
        let before = self.store.state().commits;
        while !self.retries.is_empty() {
            self.ask_again()?;
        }
        let mut passed = Millis(0);
        while passed < REST {
            self.finish_work();
            self.poll_everywhere();
            self.let_pass(BREATH)?;
            passed = Millis(passed.0 + BREATH.0);
            // As soon as something happens, it is gone on with.
            if self.store.state().commits != before && self.retries.is_empty() && self.in_hand.is_empty() {
                return Ok(true);
            }
        }
        Ok(self.store.state().commits != before || !self.retries.is_empty() || !self.in_hand.is_empty())
    }

    fn live_runs(&self) -> Vec<RunId> {
        let state = self.store.state();
        state.runs.values().filter(|row| !row.run.status.has_ended()).map(|row| row.run.id).collect()
    }

    /// Nothing has happened for a while, and all that could happen has.
    fn check_rest(&mut self) -> Check {
        self.check_board()?;
        let state = self.store.state();
        let long_ago = REST.before(self.now);
        if let Some(timer) = state.first_timer().filter(|timer| timer.at <= long_ago) {
            return Err(format!(
                "R4: {:?} of {} was due at {}, and nobody fires it",
                timer.timer, timer.run, timer.at
            ));
        }
        super::limits::check_nobody_forgotten(&state, self.now)?;
        if let Some(row) = state.follow_ups.values().next() {
            return Err(format!("nobody goes on with {:?}", row.what));
        }
        for row in state.runs.values() {
            let run = &row.run;
            if state.kind == Kind::Cluster {
                check_free(&state.tasks, run, long_ago)?;
            }
            if run.status.has_ended() {
                continue;
            }
            for wait in run.open_waitpoints().filter(|wait| !wait.is_due(self.now)) {
                let closes_at = wait.resume_at.into_iter().chain(shared_deadline(run, wait)).min();
                let in_time = |received| closes_at.is_none_or(|deadline| received < deadline);
                let mut events =
                    state.events.iter().map(|row| &row.event).filter(|event| in_time(event.received_at));
                if let Some(missed) = events.find(|event| self.rules.is_for(run, wait.number, event)) {
                    return Err(format!("R5b: {} missed {}", run.waitpoint_id(wait.number), missed.id));
                }
                if let ListensFor::Signal { signal_type } = &wait.listens_for
                    && run.mailbox().any(|it| it.signal_type == *signal_type && in_time(it.received_at))
                {
                    return Err(format!("R5a: {} missed a signal", run.waitpoint_id(wait.number)));
                }
            }
        }
        Ok(())
    }

    /// What a node says of the board is what the histories say.
    fn check_board(&mut self) -> Check {
        let Some(node) = self.some_node() else { return Err("no node is up".to_owned()) };
        let before = self.store.state().commits;
        self.call_stats(node);
        self.let_pass(Millis(10))?;
        let stats = self.take_stats().ok_or_else(|| format!("node {node} does not answer"))?;
        let state = self.store.state();
        let out: usize = state.runs.values().map(|row| tasks_out(&row.run)).sum();
        // A timer may have gone off while the node was asked.
        if state.commits == before && stats.tasks_out + stats.tasks_ready != out {
            let runs =
                state.runs.values().filter(|row| tasks_out(&row.run) > 0).map(|row| row.run.id.to_string());
            return Err(format!(
                "the board of node {node} has {} tasks out and {} ready, the histories have {out}: {:?}",
                stats.tasks_out,
                stats.tasks_ready,
                runs.collect::<Vec<_>>()
            ));
        }
        Ok(())
    }

    fn end_pause(&mut self, live: &[RunId]) -> bool {
        let pausing: Vec<RunId> = {
            let state = self.store.state();
            live.iter().copied().filter(|run| state.runs[run].run.pausing).collect()
        };
        for run in &pausing {
            let by = format!("operator#{}", self.number());
            self.call(Retry::Command(CommandCall { run: *run, command: Command::Unpause, by, key: None }));
        }
        !pausing.is_empty()
    }

    /// Jumps to where the leases of vanished workers are over, if there are any.
    fn wait_for_leases(&mut self) -> bool {
        let has_begun = self.store.state().runs.values().any(|row| tasks_out(&row.run) > 0);
        if has_begun {
            self.tell(|| "leases come to their end".to_owned());
            self.pass_until(LEASE.after(self.now));
        }
        has_begun
    }

    /// Jumps to what is due next.
    fn wait_for_timer(&mut self) -> bool {
        let next = self.next_timer();
        if let Some(next) = next {
            self.tell(|| format!("time passes until {next}"));
            self.pass_until(next);
        }
        next.is_some()
    }

    fn end_some_wait(&mut self, live: &[RunId]) -> bool {
        let ending = {
            let state = self.store.state();
            let open = live.iter().flat_map(|run| {
                let run = &state.runs[run].run;
                run.open_waitpoints().filter(|wait| wait.kind != WaitKind::Child).map(|wait| (run.id, wait))
            });
            // Nobody without the right to decide ends what stands beside an approval.
            let mut open: Vec<_> = open.collect();
            open.sort_by_key(|(_, wait)| wait.kind != WaitKind::Approval);
            open.into_iter().find_map(|(run, wait)| Some((run, choices::ending(wait)?)))
        };
        let Some((run, (by, command))) = ending else { return false };
        let by =
            if choices::PEOPLE.contains(&by) { by.to_owned() } else { format!("{by}#{}", self.number()) };
        self.call(Retry::Command(CommandCall { run, command, by, key: None }));
        true
    }

    /// When all is over, nothing is left.
    fn check_ended(&mut self) -> Check {
        let state = self.store.state();
        if let Some((run, at)) = state.tasks.keys().next() {
            return Err(format!("{run}: the task at {at:?} outlives its run"));
        }
        if let Some(limit) = state.limits.values().find(|limit| limit.used > 0 || limit.waiting > 0) {
            return Err(format!("R22: room under `{}` outlives all runs", limit.name));
        }
        for row in state.runs.values() {
            let hooks = row.history.iter().filter_map(|record| hook_of(&record.change));
            if let Some(hook) = hooks.into_iter().find(|hook| !state.runs.contains_key(hook)) {
                return Err(format!("{}: its hook {hook} never began", row.run.id));
            }
            if row.run.open_waitpoints().next().is_some() {
                return Err(format!("{}: a wait outlives its run", row.run.id));
            }
            if row.run.status == RunStatus::Paused {
                return Err(format!("R18: {} stays PAUSED", row.run.id));
            }
        }
        Ok(())
    }
}

/// The run that calls a handler for the end of another one.
fn hook_of(change: &Change) -> Option<RunId> {
    if let Change::WorkflowFailed { handled_by, .. } | Change::WorkflowCancelled { handled_by, .. } = change {
        *handled_by
    } else {
        None
    }
}

fn tasks_out(run: &Run) -> usize {
    run.step_runs().filter(|(_, step)| step.task.as_ref().is_some_and(|task| task.out)).count()
}

/// A task that was free for long, and workers of all kinds asked for it.
fn check_free(tasks: &BTreeMap<(RunId, StepAddress), StoredTask>, run: &Run, long_ago: Timestamp) -> Check {
    let mut rows = tasks.range((run.id, StepAddress::step(0))..).take_while(|((id, _), _)| *id == run.id);
    match rows.find(|(_, task)| task.free_at <= long_ago) {
        Some(((id, at), task)) => Err(format!(
            "{id}: its task at {at:?}, for `{}`, was anybody's since {}, and nobody gets it",
            task.queue, task.free_at
        )),
        None => Ok(()),
    }
}
