//! The bytes of a document that are not handed on yet.

/// The end of the input so far, from some offset on.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Those before it are gone.
    from: usize,
    base: u64,
    /// Line ends before `base`.
    line_ends: u64,
}

impl Held {
    pub fn extend(&mut self, piece: &[u8]) {
        // Moving what is left costs its length, so it is moved when it is the smaller part.
        if self.from * 2 >= self.bytes.len() {
            self.bytes.drain(..self.from);
            self.from = 0;
        }
        self.bytes.extend_from_slice(piece);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// The bytes from an offset on.
    pub fn after(&self, offset: u64) -> &[u8] {
        &self.bytes()[self.place(offset)..]
    }

    /// Where an offset lies in `bytes`.
    pub fn place(&self, offset: u64) -> usize {
        (offset.max(self.base) - self.base) as usize
    }

    /// The offset of the first byte.
    pub fn base(&self) -> u64 {
        self.base
    }

    pub fn line_ends(&self) -> u64 {
        self.line_ends
    }

    pub fn end(&self) -> u64 {
        self.base + self.bytes().len() as u64
    }

    /// Lets go of the bytes before an offset.
    pub fn release(&mut self, upto: u64) {
        let count = self.place(upto);
        let gone = &self.bytes[self.from..self.from + count];
        self.line_ends += line_ends(gone);
        self.from += count;
        self.base += count as u64;
    }
}

pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
