//! What happens in a world, one thing at a time, as chance has it.

use abide_core::id::RunId;
use abide_core::json::Json;
use abide_core::schedule::{CatchUp, Overlap, Plan, When};
use abide_core::time::Millis;
use abide_engine::ScheduleOrder;

use super::calls::{CommandCall, EventCall, Retry, StartCall};
use super::debounce;
use super::world::World;
use crate::choices::{CROWD, Choices, PEOPLE, RandomCommand, STARTER};
use crate::world::Check;

/// Schedules of a world.
const SCHEDULES: usize = 2;

impl World {
    /// One thing happens.
    pub(super) fn act(&mut self) -> Check {
        if self.setting.limits && self.chance(25) {
            return self.set_limit();
        }
        // Where starts are debounced, many come.
        let what = if self.setting.debounce { 50 + 12 } else { 50 };
        match self.random.below(what) {
            0..4 | 50.. => self.start(),
            4..12 => self.poll(),
            12..24 => self.work(),
            24..34 => self.ask_something(),
            34..37 => self.send_event(),
            37..39 => self.ask_again(),
            39 => self.order_schedule(),
            40 => {
                self.give_up_polling();
                Ok(())
            }
            41..45 => self.jump(),
            45 => self.fail_reads(),
            46 => self.freeze(),
            47 => self.kill(),
            48 => self.stop(),
            49 => self.set_clock(),
        }
    }

    fn start(&mut self) -> Check {
        if self.store.state().runs.len() >= CROWD {
            return Ok(());
        }
        if self.chance(5) {
            let starts = (0..1 + self.random.below(4)).map(|_| self.new_start()).collect();
            self.call_start_many(starts);
            return Ok(());
        }
        let start = self.new_start();
        // An impatient client asks another node before the first one has answered.
        if start.key.is_some() && self.fault(6) {
            self.call(Retry::Start(start.clone()));
        }
        self.call(Retry::Start(start));
        Ok(())
    }

    fn new_start(&mut self) -> StartCall {
        if self.setting.debounce && self.chance(2) {
            let number = self.number();
            let (name, input) = debounce::start(&mut self.random, number);
            // Without a key, one that is asked for again would count twice.
            return StartCall { name, input, run_at: None, key: Some(format!("start-{number}")) };
        }
        let name = format!("workflow-{}", self.random.below(3));
        let input = self.choices().input();
        let run_at = self.chance(6).then(|| Millis(self.random.below(100_000)).after(self.now));
        let number = self.number();
        let key = self.chance(2).then(|| format!("start-{number}"));
        StartCall { name, input, run_at, key }
    }

    fn some_run(&mut self) -> Option<RunId> {
        let (live, all): (Vec<RunId>, Vec<RunId>) = {
            let state = self.store.state();
            let live = state.runs.values().filter(|row| !row.run.status.has_ended()).map(|row| row.run.id);
            (live.collect(), state.runs.keys().copied().collect())
        };
        let among = if live.is_empty() || self.chance(6) { all } else { live };
        self.pick(&among)
    }

    fn ask_something(&mut self) -> Check {
        let Some(run) = self.some_run() else { return Ok(()) };
        let number = self.number();
        let asked = {
            let state = self.store.state();
            let mut choices = Choices {
                random: &mut self.random,
                now: self.now,
                runs: state.runs.len(),
                call_limits: false,
            };
            choices.any_command(&state.runs[&run].run, number)
        };
        let Some(RandomCommand { by, command, key }) = asked else { return Ok(()) };
        // Whoever decides on approvals is known by name; everybody else says something of their own.
        let by = if PEOPLE.contains(&by) || by == STARTER { by.to_owned() } else { format!("{by}#{number}") };
        let call = Retry::Command(CommandCall { run, command, by, key });
        if self.fault(10) {
            self.call(call.clone());
        }
        self.call(call);
        Ok(())
    }

    fn send_event(&mut self) -> Check {
        let (event_id, data) = self.choices().event();
        let number = self.number();
        let key = self.chance(3).then(|| format!("event-{number}"));
        self.call(Retry::Event(EventCall { event_id, data, key, sender: None }));
        Ok(())
    }

    pub(super) fn ask_again(&mut self) -> Check {
        if let Some(retry) = self.retries.pop_front() {
            self.call(retry);
        }
        Ok(())
    }

    fn order_schedule(&mut self) -> Check {
        let Some(node) = self.some_node() else { return Ok(()) };
        let known = self.schedules.clone();
        let order = match self.pick(&known) {
            Some(id) if known.len() >= SCHEDULES || self.chance(2) => {
                let orders = [
                    ScheduleOrder::Pause(id),
                    ScheduleOrder::Unpause(id),
                    ScheduleOrder::Trigger(id),
                    ScheduleOrder::Remove(id),
                ];
                match self.pick(&orders) {
                    Some(order) => order,
                    None => return Ok(()),
                }
            }
            Some(_) | None => self.new_schedule(),
        };
        self.call_schedule(node, order);
        Ok(())
    }

    fn new_schedule(&mut self) -> ScheduleOrder {
        let number = self.random.below(3);
        ScheduleOrder::Create(Plan {
            name: format!("schedule-{number}"),
            workflow: format!("child-{}", self.random.below(2)),
            version: None,
            input: Json::from(self.choices().input()),
            tags: Vec::new(),
            when: When::Every(Millis(3_600_000 * (1 + self.random.below(24)))),
            overlap: self.pick(&[Overlap::Skip, Overlap::Queue]).unwrap_or(Overlap::Skip),
            catch_up: CatchUp::All,
        })
    }
}
