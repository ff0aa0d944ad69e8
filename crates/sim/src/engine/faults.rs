//! What goes wrong: nodes that die, freeze or are stopped, reads that fail, clocks that jump.

use abide_core::time::Millis;
use abide_engine::machine::{Control, Input};
use jiff::Timestamp;
use tokio::sync::oneshot;

use super::agenda::{Event, Life};
use super::store::Kind;
use super::world::World;
use crate::world::Check;

impl World {
    fn some_living(&mut self) -> Option<usize> {
        let living: Vec<usize> = (0..self.nodes.len()).filter(|node| self.nodes[*node].is_alive()).collect();
        self.pick(&living)
    }

    /// A process is killed: its memory is gone, its commits may be written or not.
    pub(super) fn kill(&mut self) -> Check {
        let Some(node) = self.some_living() else { return Ok(()) };
        self.tell(|| format!("node {node} is killed"));
        self.report.crashes += 1;
        self.end_life(node)?;
        let longest = self.pick(&[10, 2_000, 20_000]).unwrap_or(10);
        let down = Millis(1 + self.random.below(longest));
        self.after(down, Event::Restart(node));
        Ok(())
    }

    /// A process is asked to end.
    pub(super) fn stop(&mut self) -> Check {
        let Some(node) = self.some_node() else { return Ok(()) };
        self.tell(|| format!("node {node} is asked to stop"));
        self.nodes[node].is_stopping = true;
        let (answer, _) = oneshot::channel();
        let life = self.life(node);
        let input = Box::new(Input::Request(Control::Stop { answer }.into()));
        self.after(Millis(1), Event::Arrive { life, input });
        Ok(())
    }

    /// A process has ended as it was asked to.
    pub(super) fn stopped(&mut self, life: Life) -> Check {
        self.tell(|| format!("node {} has stopped", life.node));
        let id = self.nodes[life.node].id;
        self.end_life(life.node)?;
        self.store.state().nodes.remove(&id);
        let down = Millis(1 + self.random.below(3_000));
        self.after(down, Event::Restart(life.node));
        Ok(())
    }

    /// A process stands still for a while, and notices nothing.
    pub(super) fn freeze(&mut self) -> Check {
        let Some(node) = self.some_node() else { return Ok(()) };
        self.nodes[node].is_frozen = true;
        let longest = self.pick(&[100, 3_000, 30_000]).unwrap_or(100);
        let length = Millis(1 + self.random.below(longest));
        self.tell(|| format!("node {node} is frozen for {length}"));
        let life = self.life(node);
        self.after(length, Event::Thaw(life));
        Ok(())
    }

    /// The next reads of a node fail.
    pub(super) fn fail_reads(&mut self) -> Check {
        let Some(node) = self.some_living() else { return Ok(()) };
        let (id, count) = (self.nodes[node].id, 1 + self.random.below(4));
        self.tell(|| format!("the next {count} reads of node {node} fail"));
        self.store.state().failing_reads.insert(id, u32::try_from(count).unwrap_or(1));
        Ok(())
    }

    /// Much time passes at once, most often until something is due.
    pub(super) fn jump(&mut self) -> Check {
        if self.chance(2)
            && let Some(next) = self.next_timer()
        {
            let at = match self.random.below(3) {
                0 => Millis(1).before(next),
                1 => next,
                _ => Millis(1).after(next),
            };
            self.tell(|| format!("time passes until {at}"));
            self.pass_until(at);
            return Ok(());
        }
        let scale = 10_u64.pow(1 + self.random.below(7) as u32);
        let length = Millis(self.random.below(scale));
        self.tell(|| format!("{length} pass"));
        self.pass_until(length.after(self.now));
        Ok(())
    }

    pub(super) fn next_timer(&self) -> Option<Timestamp> {
        self.store.state().timers_after(self.now)
    }

    /// The wall clock of a node that has its store to itself is set; nodes of a cluster go by the store's.
    pub(super) fn set_clock(&mut self) -> Check {
        if self.store.kind() == Kind::Cluster {
            return Ok(());
        }
        let ms = i64::try_from(self.random.below(120_000)).unwrap_or(0) - 60_000;
        self.tell(|| format!("the clock of node 0 is wrong by {ms} ms"));
        self.nodes[0].clock_ms = ms;
        Ok(())
    }
}
