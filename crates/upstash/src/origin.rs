//! How many requests to one app are under way: few at first, and one more every now and then while others wait.
//!
//! A server on one thread takes new connections one by one between its requests. If a hundred deliveries opened a connection
//! each, those that come last would wait until all others are through, while newer deliveries pass them on connections that
//! became free. So deliveries wait here, in their order, and connections are used again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

/// How many requests an app gets at once to begin with.
const AT_FIRST: u32 = 16;
/// How often a request that waits looks whether one more may be let in.
const LOOK: Duration = Duration::from_millis(5);
/// How long it takes until one more is let in while others wait: to an app whose steps take long; to one of which nothing is
/// known yet; to one that answers quickly, for places become free by themselves; and to one that is at its limits.
const TO_SLOW: Duration = Duration::from_millis(5);
const TO_UNKNOWN: Duration = Duration::from_millis(25);
const TO_QUICK: Duration = Duration::from_millis(100);
const TO_BUSY: Duration = Duration::from_secs(1);
/// From when on answers take long, where as many are under way as at first. Where there are more, an app that works on them
/// one after the other takes longer for each.
const SLOW: Duration = Duration::from_millis(500);
/// From when on an app is at its limits: answers take so many times as long as they did when fewer were under way.
const BUSY: u32 = 4;
/// How many apps are remembered before those with nothing under way are forgotten.
const MANY: usize = 1_000;

/// The apps that requests are under way to.
#[derive(Debug, Default)]
pub(crate) struct Origins(Mutex<HashMap<String, Arc<Origin>>>);

#[derive(Debug)]
struct Origin {
    room: Arc<Semaphore>,
    pace: Mutex<Pace>,
}

#[derive(Debug)]
struct Pace {
    widened_at: Instant,
    /// How many may be under way.
    width: u32,
    /// How long answers took lately.
    answered_in: Option<Duration>,
    /// How long answers took when they were quickest.
    quickest: Duration,
}

/// The place of a request, until it is answered.
pub(crate) struct Place {
    origin: Arc<Origin>,
    since: Instant,
    _room: Option<OwnedSemaphorePermit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.origin.pace().note(self.since.elapsed());
    }
}

impl Origins {
    /// Waits for a place among the requests to the app that has this URL.
    pub(crate) async fn enter(&self, url: &str) -> Place {
        let origin = self.origin(of(url));
        let mut entering = std::pin::pin!(Arc::clone(&origin.room).acquire_owned());
        let room = loop {
            tokio::select! {
                biased;
                // It is never closed.
                room = &mut entering => break room.ok(),
                () = sleep(LOOK) => origin.widen(Instant::now()),
            }
        };
        Place { origin, since: Instant::now(), _room: room }
    }

    fn origin(&self, name: &str) -> Arc<Origin> {
        let mut origins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if origins.len() >= MANY {
            origins.retain(|_, origin| Arc::strong_count(origin) > 1);
        }
        Arc::clone(origins.entry(name.to_owned()).or_insert_with(|| Arc::new(Origin::new(Instant::now()))))
    }
}

impl Origin {
    fn new(now: Instant) -> Origin {
        let pace = Pace { widened_at: now, width: AT_FIRST, answered_in: None, quickest: Duration::MAX };
        Origin { room: Arc::new(Semaphore::new(AT_FIRST as usize)), pace: Mutex::new(pace) }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one more in, whoever of those that wait asks first.
    fn widen(&self, now: Instant) {
        let mut pace = self.pace();
        if now.saturating_duration_since(pace.widened_at) >= pace.one_more() {
            pace.widened_at = now;
            pace.width += 1;
            self.room.add_permits(1);
        }
    }
}

impl Pace {
    fn one_more(&self) -> Duration {
        match self.answered_in {
            None => TO_UNKNOWN,
            Some(answered_in) if answered_in >= SLOW * self.width / AT_FIRST => TO_SLOW,
            Some(answered_in) if answered_in > self.quickest.saturating_mul(BUSY) => TO_BUSY,
            Some(_) => TO_QUICK,
        }
    }

    fn note(&mut self, answered_in: Duration) {
        let lately = self.answered_in.unwrap_or(answered_in);
        let lately = (lately * 7 + answered_in) / 8;
        self.answered_in = Some(lately);
        self.quickest = self.quickest.min(lately);
    }
}

/// The part of a URL that says where it leads: its scheme, host and port.
fn of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |place| place + 3);
    url[host..].find(['/', '?', '#']).map_or(url, |end| &url[..host + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(of("http://a:1/b/c?d"), "http://a:1");
        assert_eq!(of("https://a?d"), "https://a");
        assert_eq!(of("https://a"), "https://a");
    }

    #[test]
    fn one_more_is_let_in_at_a_pace_that_follows_how_quickly_an_app_answers() {
        let begun = Instant::now();
        let origin = Origin::new(begun);
        let after = |ms: u64| {
            origin.widen(begun + Duration::from_millis(ms));
            origin.room.available_permits() - AT_FIRST as usize
        };
        let answers_in = |ms: u64| {
            for _ in 0..40 {
                origin.pace().note(Duration::from_millis(ms));
            }
        };
        assert_eq!([after(24), after(25), after(26)], [0, 1, 1]);
        answers_in(20);
        assert_eq!([after(124), after(125)], [1, 2]);
        answers_in(100);
        assert_eq!([after(1_124), after(1_125)], [2, 3]);
        answers_in(2_000);
        assert_eq!([after(1_129), after(1_130), after(1_135)], [3, 4, 5]);
    }
}
