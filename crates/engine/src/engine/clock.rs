//! The clock of an engine, as tests move it.

use abide_core::id::RunId;
use jiff::Timestamp;

use super::{Ended, Engine};
use crate::clock::Clock;
use crate::error::Error;
use crate::request::{Control, Query};

/// The clock of an engine. Made by [`Engine::clock`]. A settable clock stands still until somebody moves it.
#[derive(Clone, Copy, Debug)]
pub struct ClockHandle<'e>(pub(super) &'e Engine);

/// The time of a settable clock, and what could happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// The present instant of the clock.
    pub now: Timestamp,
    /// When the next timer is due; `None` if no timer is set.
    pub next_timer: Option<Timestamp>,
    /// How many tasks workers have, or could take.
    pub tasks: usize,
}

impl ClockHandle<'_> {
    /// The present instant of the engine's clock.
    pub fn now(self) -> Timestamp {
        self.0.clock.now()
    }

    /// Whether the clock stands still until somebody moves it.
    pub fn is_settable(self) -> bool {
        self.0.settable.is_some()
    }

    /// Waits until all that can be done now is done: only time, a worker or a caller can bring more. Says when the
    /// next timer is due.
    pub async fn settled(self) -> Result<Option<Timestamp>, Error> {
        self.0.ask(|answer| Query::Settled { answer }).await
    }

    /// Lets a settable clock run until the run has ended or no timer is left. All that is due on the way happens in
    /// its order, without anyone waiting for it. With the machine's clock, waits for the run.
    pub async fn skip_waits(self, run: RunId) -> Result<Option<Ended>, Error> {
        let Some(clock) = &self.0.settable else { return self.0.run(run).wait().await.map(Some) };
        loop {
            let next = self.settled().await?;
            if let Some(ended) = Ended::of(&self.0.run(run).get().await?) {
                return Ok(Some(ended));
            }
            let Some(next) = next else { return Ok(None) };
            clock.set(next.max(clock.now()));
            self.tick().await?;
        }
    }

    /// Moves a settable clock to an instant, or to the next timer if that is due before; without an instant, to the
    /// next timer. It never goes back. Returns the status once all that can be done then is done; `None` if the clock
    /// is the machine's.
    pub async fn move_to(self, to: Option<Timestamp>) -> Result<Option<ClockStatus>, Error> {
        let Some(clock) = &self.0.settable else { return Ok(None) };
        let next = self.settled().await?;
        let target = next.into_iter().chain(to).min().unwrap_or_else(|| clock.now());
        clock.set(target.max(clock.now()));
        self.tick().await?;
        self.clock_status().await
    }

    /// The status of a settable clock; `None` if the clock is the machine's.
    pub async fn clock_status(self) -> Result<Option<ClockStatus>, Error> {
        let Some(clock) = &self.0.settable else { return Ok(None) };
        self.settled().await?;
        let stats = self.0.stats().await?;
        let tasks = stats.tasks_ready + stats.tasks_out;
        // Asked for after the tasks: of one that was reported on in between, the timers are there.
        let next_timer = self.settled().await?;
        Ok(Some(ClockStatus { now: clock.now(), next_timer, tasks }))
    }

    async fn tick(self) -> Result<(), Error> {
        self.0.queue.send(Control::Tick.into()).await.map_err(|_| Error::Stopped)
    }
}
