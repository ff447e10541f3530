//! Keeps the bytes of held candidates when the block that has them goes away.

use super::candidates::{Bytes, Pending};
use super::{Automaton, limit_error};
use crate::circuit::CandidateId;
use crate::error::DocumentError;
use crate::events::Span;
use std::rc::Rc;

/// Bytes of values that may wait to be taken when a block ends.
const ROW_BYTES_MAX: usize = 1 << 30;

impl Automaton {
    /// The first byte that an open candidate still needs.
    fn open_from(&self) -> Option<u64> {
        let open = self.frames.stack.iter().map(|frame| frame.candidate);
        let mut from: Option<u64> = None;
        for candidate in open.filter(|candidate| candidate.is_some()) {
            let candidate = &self.candidates[candidate];
            // Inner ones start later. All of them in each block would be a long way: with large
            // results inside each other, blocks have only some bytes.
            if from.is_some_and(|from| from <= candidate.start) {
                break;
            }
            if candidate.keeps_source() {
                let own = candidate.kept_from();
                from = Some(from.map_or(own, |from| from.min(own)));
            }
        }
        from
    }

    /// How many of the open elements, from the innermost on, may end before their results have so
    /// many bytes; None if all of them.
    pub fn ends_within(&self, bytes_max: u64) -> Option<usize> {
        let end = self.source.end();
        let mut bytes = 0;
        let innermost = self.frames.stack.iter().rev();
        let candidates = innermost.map(|frame| frame.candidate).enumerate();
        for (count, candidate) in candidates.filter(|(_, candidate)| candidate.is_some()) {
            let candidate = &self.candidates[candidate];
            if candidate.needs_bytes {
                let unsent = |item: &Pending| end.saturating_sub(item.sent.max(candidate.start));
                bytes += candidate.pending.iter().map(unsent).sum::<u64>();
            }
            if bytes > bytes_max {
                return Some(count);
            }
        }
        None
    }

    /// Fails when what is held at `offset` passes the limit. It depends on the document alone, not
    /// on blocks: closed candidates count whole, open ones from the first byte they need.
    #[inline]
    pub(super) fn check_held(&mut self, offset: u64) -> Result<(), DocumentError> {
        if offset <= self.unchecked_until {
            return Ok(());
        }
        self.check_held_now(offset)
    }

    #[cold]
    fn check_held_now(&mut self, offset: u64) -> Result<(), DocumentError> {
        let bound = self.limits.buffer_bytes_max;
        let room = bound.saturating_sub(self.closed_bytes);
        self.spend_depths(self.frames.stack.len());
        let from = self.open_from().unwrap_or(offset);
        self.unchecked_until = from + room;
        if self.closed_bytes > bound || offset > from + room {
            return Err(limit_error("buffer_bytes_max", bound, from + room));
        }
        Ok(())
    }

    /// A closed candidate is held, or let go.
    pub(super) fn count_closed(&mut self, candidate: CandidateId, is_held: bool) {
        let entry = &mut self.candidates[candidate];
        if entry.is_counted == is_held {
            return;
        }
        entry.is_counted = is_held;
        let bytes = entry.end - entry.start;
        if is_held {
            self.closed_bytes += bytes;
            self.unchecked_until = 0;
        } else {
            self.closed_bytes -= bytes;
        }
    }

    /// The current block goes away: closed candidates get copies, open ones keep a tail, and so
    /// does the markup from `unread` on, whose events are still to come.
    pub(super) fn leave_block(&mut self, unread: u64) -> Result<(), DocumentError> {
        if self.options.in_parts {
            self.write_parts(unread);
        }
        let open_from = self.open_from();
        self.copy_kept(open_from);
        self.source.leave(open_from.unwrap_or(unread).min(unread));
        // Columns count their bytes in 31 bits; far below that, somebody should take the rows.
        if self.rows.value.bytes.len() > ROW_BYTES_MAX {
            return Err(limit_error(
                "buffer_bytes_max",
                ROW_BYTES_MAX as u64,
                unread,
            ));
        }
        Ok(())
    }

    /// Copies the bytes of closed candidates that no open one keeps anyway. Nested candidates
    /// share one copy.
    fn copy_kept(&mut self, open_from: Option<u64>) {
        if self.kept.is_empty() {
            return;
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|&(id, order)| {
            self.candidates[id].order == order && self.candidates[id].keeps_source()
        });
        // In document order an outer candidate comes before the ones inside it.
        kept.sort_unstable_by_key(|&(_, order)| order);
        let mut last: Option<(Rc<[u8]>, Span)> = None;
        kept.retain(|&(id, _)| {
            let span = Span {
                start: self.candidates[id].start,
                end: self.candidates[id].end,
            };
            if open_from.is_some_and(|from| from <= span.start) {
                return true;
            }
            let shared = last
                .as_ref()
                .filter(|(_, outer)| outer.start <= span.start && span.end <= outer.end);
            let (bytes, outer) = shared.cloned().unwrap_or_else(|| {
                let mut bytes = Vec::with_capacity((span.end - span.start) as usize);
                self.source.copy(span, &mut bytes);
                (Rc::from(bytes), span)
            });
            self.candidates[id].bytes = Bytes::Copied(bytes.clone(), outer.start);
            last = Some((bytes, outer));
            false
        });
        self.kept = kept;
    }
}
