//! Random numbers that a seed repeats.

/// A generator (xorshift, then a multiplication): quick, and good enough to break ties.
#[derive(Clone, Debug)]
pub struct Random(u64);

#[expect(clippy::should_implement_trait, reason = "it never ends")]
impl Random {
    /// A generator that begins with a seed.
    pub fn new(seed: u64) -> Self {
        Random(mix(seed) | 1)
    }

    /// A number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Spreads the bits of a number.
pub fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
