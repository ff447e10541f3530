//! Varints and bytes, read forward.

use std::fmt;

/// Why bytes are not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramError(pub &'static str);

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a program: {}", self.0)
    }
}

impl std::error::Error for ProgramError {}

/// Something that is read.
pub type Read<T> = Result<T, ProgramError>;

/// Reads varints and bytes, forward.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of bytes.
    pub fn new(rest: &'a [u8]) -> Reader<'a> {
        Reader { rest }
    }

    /// Sees to it that everything was read.
    pub fn end(&self) -> Read<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(ProgramError("bytes follow its end"))
        }
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.word()? as usize;
        self.take(length)
    }

    /// A string with its length before it.
    pub fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| ProgramError("a string is not UTF-8"))
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        if self.rest.len() < count {
            return Err(ProgramError("it ends too early"));
        }
        let (head, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(head)
    }

    /// A number.
    pub fn word(&mut self) -> Read<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| ProgramError("a number is too large"));
            }
        }
        Err(ProgramError("a number is too long"))
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> Read<u32> {
        let index = self.word()?;
        if (index as usize) < bound {
            Ok(index)
        } else {
            Err(ProgramError("an index is out of range"))
        }
    }

    /// How many entries follow.
    pub fn count(&mut self) -> Read<usize> {
        let count = self.word()? as usize;
        // A count is no reason to allocate: every entry takes at least a byte of what is left.
        if count > self.rest.len() {
            return Err(ProgramError("a count is larger than what follows"));
        }
        Ok(count)
    }

    /// As many entries as the count before them says.
    pub fn many<T>(&mut self, mut read: impl FnMut(&mut Self, usize) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|index| read(self, index)).collect()
    }
}
