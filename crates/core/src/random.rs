//! Randomness as a value: a seed enters a decision, numbers come out, the same ones every time.

/// SplitMix64 (Steele, Lea and Flood 2014): tiny, and even enough for jitter and ids.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence that this seed gives.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number of the sequence.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// The next two numbers of the sequence as one.
    pub fn draw_u128(&mut self) -> u128 {
        u128::from(self.draw()) << 64 | u128::from(self.draw())
    }
}
