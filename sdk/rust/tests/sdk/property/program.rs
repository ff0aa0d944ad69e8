//! A random handler: what it does, in the order it does it. The code of another build differs in one place.

use abide_sdk::Json;
use serde::{Deserialize, Serialize};

/// What a handler does next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Op {
    /// A call that fails so often before it succeeds; with attempts of its own, if it has a policy.
    Call {
        name: String,
        failures: u32,
        has_policy: bool,
    },
    Sleep {
        name: String,
        seconds: u64,
    },
    Signal {
        name: String,
    },
    /// The handler fails here so often.
    Fail {
        name: String,
        failures: u32,
    },
    /// Goes on with one of the two, as the value of an earlier call says.
    Branch {
        on: String,
        even: Vec<Op>,
        odd: Vec<Op>,
    },
    /// Both at the same time.
    Both {
        left: Vec<Op>,
        right: Vec<Op>,
    },
    /// Both at the same time, until the first is over.
    Race {
        name: String,
        left: Vec<Op>,
        right: Vec<Op>,
    },
}

/// A generator of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// How names begin that stand in a race.
pub(super) const RACED: &str = "raced-";

/// Makes a program, and counts the names that it gives.
pub(super) struct Author<'r> {
    pub(super) random: &'r mut Random,
    pub(super) names: u64,
    /// What is written stands in a race, which a failure would end for good: nothing in it fails.
    pub(super) is_raced: bool,
}

impl Author<'_> {
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        let raced = if self.is_raced { RACED } else { "" };
        format!("{raced}{what}-{}", self.names)
    }

    fn race(&mut self, depth: u32) -> Op {
        let name = self.name("race");
        let outer = std::mem::replace(&mut self.is_raced, true);
        let (left, right) = (self.write(depth), self.write(depth));
        self.is_raced = outer;
        Op::Race { name, left, right }
    }

    pub(super) fn write(&mut self, depth: u32) -> Vec<Op> {
        let length = 1 + self.random.below(4);
        let mut calls = Vec::new();
        (0..length).map(|_| self.op(depth, &mut calls)).collect()
    }

    fn op(&mut self, depth: u32, calls: &mut Vec<String>) -> Op {
        match self.random.below(if depth > 0 { 14 } else { 9 }) {
            0..4 => {
                let name = self.name("call");
                calls.push(name.clone());
                let failures = [0, 0, 0, 1, 2][self.random.below(5) as usize];
                Op::Call { name, failures, has_policy: self.is_raced || self.random.below(2) == 0 }
            }
            4..6 => Op::Sleep { name: self.name("sleep"), seconds: self.random.below(200_000) },
            6..8 => Op::Signal { name: self.name("signal") },
            8 if !self.is_raced => Op::Fail { name: self.name("fail"), failures: 1 },
            8 => Op::Sleep { name: self.name("sleep"), seconds: 1 },
            12.. => self.race(depth - 1),
            9 | 10 if !calls.is_empty() => {
                let on = calls[self.random.below(calls.len() as u64) as usize].clone();
                Op::Branch { on, even: self.write(depth - 1), odd: self.write(depth - 1) }
            }
            _ => Op::Both { left: self.write(depth - 1), right: self.write(depth - 1) },
        }
    }
}

/// The same program in another build: one of its calls has another name, or one of its waits is of another kind.
pub(super) fn changed(program: &[Op], random: &mut Random) -> Vec<Op> {
    let mut program = program.to_vec();
    let places = count(&program);
    if places > 0 {
        let mut place = random.below(places);
        change(&mut program, &mut place);
    }
    program
}

fn is_place(op: &Op) -> bool {
    matches!(op, Op::Call { .. } | Op::Sleep { .. } | Op::Signal { .. })
}

fn count(ops: &[Op]) -> u64 {
    ops.iter().map(|op| parts(op).iter().map(|part| count(part)).sum::<u64>() + u64::from(is_place(op))).sum()
}

fn parts(op: &Op) -> Vec<&[Op]> {
    match op {
        Op::Branch { even, odd, .. } => vec![even, odd],
        Op::Both { left, right } | Op::Race { left, right, .. } => vec![left, right],
        Op::Call { .. } | Op::Sleep { .. } | Op::Signal { .. } | Op::Fail { .. } => Vec::new(),
    }
}

