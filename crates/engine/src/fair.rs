//! Turns that are shared fairly. Askers are served in turn, one request of each. Where a turn may last, nobody has
//! more of them than there are free ones, so that with one asker half of the turns are taken, with two a third each,
//! and there is always one left for an asker that has none.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

pub(crate) struct Fair<K: Eq + Hash + Clone> {
    state: Mutex<State<K>>,
    most: usize,
    /// Whether some turns are kept for askers that have none.
    keeps: bool,
}

struct State<K: Eq + Hash + Clone> {
    taken: usize,
    askers: HashMap<K, Asker<K>>,
    /// The askers with somebody waiting, in the order in which they are served.
    waiting: VecDeque<K>,
    /// How many turns one asker has at most.
    most_of_any: Option<usize>,
    most_of: HashMap<K, usize>,
    /// How many turns those have in a row who have more than one.
    shares: HashMap<K, usize>,
    is_closed: bool,
    /// The callers to notify when no turn is out any more.
    closing: Vec<oneshot::Sender<()>>,
}

struct Asker<K: Eq + Hash + Clone> {
    taken: usize,
    /// How many turns it was given in a row.
    in_a_row: usize,
    waiting: VecDeque<oneshot::Sender<Turn<K>>>,
}

/// A turn, held while it is used.
pub(crate) struct Turn<K: Eq + Hash + Clone> {
    of: Arc<Fair<K>>,
    asker: K,
}

impl<K: Eq + Hash + Clone> Fair<K> {
    /// Turns for what is over soon: all of them are used.
    pub(crate) fn in_turn(most: usize) -> Arc<Fair<K>> {
        Fair::new(most, false)
    }

    /// Turns for what may last: some are kept for askers that have none.
    pub(crate) fn keeping(most: usize) -> Arc<Fair<K>> {
        Fair::new(most.max(2), true)
    }

    fn new(most: usize, keeps: bool) -> Arc<Fair<K>> {
        let state = State {
            taken: 0,
            askers: HashMap::new(),
            waiting: VecDeque::new(),
            most_of_any: None,
            most_of: HashMap::new(),
            shares: HashMap::new(),
            is_closed: false,
            closing: Vec::new(),
        };
        Arc::new(Fair { state: Mutex::new(state), most, keeps })
    }

    /// Waits for a turn; `None` once the turns are closed.
    pub(crate) async fn turn(self: &Arc<Self>, asker: K) -> Option<Turn<K>> {
        let waits = {
            let mut state = self.state();
            if state.is_closed {
                return None;
            }
            let is_first = state.askers.get(&asker).is_none_or(|asker| asker.waiting.is_empty());
            if is_first && self.may(&state, &asker) {
                return Some(self.give(&mut state, asker));
            }
            let (turn, waits) = oneshot::channel();
            let known = state.askers.entry(asker.clone()).or_insert_with(Asker::none);
            known.waiting.push_back(turn);
            if known.waiting.len() == 1 {
                state.waiting.push_back(asker);
            }
            waits
        };
        // Dropped unsent when it is closed.
        waits.await.ok()
    }

