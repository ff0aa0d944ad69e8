//! What becomes of an input by chance.

/// SplitMix64: the same numbers for the same seed, everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).expect("it is less than a usize")
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What parsers stumble over.
const TRAPS: [&[u8]; 16] = [
    b"\0",
    b"\xff\xfe",
    b"\xf0\x9f\x8d\xb5",
    b"\r\n",
    b"\n\n",
    b"-1",
    b"0",
    b"9223372036854775808",
    b"1e999",
    b"[[[[[[[[",
    b"{{{{{{{{",
    b"\"",
    b"\\u0000",
    b"&a *a",
    b"<<: *",
    b"*/0",
];

/// One of these, changed in a few places.
pub(crate) fn mutate(inputs: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut input = chance.pick(inputs).clone();
    for _ in 0..=chance.below(4) {
        change(&mut input, inputs, chance);
    }
    input
}

fn change(input: &mut Vec<u8>, inputs: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(input.len() + 1);
    let range = at..(at + 1 + chance.below(16)).min(input.len()).max(at);
    match chance.below(8) {
        0 if at < input.len() => input[at] ^= 1 << chance.below(8),
        1 if at < input.len() => input[at] = chance.next().to_le_bytes()[0],
        2 => drop(input.drain(range)),
        3 => {
            let piece = input[range].repeat(1 + chance.below(8));
            insert(input, at, &piece);
        }
        4 => insert(input, at, TRAPS[chance.below(TRAPS.len())]),
        5 => {
            // The end of another one.
            let other = chance.pick(inputs);
            input.truncate(at);
            input.extend(&other[chance.below(other.len() + 1)..]);
        }
        6 => {
            // A piece of another one.
            let other = chance.pick(inputs);
            let from = chance.below(other.len() + 1);
            let piece = other[from..(from + chance.below(32)).min(other.len())].to_vec();
            insert(input, at, &piece);
        }
        _ => insert(input, at, &[chance.next().to_le_bytes()[0]]),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}