fn change(ops: &mut [Op], place: &mut u64) -> bool {
    for op in ops {
        if is_place(op) {
            if *place == 0 {
                *op = match op.clone() {
                    Op::Call { name, failures, has_policy } => {
                        Op::Call { name: format!("other-{name}"), failures, has_policy }
                    }
                    Op::Sleep { name, .. } => Op::Signal { name },
                    Op::Signal { name } => Op::Sleep { name, seconds: 60 },
                    other @ (Op::Fail { .. } | Op::Branch { .. } | Op::Both { .. } | Op::Race { .. }) => {
                        other
                    }
                };
                return true;
            }
            *place -= 1;
        }
        let changed = match op {
            Op::Branch { even, odd, .. } => change(even, place) || change(odd, place),
            Op::Both { left, right } | Op::Race { left, right, .. } => {
                change(left, place) || change(right, place)
            }
            Op::Call { .. } | Op::Sleep { .. } | Op::Signal { .. } | Op::Fail { .. } => false,
        };
        if changed {
            return true;
        }
    }
    false
}

/// What a handler saw, by the names of its calls, in the order of its program.
pub(super) type Seen = Vec<(String, Json)>;

/// Whether this is what the program comes to, with the values that its calls gave.
pub(super) fn comes_to(program: &[Op], seen: &Seen) -> bool {
    let mut left = &seen[..];
    follow(program, seen, &mut left) && left.is_empty()
}

fn follow(program: &[Op], all: &Seen, left: &mut &[(String, Json)]) -> bool {
    program.iter().all(|op| match op {
        Op::Call { name, .. } | Op::Sleep { name, .. } | Op::Signal { name } => match left.split_first() {
            Some(((found, _), rest)) if found == name => {
                *left = rest;
                true
            }
            _ => false,
        },
        Op::Fail { .. } => true,
        Op::Branch { on, even, odd } => follow(if is_even(value(all, on)) { even } else { odd }, all, left),
        Op::Both { left: one, right: other } => follow(one, all, left) && follow(other, all, left),
        Op::Race { name, left: one, right: other } => match left.split_first() {
            Some(((found, winner), rest)) if found == name => {
                *left = rest;
                follow(if *winner == 0 { one } else { other }, all, left)
            }
            _ => false,
        },
    })
}

/// The names in branches that lost a race, by what the handler saw.
pub(super) fn lost(program: &[Op], seen: &Seen) -> Vec<String> {
    let in_op = |op: &Op| match op {
        Op::Race { name, left, right } => match value(seen, name).and_then(Json::as_u64) {
            Some(0) => [lost(left, seen), names(right)].concat(),
            Some(_) => [names(left), lost(right, seen)].concat(),
            None => Vec::new(),
        },
        Op::Call { .. }
        | Op::Sleep { .. }
        | Op::Signal { .. }
        | Op::Fail { .. }
        | Op::Branch { .. }
        | Op::Both { .. } => parts(op).into_iter().flat_map(|part| lost(part, seen)).collect(),
    };
    program.iter().flat_map(in_op).collect()
}

fn names(ops: &[Op]) -> Vec<String> {
    let in_op = |op: &Op| {
        let own = match op {
            Op::Call { name, .. } | Op::Sleep { name, .. } | Op::Signal { name } | Op::Race { name, .. } => {
                Some(name.clone())
            }
            Op::Fail { .. } | Op::Branch { .. } | Op::Both { .. } => None,
        };
        own.into_iter().chain(parts(op).into_iter().flat_map(names)).collect::<Vec<_>>()
    };
    ops.iter().flat_map(in_op).collect()
}

/// The value of an earlier call, under either of the names that it has in the two builds.
pub(super) fn value<'s>(seen: &'s Seen, call: &str) -> Option<&'s Json> {
    let plain = call.trim_start_matches("other-");
    seen.iter().find(|(name, _)| name.trim_start_matches("other-") == plain).map(|(_, value)| value)
}

pub(super) fn is_even(value: Option<&Json>) -> bool {
    value.and_then(Json::as_u64).is_some_and(|value| value % 2 == 0)
}
