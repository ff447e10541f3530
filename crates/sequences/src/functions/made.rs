//! Values that functions make of their arguments, and that may be much larger than these.

use super::{Values, string};
use crate::atomic::Atomic;
use crate::error::Result;

/// So many bytes are made in one step of work.
const BYTES_OF_STEP: usize = 32;
/// So many bytes are made before the meter hears of them.
const BYTES_AT_ONCE: usize = 4 << 10;
/// So many values are made before the meter hears of them.
const VALUES_AT_ONCE: usize = 256;

/// A text that is made, whose growth is metered.
pub(super) struct Made<'m> {
    pub text: String,
    /// So long it was when the meter heard of it last.
    metered: usize,
    meter: &'m mut dyn FnMut(u64),
}

impl<'m> Made<'m> {
    /// No text yet.
    pub fn new(meter: &'m mut dyn FnMut(u64)) -> Self {
        Made {
            text: String::new(),
            metered: 0,
            meter,
        }
    }

    /// The same meter, for other work.
    pub fn meter(&mut self) -> &mut dyn FnMut(u64) {
        self.meter
    }

    /// Adds a text.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
        self.look();
    }

    /// Adds a value as text.
    pub fn push_value(&mut self, value: &Atomic) {
        value.write_text(&mut self.text);
        self.look();
    }

    /// Adds characters.
    pub fn extend(&mut self, characters: impl Iterator<Item = char>) {
        for character in characters {
            self.text.push(character);
            self.look();
        }
    }

    #[inline]
    fn look(&mut self) {
        if self.text.len() >= self.metered + BYTES_AT_ONCE {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let fresh = self.text.len() - self.metered;
        self.metered = self.text.len();
        (self.meter)(fresh.div_ceil(BYTES_OF_STEP) as u64);
    }

    /// The text as the value of a function.
    pub fn finish(mut self) -> Result<Values> {
        self.settle();
        string(self.text)
    }
}

/// The characters as the value of a function.
pub(super) fn characters(
    characters: impl Iterator<Item = char>,
    meter: &mut dyn FnMut(u64),
) -> Result<Values> {
    let mut made = Made::new(meter);
    made.extend(characters);
    made.finish()
}

/// The values as the value of a function.
pub(super) fn values(
    made: impl Iterator<Item = Atomic>,
    meter: &mut dyn FnMut(u64),
) -> Result<Values> {
    let mut values = Values::new();
    for value in made {
        values.push(value);
        if values.len() % VALUES_AT_ONCE == 0 {
            meter(VALUES_AT_ONCE as u64);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_hears_of_a_text_while_it_grows() {
        let mut heard = Vec::new();
        let mut meter = |steps| heard.push(steps);
        let mut made = Made::new(&mut meter);
        made.extend(std::iter::repeat_n('x', 3 * BYTES_AT_ONCE + 1));
        made.finish().unwrap();
        let most = (BYTES_AT_ONCE / BYTES_OF_STEP) as u64;
        assert_eq!(heard, [most, most, most, 1]);
    }

    #[test]
    fn the_meter_hears_of_values_while_there_are_more() {
        let mut steps = 0;
        let numbers = (0..10 * VALUES_AT_ONCE as i64).map(Atomic::Integer);
        let made = values(numbers, &mut |more| steps += more).unwrap();
        assert_eq!(made.len() as u64, steps);
    }
}
