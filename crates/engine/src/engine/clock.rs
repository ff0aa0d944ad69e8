//! The clock of an engine, as tests move it.

use abide_core::id::RunId;
use jiff::Timestamp;

use super::{Ended, Engine};
use crate::clock::Clock;
use crate::error::Error;
use crate::request::{Control, Query};

/// The clock of an engine. Made by [`Engine::clock`]. A clock that was given as settable stands still until somebody moves
/// it.
#[derive(Clone, Copy, Debug)]
pub struct ClockHandle<'e>(pub(super) &'e Engine);

/// Where a settable clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// What the clock says.
    pub now: Timestamp,
    /// What time would bring next.
    pub next_timer: Option<Timestamp>,
    /// Tasks that workers have, or could take.
    pub tasks: usize,
}

impl ClockHandle<'_> {
    /// What the clock says.
    pub fn now(self) -> Timestamp {
        self.0.clock.now()
    }

    /// Whether time stands still until somebody moves it.
    pub fn is_settable(self) -> bool {
        self.0.settable.is_some()
    }

    /// Waits until all that can be done now is done: only time, a worker or somebody outside can bring more. Says
    /// when the next timer is due.
    pub async fn settled(self) -> Result<Option<Timestamp>, Error> {
        self.0.ask(|answer| Query::Settled { answer }).await
    }

    /// Of a settable clock: lets time pass until the run has ended or nothing is left that time could end. All that is due
    /// on the way happens in its order, without anyone waiting for it. With the machine's clock, waits for the run.
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

    /// Moves a settable clock to an instant, or to the next timer if that is due before; without an instant, to the next
    /// timer. It never goes back. Says where it stands once all that can be done then is done; nothing if the clock is the
    /// machine's.
    pub async fn move_to(self, to: Option<Timestamp>) -> Result<Option<ClockStatus>, Error> {
        let Some(clock) = &self.0.settable else { return Ok(None) };
        let next = self.settled().await?;
        let target = next.into_iter().chain(to).min().unwrap_or_else(|| clock.now());
        clock.set(target.max(clock.now()));
        self.tick().await?;
        self.clock_status().await
    }

    /// Where a settable clock stands; nothing if the clock is the machine's.
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
