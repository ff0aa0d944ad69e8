//! How many requests to one app are under way: few at first, and one more every now and then while others wait.
//!
//! A server on one thread takes new connections one by one between its requests. If a hundred deliveries opened a connection
//! each, those that come last would wait until all others are through, while newer deliveries pass them on connections that
//! became free. So deliveries wait here, and connections are used again.
//!
//! Runs that have begun go before those that have not: a thousand runs at once are then some at a time, each without long
//! pauses between its steps, and not all of them at a crawl. Now and then one that has not begun has its turn anyway.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

/// How many requests an app gets at once to begin with.
const AT_FIRST: u32 = 16;
/// Every so many turns a delivery to a run that has not begun goes before those to runs that have.
const TURNS: u32 = 16;
/// The time between two looks whether one more may be let in, while requests wait.
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
struct Origin(Mutex<Line>);

/// Who waits for a place.
#[derive(Debug)]
struct Line {
    pace: Pace,
    /// How many places nobody has.
    free: u32,
    /// Requests of runs that have begun, and those of which nothing else is known.
    begun: VecDeque<oneshot::Sender<()>>,
    /// First requests of runs.
    beginning: VecDeque<oneshot::Sender<()>>,
    /// How many of the others had a turn since the last first request.
    turns: u32,
    /// Whether somebody looks whether one more may be let in.
    is_watched: bool,
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

/// Whether a request is the first of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first delivery to a run.
    Beginning,
    /// Any other request.
    Begun,
}

/// A place among the requests to an app, until the request is answered.
pub(crate) struct Held {
    origin: Arc<Origin>,
    since: Instant,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut line = self.origin.line();
        line.pace.note(self.since.elapsed());
        line.release();
    }
}

/// A request in the line.
struct Waiting {
    origin: Arc<Origin>,
    turn: oneshot::Receiver<()>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.turn.close();
        // It had its turn, and nobody was there any more to take it.
        if self.turn.try_recv().is_ok() {
            self.origin.line().release();
        }
    }
}

impl Origins {
    /// Waits for a place among the requests to the app that has this URL.
    pub(crate) async fn enter(&self, url: &str, place: Place) -> Held {
        let origin = self.origin(of(url));
        let waiting = origin.line().stand(place).map(|turn| Waiting { origin: Arc::clone(&origin), turn });
        if let Some(mut waiting) = waiting {
            origin.watch();
            // The line lets go of nobody who waits.
            let _ = (&mut waiting.turn).await;
        }
        Held { origin, since: Instant::now() }
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
        Origin(Mutex::new(Line {
            pace,
            free: AT_FIRST,
            begun: VecDeque::new(),
            beginning: VecDeque::new(),
            turns: 0,
            is_watched: false,
        }))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one more in now and then, as long as anybody waits.
    fn watch(self: &Arc<Origin>) {
        if std::mem::replace(&mut self.line().is_watched, true) {
            return;
        }
        let origin = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                sleep(LOOK).await;
                let mut line = origin.line();
                if line.is_empty() {
                    line.is_watched = false;
                    return;
                }
                line.widen(Instant::now());
            }
        });
    }
}

impl Line {
    fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.beginning.is_empty()
    }

    /// Takes a place, or a place in the line.
    fn stand(&mut self, place: Place) -> Option<oneshot::Receiver<()>> {
        if self.free > 0 {
            self.free -= 1;
            return None;
        }
        let (turn, waits) = oneshot::channel();
        match place {
            Place::Beginning => self.beginning.push_back(turn),
            Place::Begun => self.begun.push_back(turn),
        }
        Some(waits)
    }

    /// A place is free: whoever is next has it.
    fn release(&mut self) {
        loop {
            let is_their_turn = self.turns >= TURNS - 1;
            let first = if is_their_turn { self.beginning.pop_front() } else { None };
            let next = match first.or_else(|| self.begun.pop_front()) {
                Some(next) if is_their_turn => {
                    self.turns = 0;
                    Some(next)
                }
                Some(next) => {
                    self.turns += 1;
                    Some(next)
                }
                None => self.beginning.pop_front(),
            };
            match next.map(|next| next.send(())) {
                // Whoever has left the line is passed over.
                Some(Err(())) => {}
                Some(Ok(())) => return,
                None => {
                    self.free += 1;
                    return;
                }
            }
        }
    }

    /// Lets one more in, if it is time.
    fn widen(&mut self, now: Instant) {
        if now.saturating_duration_since(self.pace.widened_at) >= self.pace.one_more() {
            self.pace.widened_at = now;
            self.pace.width += 1;
            self.release();
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
            let mut line = origin.line();
            line.widen(begun + Duration::from_millis(ms));
            line.free - AT_FIRST
        };
        let answers_in = |ms: u64| {
            for _ in 0..40 {
                origin.line().pace.note(Duration::from_millis(ms));
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

    #[test]
    fn runs_that_have_begun_go_first_and_one_that_has_not_has_its_turn() {
        let origin = Origin::new(Instant::now());
        let mut line = origin.line();
        for _ in 0..AT_FIRST {
            assert!(line.stand(Place::Beginning).is_none());
        }
        let mut beginning: Vec<_> = (0..2).filter_map(|_| line.stand(Place::Beginning)).collect();
        let mut begun: Vec<_> = (0..TURNS + 5).filter_map(|_| line.stand(Place::Begun)).collect();
        let mut had_turn = |line: &mut Line| {
            line.release();
            let count = |all: &mut [oneshot::Receiver<()>]| {
                all.iter_mut().map(|waits| usize::from(waits.try_recv().is_ok())).sum::<usize>()
            };
            (count(&mut beginning), count(&mut begun))
        };
        for _ in 0..TURNS - 1 {
            assert_eq!(had_turn(&mut line), (0, 1));
        }
        assert_eq!(had_turn(&mut line), (1, 0));
        assert_eq!(had_turn(&mut line), (0, 1));
    }

    #[test]
    fn who_has_left_the_line_is_passed_over_and_a_place_is_never_lost() {
        let origin = Origin::new(Instant::now());
        let mut line = origin.line();
        for _ in 0..AT_FIRST {
            assert!(line.stand(Place::Begun).is_none());
        }
        drop(line.stand(Place::Begun));
        let mut stays = line.stand(Place::Begun).unwrap();
        line.release();
        assert!(stays.try_recv().is_ok());
        line.release();
        assert_eq!(line.free, 1);
    }
}
