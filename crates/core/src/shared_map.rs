//! A sorted map whose copies share what neither of them has changed since: a B-tree of shared nodes. A copy costs nothing, and a
//! change copies the nodes on the way to it. So a run can be decided about while a round that has it is committed (R25).
//!
//! A node that lost entries is not joined with its neighbours: what is in a run's maps is added far more often than removed.

use std::borrow::Borrow;
use std::fmt::{self, Debug, Formatter};
use std::slice;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most entries of a node: a change copies so many of the leaf it is in.
const WIDTH: usize = 16;

/// A sorted map that is cheap to copy.
pub struct SharedMap<K, V> {
    root: Option<Arc<Node<K, V>>>,
    len: usize,
}

#[derive(Clone)]
enum Node<K, V> {
    Leaf(Vec<(K, V)>),
    /// Each with a key that is not greater than any below it and greater than all before it. The first one's is not looked at.
    Inner(Vec<Child<K, V>>),
}

type Child<K, V> = (K, Arc<Node<K, V>>);

/// What became too large for its node: the part that begins with this key.
type Split<K, V> = Option<Child<K, V>>;

/// The child in whose part of the map a key is.
fn child_of<K: Borrow<Q>, Q: Ord + ?Sized, T>(children: &[(K, T)], key: &Q) -> usize {
    children.partition_point(|(least, _)| least.borrow() <= key).saturating_sub(1)
}

/// Splits a node that became too large. One that grew at its end stays full: keys often come in order.
fn split<K: Clone, T>(entries: &mut Vec<(K, T)>, changed: usize) -> Option<Vec<(K, T)>> {
    let is_too_large = entries.len() > WIDTH;
    is_too_large.then(|| entries.split_off(if changed == WIDTH { WIDTH } else { WIDTH.div_ceil(2) }))
}

impl<K: Ord + Clone, V: Clone> Node<K, V> {
    fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut node = self;
        loop {
            match node {
                Node::Inner(children) => node = &children[child_of(children, key)].1,
                Node::Leaf(entries) => {
                    let place = entries.binary_search_by(|(it, _)| it.borrow().cmp(key)).ok()?;
                    return Some(&entries[place].1);
                }
            }
        }
    }

    fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self {
            Node::Inner(children) => {
                let child = child_of(children, key);
                Arc::make_mut(&mut children[child].1).get_mut(key)
            }
            Node::Leaf(entries) => {
                let place = entries.binary_search_by(|(it, _)| it.borrow().cmp(key)).ok()?;
                Some(&mut entries[place].1)
            }
        }
    }

    fn insert(&mut self, key: K, value: V) -> (Option<V>, Split<K, V>) {
        match self {
            Node::Leaf(entries) => match entries.binary_search_by(|(it, _)| it.cmp(&key)) {
                Ok(place) => (Some(std::mem::replace(&mut entries[place].1, value)), None),
                Err(place) => {
                    entries.insert(place, (key, value));
                    let split = split(entries, place).map(|part| (part[0].0.clone(), part));
                    (None, split.map(|(least, part)| (least, Arc::new(Node::Leaf(part)))))
                }
            },
            Node::Inner(children) => {
                let child = child_of(children, &key);
                let (was, more) = Arc::make_mut(&mut children[child].1).insert(key, value);
                let Some(more) = more else { return (was, None) };
                children.insert(child + 1, more);
                let split = split(children, child + 1).map(|part| (part[0].0.clone(), part));
                (was, split.map(|(least, part)| (least, Arc::new(Node::Inner(part)))))
            }
        }
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self {
            Node::Leaf(entries) => {
                let place = entries.binary_search_by(|(it, _)| it.borrow().cmp(key)).ok()?;
                Some(entries.remove(place).1)
            }
            Node::Inner(children) => {
                let child = child_of(children, key);
                let removed = Arc::make_mut(&mut children[child].1).remove(key);
                if children[child].1.is_empty() {
                    children.remove(child);
                }
                removed
            }
        }
    }

    fn for_each_mut(&mut self, act: &mut impl FnMut(&K, &mut V)) {
        match self {
            Node::Leaf(entries) => entries.iter_mut().for_each(|(key, value)| act(key, value)),
            Node::Inner(children) => {
                children.iter_mut().for_each(|(_, child)| Arc::make_mut(child).for_each_mut(act));
            }
        }
    }
}

impl<K, V> Node<K, V> {
    fn is_empty(&self) -> bool {
        match self {
            Node::Leaf(entries) => entries.is_empty(),
            Node::Inner(children) => children.is_empty(),
        }
    }
}

impl<K, V> SharedMap<K, V> {
    /// An empty map.
    pub const fn new() -> SharedMap<K, V> {
        SharedMap { root: None, len: 0 }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let root = self.root.as_ref();
        Iter {
            first: Way::down(root, Iterator::next),
            last: Way::down(root, DoubleEndedIterator::next_back),
            left: self.len,
        }
    }

