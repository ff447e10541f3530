//! Numbers of seven bits to a byte, the lowest first.

/// Appends a number.
pub fn write(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7F {
        out.push(number as u8 & 0x7F | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes numbers and bytes from the front of a buffer; None where it ends too early.
pub struct Reader<'a> {
    /// What is left.
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The next number, if it is one of at most 64 bits in its shortest form.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for (place, &byte) in self.rest.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7F) << (7 * place);
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || place == 0;
                let fits = place < 9 || byte == 1;
                self.rest = &self.rest[place + 1..];
                return (is_shortest && fits).then_some(number);
            }
        }
        None
    }

    /// The next bytes.
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A number of bytes, and these.
    pub fn counted_bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.bytes(length)
    }

    /// The next four bytes as a number, the lowest first.
    pub fn word(&mut self) -> Option<u32> {
        let bytes = self.bytes(4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_read_as_it_was_written(number: u64) {
            let mut out = Vec::new();
            write(number, &mut out);
            let mut reader = Reader { rest: &out };
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert!(reader.rest.is_empty());
        }
    }

    #[test]
    fn a_number_has_one_form() {
        assert_eq!(Reader { rest: &[0x80, 0] }.number(), None);
        assert_eq!(Reader { rest: &[0xFF; 10] }.number(), None);
        assert_eq!(Reader { rest: &[0x80] }.number(), None);
    }
}
