//! The decoded input that open results still need.

use crate::events::Span;

/// The current block, borrowed from the feeder, and a kept tail of the blocks before it.
pub struct Source {
    tail: Vec<u8>,
    tail_start: u64,
    block: *const u8,
    block_length: usize,
    block_start: u64,
    /// The input starts here.
    origin: u64,
}

// SAFETY: the pointer is only set between `enter` and `leave`, within one call of the feeder, so
// it never crosses to another thread while set.
unsafe impl Send for Source {}

impl Source {
    pub fn new() -> Self {
        Source {
            tail: Vec::new(),
            tail_start: 0,
            block: std::ptr::null(),
            block_length: 0,
            block_start: 0,
            origin: 0,
        }
    }

    /// The first block will begin at `offset`.
    pub fn begin_at(&mut self, offset: u64) {
        (self.tail_start, self.block_start, self.origin) = (offset, offset, offset);
    }

    /// A block becomes current. The feeder keeps it alive and unchanged until `leave`.
    pub fn enter(&mut self, block: &[u8], start: u64) {
        self.block = block.as_ptr();
        self.block_length = block.len();
        self.block_start = start;
    }

    fn block(&self) -> &[u8] {
        if self.block.is_null() {
            return &[];
        }
        // SAFETY: `enter` set the pointer from a live slice and `leave` clears it before the
        // slice goes away.
        unsafe { std::slice::from_raw_parts(self.block, self.block_length) }
    }

    /// The current block goes away; bytes from `keep_from` on are kept.
    pub fn leave(&mut self, keep_from: u64) {
        let end = self.end();
        let keep_from = keep_from.max(self.origin);
        if keep_from < end {
            self.keep(keep_from);
        } else {
            self.tail.clear();
        }
        if self.tail.is_empty() {
            self.tail_start = end;
        }
        (self.block, self.block_length, self.block_start) = (std::ptr::null(), 0, end);
    }

    fn keep(&mut self, from: u64) {
        let mut tail = std::mem::take(&mut self.tail);
        if from >= self.block_start {
            tail.clear();
            tail.extend_from_slice(&self.block()[(from - self.block_start) as usize..]);
        } else {
            let drop = (from - self.tail_start) as usize;
            // Moving the tail costs its length, so do it only when that halves it.
            if drop * 2 > tail.len() {
                tail.drain(..drop);
                self.tail_start = from;
            }
            tail.extend_from_slice(self.block());
            self.tail = tail;
            return;
        }
        self.tail_start = from;
        self.tail = tail;
    }

    /// Appends the bytes of a span to `out`.
    pub fn copy(&self, span: Span, out: &mut Vec<u8>) {
        if span.start < self.block_start {
            let from = (span.start - self.tail_start) as usize;
            let to = (span.end.min(self.block_start) - self.tail_start) as usize;
            out.extend_from_slice(&self.tail[from..to]);
        }
        if span.end > self.block_start {
            let from = span.start.max(self.block_start) - self.block_start;
            out.extend_from_slice(
                &self.block()[from as usize..(span.end - self.block_start) as usize],
            );
        }
    }

    /// How far the input goes.
    pub fn end(&self) -> u64 {
        self.block_start + self.block_length as u64
    }

    /// Bytes kept beside the current block.
    pub fn kept(&self) -> usize {
        self.tail.len()
    }

    pub fn clear(&mut self) {
        *self = Source {
            tail: std::mem::take(&mut self.tail),
            ..Source::new()
        };
        self.tail.clear();
    }
}