    /// The keys in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + DoubleEndedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + DoubleEndedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.root.as_ref()?.get(key)
    }

    /// Whether there is an entry of this key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        Arc::make_mut(self.root.as_mut()?).get_mut(key)
    }

    /// The value of a key, to be changed; the default is put there if there is none.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if !self.contains_key(&key) {
            self.insert(key.clone(), V::default());
        }
        self.get_mut(&key).expect("it is there")
    }

    /// Puts a value under a key; gives the one that was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(Node::Leaf(vec![(key, value)])));
            self.len = 1;
            return None;
        };
        let (was, more) = Arc::make_mut(root).insert(key, value);
        if let Some((least, more)) = more {
            // The key of the first child is not looked at.
            *root = Arc::new(Node::Inner(vec![(least.clone(), Arc::clone(root)), (least, more)]));
        }
        self.len += usize::from(was.is_none());
        was
    }

    /// Takes an entry out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        let root = self.root.as_mut()?;
        let removed = Arc::make_mut(root).remove(key);
        self.len -= usize::from(removed.is_some());
        while let Node::Inner(children) = &**root
            && let [(_, only)] = children.as_slice()
        {
            *root = Arc::clone(only);
        }
        if self.len == 0 {
            self.root = None;
        }
        removed
    }

    /// Takes the entry with the least key out.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        let first = self.keys().next()?.clone();
        let value = self.remove(&first)?;
        Some((first, value))
    }

    /// Changes every value. Nothing is shared after it.
    pub fn for_each_mut(&mut self, mut act: impl FnMut(&K, &mut V)) {
        if let Some(root) = &mut self.root {
            Arc::make_mut(root).for_each_mut(&mut act);
        }
    }

    /// Takes out the entries that do not pass.
    pub fn retain(&mut self, mut passes: impl FnMut(&K, &V) -> bool) {
        let gone: Vec<K> =
            self.iter().filter(|(key, value)| !passes(key, value)).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.remove(&key);
        }
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> SharedMap<K, V> {
        SharedMap { root: self.root.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> SharedMap<K, V> {
        SharedMap::new()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &SharedMap<K, V>) -> bool {
        self.len == other.len && self.iter().eq(other)
    }
}

impl<K: Debug, V: Debug> Debug for SharedMap<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> SharedMap<K, V> {
        let mut map = SharedMap::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for SharedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<'m, K, V> IntoIterator for &'m SharedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.iter()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SharedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord + Clone, V: Deserialize<'de> + Clone> Deserialize<'de>
    for SharedMap<K, V>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SharedMap<K, V>, D::Error> {
        let map = std::collections::BTreeMap::<K, V>::deserialize(deserializer)?;
        Ok(map.into_iter().collect())
    }
}

/// The entries of a [`SharedMap`] in the order of their keys, from both ends.
pub struct Iter<'m, K, V> {
    first: Way<'m, K, V>,
    last: Way<'m, K, V>,
    left: usize,
}

/// How far an iteration has come from one end: what is left of a leaf, and of the nodes above it.
struct Way<'m, K, V> {
    above: Vec<slice::Iter<'m, Child<K, V>>>,
    leaf: slice::Iter<'m, (K, V)>,
}

impl<'m, K, V> Way<'m, K, V> {
    fn down(root: Option<&'m Arc<Node<K, V>>>, next: Take<'m, K, V>) -> Way<'m, K, V> {
        let mut way = Way { above: Vec::new(), leaf: [].iter() };
        if let Some(root) = root {
            way.descend(root, next);
        }
        way
    }

    fn descend(&mut self, mut node: &'m Node<K, V>, next: Take<'m, K, V>) {
        loop {
            match node {
                Node::Leaf(entries) => return self.leaf = entries.iter(),
                Node::Inner(children) => {
                    let mut children = children.iter();
                    let Some((_, child)) = next(&mut children) else { return };
                    self.above.push(children);
                    node = child;
                }
            }
        }
    }

    /// The next leaf that something is left of.
    fn go_on(&mut self, next: Take<'m, K, V>) {
        while let Some(children) = self.above.last_mut() {
            match next(children) {
                Some((_, child)) => return self.descend(child, next),
                None => drop(self.above.pop()),
            }
        }
    }
}

/// Takes a child from the end that an iteration comes from.
type Take<'m, K, V> = fn(&mut slice::Iter<'m, Child<K, V>>) -> Option<&'m Child<K, V>>;

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<(&'m K, &'m V)> {
        self.left = self.left.checked_sub(1)?;
        if self.first.leaf.len() == 0 {
            self.first.go_on(Iterator::next);
        }
        self.first.leaf.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'m, K, V> DoubleEndedIterator for Iter<'m, K, V> {
    fn next_back(&mut self) -> Option<(&'m K, &'m V)> {
        self.left = self.left.checked_sub(1)?;
        if self.last.leaf.len() == 0 {
            self.last.go_on(DoubleEndedIterator::next_back);
        }
        self.last.leaf.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { first: self.first.clone(), last: self.last.clone(), left: self.left }
    }
}

impl<K, V> Clone for Way<'_, K, V> {
    fn clone(&self) -> Self {
        Way { above: self.above.clone(), leaf: self.leaf.clone() }
    }
}

impl<K, V> Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} entries", self.left)
    }
}
