//! Places for connections. A caller is a stranger until its connection has brought a key, a link or a session that
//! counts. Strangers are cheap to turn out: when there is no place left, the one that has been a stranger longest gives
//! way to whoever comes, so that a crowd of them never keeps out somebody with a key. What strangers may have sent
//! without being let in is bounded in bytes, for all of them together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::settings::Limits;

/// Of all places, one in this many is never a stranger's.
const KEPT_SHARE: usize = 4;
/// What a stranger may send even if all together have sent too much: the request of an honest caller fits into it.
const HONEST_BYTES: usize = 4 * 1024;

pub(crate) struct Strangers {
    /// Connections of everybody.
    most: usize,
    /// Connections of strangers.
    most_strangers: usize,
    /// Of one address; 0 for any number.
    most_of_address: usize,
    most_bytes: usize,
    places: Mutex<Places>,
    /// What strangers have sent that was not answered yet.
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Places {
    open: usize,
    last: u64,
    /// In the order they came.
    strangers: BTreeMap<u64, (IpAddr, Arc<Notify>)>,
    by_address: HashMap<IpAddr, BTreeSet<u64>>,
}

/// A connection's place, for as long as it is held.
pub(crate) struct Visitor {
    strangers: Arc<Strangers>,
    number: u64,
    is_known: AtomicBool,
    /// Sent, and not answered yet, as a stranger.
    bytes: AtomicUsize,
    turned_out: Arc<Notify>,
}

impl Strangers {
    pub(crate) fn new(limits: &Limits) -> Strangers {
        let most = limits.connections.max(1);
        Strangers {
            most,
            most_strangers: (most - most / KEPT_SHARE).max(1),
            most_of_address: limits.connections_per_address,
            most_bytes: limits.stranger_bytes,
            places: Mutex::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// A place for a connection from this address; `None` if everybody who has one is known.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Visitor> {
        let address = neighbourhood(address);
        let mut places = self.places();
        if self.most_of_address > 0
            && let Some(of_address) = places.by_address.get(&address)
            && of_address.len() >= self.most_of_address
        {
            let oldest = of_address.first().copied();
            places.turn_out(oldest);
        }
        if places.open >= self.most || places.strangers.len() >= self.most_strangers {
            let oldest = places.strangers.keys().next().copied();
            places.turn_out(oldest);
        }
        if places.open >= self.most {
            return None;
        }
        places.open += 1;
        places.last += 1;
        let (number, turned_out) = (places.last, Arc::new(Notify::new()));
        places.strangers.insert(number, (address, Arc::clone(&turned_out)));
        places.by_address.entry(address).or_default().insert(number);
        drop(places);
        Some(Visitor {
            strangers: Arc::clone(self),
            number,
            is_known: AtomicBool::new(false),
            bytes: AtomicUsize::new(0),
            turned_out,
        })
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// `false` if it was none, or none any more.
    fn forget(&mut self, number: u64) -> Option<Arc<Notify>> {
        let (address, turned_out) = self.strangers.remove(&number)?;
        if let Some(of_address) = self.by_address.get_mut(&address) {
            of_address.remove(&number);
            if of_address.is_empty() {
                self.by_address.remove(&address);
            }
        }
        Some(turned_out)
    }

    /// Closes a connection: its place is free at once, and its task hears of it and ends.
    fn turn_out(&mut self, number: Option<u64>) {
        if let Some(turned_out) = number.and_then(|number| self.forget(number)) {
            self.open -= 1;
            turned_out.notify_one();
        }
    }
}

impl Visitor {
    /// The connection has shown a key or a link that counts: from here on it keeps its place.
    pub(crate) fn is_known_now(&self) {
        if !self.is_known.swap(true, Ordering::Relaxed) {
            self.forget_bytes();
            // If it was just turned out, that stands.
            self.strangers.places().forget(self.number);
        }
    }

    /// Whether so many more bytes may be read from it.
    pub(crate) fn sent(&self, bytes: usize) -> bool {
        if self.is_known.load(Ordering::Relaxed) {
            return true;
        }
        let own = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = self.strangers.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        all <= self.strangers.most_bytes || own <= HONEST_BYTES
    }

    /// What it sent is answered, and not kept any more.
    pub(crate) fn forget_bytes(&self) {
        let bytes = self.bytes.swap(0, Ordering::Relaxed);
        self.strangers.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns when it must give way.
    pub(crate) async fn turned_out(&self) {
        self.turned_out.notified().await;
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.forget_bytes();
        let mut places = self.strangers.places();
        let was_stranger = places.forget(self.number).is_some();
        // One that was turned out has given up its place already.
        if was_stranger || self.is_known.load(Ordering::Relaxed) {
            places.open -= 1;
        }
    }
}

/// Who can send from one address of a network of the sixth version can send from all of them.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    fn places(connections: usize, of_address: usize, bytes: usize) -> Arc<Strangers> {
        Arc::new(Strangers::new(&Limits {
            connections,
            connections_per_address: of_address,
            stranger_bytes: bytes,
            ..Limits::default()
        }))
    }

    fn is_out(visitor: &Visitor) -> bool {
        futures_util::FutureExt::now_or_never(visitor.turned_out()).is_some()
    }

    #[test]
    fn the_longest_stranger_gives_way_and_who_is_known_stays() {
        let places = places(4, 0, 1000);
        let known = places.admit(HOME).unwrap();
        known.is_known_now();
        let strangers: Vec<Visitor> = (0..3).map(|_| places.admit(HOME).unwrap()).collect();
        let honest = places.admit(HOME).unwrap();
        assert!(is_out(&strangers[0]) && !is_out(&strangers[1]) && !is_out(&known));
        honest.is_known_now();
        drop(strangers);
        let left = places.places();
        assert_eq!((left.open, left.strangers.len()), (2, 0));
        drop(left);
    }

    #[test]
    fn where_all_are_known_one_more_finds_no_place() {
        let places = places(2, 0, 1000);
        let known: Vec<Visitor> = (0..2)
            .map(|_| {
                let visitor = places.admit(HOME).unwrap();
                visitor.is_known_now();
                visitor
            })
            .collect();
        assert!(places.admit(HOME).is_none());
        drop(known);
        assert!(places.admit(HOME).is_some());
    }

    #[test]
    fn an_address_has_its_share_and_a_network_is_one_address() {
        let places = places(100, 2, 1000);
        let at = |address: &str| places.admit(address.parse().unwrap()).unwrap();
        let (first, second) = (at("2001:db8::1"), at("2001:db8::2"));
        let elsewhere = at("192.0.2.1");
        let third = at("2001:db8::3");
        assert!(is_out(&first) && !is_out(&second) && !is_out(&elsewhere) && !is_out(&third));
    }

    #[test]
    fn strangers_send_so_much_together_and_a_small_request_always_fits() {
        let places = places(100, 0, 10_000);
        let (one, other) = (places.admit(HOME).unwrap(), places.admit(HOME).unwrap());
        assert!(one.sent(9_000));
        assert!(other.sent(2_000), "small");
        assert!(!one.sent(1), "too much");
        one.forget_bytes();
        assert!(one.sent(1));
        drop((one, other));
        assert_eq!(places.bytes.load(Ordering::Relaxed), 0);
    }
}