    /// How many turns there are.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// How many turns are out, and how many are waited for.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = self.state();
        (state.taken, state.askers.values().map(|asker| asker.waiting.len()).sum())
    }

    /// How many turns one asker has at most, and those for whom it is another number.
    pub(crate) fn limit(&self, any: Option<usize>, of: HashMap<K, usize>) {
        let mut state = self.state();
        (state.most_of_any, state.most_of) = (any, of);
    }

    /// How many turns those have in a row who have more than one.
    pub(crate) fn share(&self, of: HashMap<K, usize>) {
        self.state().shares = of;
    }

    /// Closes the turns: those who wait get none.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.waiting.clear();
        let waiting: Vec<_> =
            state.askers.values_mut().map(|asker| std::mem::take(&mut asker.waiting)).collect();
        drop(state);
        drop(waiting);
    }

    /// Waits until no turn is out any more, once the turns are closed.
    pub(crate) async fn all_given_back(&self) {
        let all = {
            let mut state = self.state();
            if state.taken == 0 {
                return;
            }
            let (tell, all) = oneshot::channel();
            state.closing.push(tell);
            all
        };
        // Dropped unsent, or sent: either way they are back.
        drop(all.await);
    }

    fn give(self: &Arc<Self>, state: &mut State<K>, asker: K) -> Turn<K> {
        state.taken += 1;
        state.askers.entry(asker.clone()).or_insert_with(Asker::none).taken += 1;
        Turn { of: Arc::clone(self), asker }
    }

    fn release(self: &Arc<Self>, asker: &K) {
        let mut served = Vec::new();
        let mut state = self.state();
        state.taken -= 1;
        if state.taken == 0 {
            state.closing.clear();
        }
        if let Some(known) = state.askers.get_mut(asker) {
            known.taken -= 1;
            if known.taken == 0 && known.waiting.is_empty() {
                state.askers.remove(asker);
            }
        }
        // Whoever has had its share goes to the end of the line, and whoever cannot be served keeps its place.
        let mut passed = VecDeque::new();
        while let Some(next) = state.waiting.pop_front() {
            let mut is_served = false;
            while !is_served && self.may(&state, &next) {
                let waits = state.askers.get_mut(&next).and_then(|known| known.waiting.pop_front());
                let Some(waits) = waits else { break };
                if !waits.is_closed() {
                    served.push((waits, self.give(&mut state, next.clone())));
                    is_served = true;
                }
            }
            let share = state.shares.get(&next).copied().unwrap_or(1);
            let has_more = match state.askers.get_mut(&next).filter(|_| is_served) {
                Some(known) => {
                    known.in_a_row += 1;
                    let has_more = known.in_a_row < share && !known.waiting.is_empty();
                    known.in_a_row *= usize::from(has_more);
                    has_more
                }
                None => false,
            };
            match state.askers.get(&next) {
                Some(_) if has_more => state.waiting.push_front(next),
                Some(known) if !known.waiting.is_empty() && is_served => state.waiting.push_back(next),
                Some(known) if !known.waiting.is_empty() => passed.push_back(next),
                Some(known) if known.taken == 0 => drop(state.askers.remove(&next)),
                Some(_) | None => {}
            }
        }
        state.waiting = passed;
        // A turn for somebody who has just gone comes back, which takes the lock again.
        drop(state);
        for (waits, turn) in served {
            drop(waits.send(turn));
        }
    }

    fn may(&self, state: &State<K>, asker: &K) -> bool {
        let free = self.most - state.taken;
        let own = state.askers.get(asker).map_or(0, |asker| asker.taken);
        let most = state.most_of.get(asker).copied().or(state.most_of_any).unwrap_or(usize::MAX);
        own < most && free > if self.keeps { own } else { 0 }
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> Asker<K> {
    fn none() -> Asker<K> {
        Asker { taken: 0, in_a_row: 0, waiting: VecDeque::new() }
    }
}

impl<K: Eq + Hash + Clone> Drop for Turn<K> {
    fn drop(&mut self) {
        self.of.release(&self.asker);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waits = Pin<Box<dyn Future<Output = Option<Turn<&'static str>>>>>;

    fn ask(fair: &Arc<Fair<&'static str>>, asker: &'static str) -> Result<Turn<&'static str>, Waits> {
        let fair = Arc::clone(fair);
        let mut waits: Waits = Box::pin(async move { fair.turn(asker).await });
        has(&mut waits).ok_or(waits)
    }

    fn has(waits: &mut Waits) -> Option<Turn<&'static str>> {
        match waits.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => turn,
            Poll::Pending => None,
        }
    }

    fn take_all(fair: &Arc<Fair<&'static str>>, asker: &'static str) -> (Vec<Turn<&'static str>>, Waits) {
        let mut turns = Vec::new();
        loop {
            match ask(fair, asker) {
                Ok(turn) => turns.push(turn),
                Err(waits) => return (turns, waits),
            }
        }
    }

    #[test]
    fn one_asker_has_half_and_there_is_always_one_left_for_another() {
        let fair = Fair::keeping(16);
        let (greedy, _waits) = take_all(&fair, "greedy");
        assert_eq!(greedy.len(), 8);
        let (other, _waits) = take_all(&fair, "other");
        assert_eq!(other.len(), 4);
        let (third, _waits) = take_all(&fair, "third");
        assert_eq!(third.len(), 2);
        assert!(ask(&fair, "fourth").is_ok());
    }

    #[test]
    fn those_who_wait_are_served_in_turn_and_who_has_gone_is_passed_over() {
        let fair = Fair::keeping(4);
        let (mut greedy, mut first) = take_all(&fair, "greedy");
        let mut second = ask(&fair, "greedy").err().unwrap();
        let gone = ask(&fair, "greedy").err().unwrap();
        let (other, mut others) = take_all(&fair, "other");
        drop(gone);
        assert_eq!((greedy.len(), other.len()), (2, 1));
        greedy.pop();
        let turn = has(&mut first).or_else(|| has(&mut others)).unwrap();
        drop((turn, greedy, other));
        assert!(has(&mut second).is_some() || has(&mut others).is_some());
        drop((first, second, others));
        assert!(fair.state().askers.is_empty() && fair.state().taken == 0);
    }

    #[test]
    fn where_turns_are_short_all_are_used_and_those_who_wait_alternate() {
        let fair = Fair::in_turn(2);
        let (mut turns, first) = take_all(&fair, "greedy");
        assert_eq!(turns.len(), 2);
        let mut greedy = [first, ask(&fair, "greedy").err().unwrap(), ask(&fair, "greedy").err().unwrap()];
        let mut other = ask(&fair, "other").err().unwrap();
        turns.pop();
        let first = has(&mut greedy[0]).unwrap();
        assert!(has(&mut other).is_none());
        drop(first);
        let _others = has(&mut other).unwrap();
        assert!(has(&mut greedy[1]).is_none());
        turns.pop();
        assert!(has(&mut greedy[1]).is_some());
    }

    #[test]
    fn whoever_has_a_larger_share_has_so_many_turns_in_a_row() {
        let fair = Fair::in_turn(1);
        fair.share(HashMap::from([("large", 2)]));
        let mut turn = ask(&fair, "first").ok();
        assert!(turn.is_some());
        let mut large: Vec<Waits> = (0..4).map(|_| ask(&fair, "large").err().unwrap()).collect();
        let mut small: Vec<Waits> = (0..2).map(|_| ask(&fair, "small").err().unwrap()).collect();
        let mut order = String::new();
        while order.len() < 6 {
            drop(turn.take());
            for (waits, name) in [(&mut large, 'l'), (&mut small, 's')] {
                if let Some(given) = waits.first_mut().and_then(has) {
                    drop(waits.remove(0));
                    order.push(name);
                    turn = Some(given);
                }
            }
            assert!(turn.is_some(), "{order}");
        }
        assert_eq!(order, "llslls");
    }

    #[test]
    fn a_turn_for_somebody_who_has_just_gone_is_not_lost() {
        let fair = Fair::in_turn(1);
        let turn = ask(&fair, "a").ok().unwrap();
        let waits = ask(&fair, "a").err().unwrap();
        drop(turn);
        drop(waits);
        assert_eq!(fair.state().taken, 0);
        assert!(ask(&fair, "a").is_ok());
    }

    #[test]
    fn an_asker_may_have_a_limit_of_its_own() {
        let fair = Fair::keeping(16);
        fair.limit(Some(3), HashMap::from([("small", 1)]));
        let (any, _waits) = take_all(&fair, "any");
        let (small, _waits) = take_all(&fair, "small");
        assert_eq!((any.len(), small.len()), (3, 1));
    }

    #[test]
    fn when_it_is_closed_nobody_waits() {
        let fair = Fair::in_turn(1);
        let _turn = ask(&fair, "a").ok().unwrap();
        let mut waits = ask(&fair, "a").err().unwrap();
        fair.close();
        let polled = waits.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(None)));
    }
}
