//! Varints and strings, read forward.

use std::fmt;

/// Why bytes are not encoded expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCode(pub &'static str);

impl fmt::Display for BadCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not the code of a query: {}", self.0)
    }
}

impl std::error::Error for BadCode {}

/// Something that is read.
pub(super) type Read<T> = Result<T, BadCode>;

/// Reads varints and strings.
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Bytes { rest }
    }

    /// Sees to it that everything was read.
    pub fn end(&self) -> Read<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(BadCode("bytes follow its end"))
        }
    }

    pub fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(BadCode("it ends too early"))?;
        self.rest = rest;
        Ok(head)
    }

    pub fn text(&mut self) -> Read<&'a str> {
        let length = self.word()? as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| BadCode("a string is not UTF-8"))
    }

    pub fn word(&mut self) -> Read<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| BadCode("a number is too large"));
            }
        }
        Err(BadCode("a number is too long"))
    }

    pub fn below(&mut self, bound: usize) -> Read<u32> {
        let index = self.word()?;
        if (index as usize) < bound {
            Ok(index)
        } else {
            Err(BadCode("an index is out of range"))
        }
    }

    pub fn flag(&mut self) -> Read<bool> {
        Ok(self.below(2)? == 1)
    }

    /// None is 0, anything else is one more than the index.
    pub fn optional(&mut self, bound: usize) -> Read<Option<u32>> {
        Ok(self.below(bound + 1)?.checked_sub(1))
    }

    /// One of the values of a table.
    pub fn choice<T: Copy>(&mut self, table: &[T]) -> Read<T> {
        Ok(table[self.below(table.len())? as usize])
    }

    /// As many entries as the count before them says.
    pub fn many<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.word()? as usize;
        // A count is no reason to allocate: every entry takes at least a byte of what is left.
        if count > self.rest.len() {
            return Err(BadCode("a count is larger than what follows"));
        }
        (0..count).map(|_| read(self)).collect()
    }
}
