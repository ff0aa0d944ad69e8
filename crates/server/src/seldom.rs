//! What would be said over and over is said now and then.

use std::time::{Duration, Instant};

pub(crate) struct Seldom {
    every: Duration,
    said_at: Option<Instant>,
    unsaid: u64,
}

impl Seldom {
    pub(crate) fn every(every: Duration) -> Seldom {
        Seldom { every, said_at: None, unsaid: 0 }
    }

    /// Says when to log again: with how often the message was left out since the last time.
    pub(crate) fn say(&mut self, now: Instant) -> Option<u64> {
        if self.said_at.is_some_and(|at| now.duration_since(at) < self.every) {
            self.unsaid += 1;
            return None;
        }
        self.said_at = Some(now);
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_in_its_time_with_how_often_it_was_not() {
        let (mut seldom, start) = (Seldom::every(Duration::from_secs(10)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(seldom.say(at(0)), Some(0));
        assert_eq!((1..10).filter_map(|second| seldom.say(at(second))).count(), 0);
        assert_eq!(seldom.say(at(10)), Some(9));
    }
}
