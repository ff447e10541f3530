//! The machine's stack, which grows where it is needed.
//!
//! Expressions are evaluated by calls inside each other, and the stack of a thread may be as small
//! as 64 KiB. Where little of it is left, calls go on on a piece of their own (`stacker`). So what
//! a query may do does not depend on the thread that it runs in.

use std::cell::Cell;

/// So much is left where expressions without calls of functions are evaluated: what they take is
/// bounded by how deeply queries nest.
const LEFT_BYTES: usize = 512 << 10;
/// A piece; only pages that are touched take memory. A thousand calls fit in, so that no loop makes
/// a piece for each call.
const PIECE_BYTES: usize = 16 << 20;

thread_local! {
    static PIECES: Cell<usize> = const { Cell::new(0) };
}

/// Bytes of the pieces that calls of this thread are on.
#[inline]
pub fn thread_bytes() -> usize {
    PIECES.with(Cell::get) * PIECE_BYTES
}

/// Whether a call of this thread is on a piece.
pub fn is_on_piece() -> bool {
    thread_bytes() > 0
}

/// Does something that takes less of the stack than is always left, on a piece of its own if the
/// thread has less.
#[inline]
pub fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    match stacker::remaining_stack() {
        Some(left) if left >= LEFT_BYTES => work(),
        _ => on_piece(work),
    }
}

#[cold]
#[inline(never)]
fn on_piece<T>(work: impl FnOnce() -> T) -> T {
    let _counted = Counted::new();
    stacker::grow(PIECE_BYTES, work)
}

/// A piece that counts until it is dropped, also by a panic.
struct Counted;

impl Counted {
    fn new() -> Self {
        PIECES.with(|pieces| pieces.set(pieces.get() + 1));
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        PIECES.with(|pieces| pieces.set(pieces.get() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    fn depth(count: usize) -> usize {
        let here = std::hint::black_box([0_u8; 4096]);
        with_stack(|| match count {
            0 => usize::from(here[0]),
            count => 1 + depth(count - 1),
        })
    }

    fn in_small_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let builder = thread::Builder::new().stack_size(64 << 10);
        builder.spawn(work).unwrap().join().unwrap()
    }

    #[test]
    fn calls_go_on_where_the_stack_of_a_thread_ends() {
        assert_eq!(in_small_thread(|| depth(10_000)), 10_000);
    }

    #[test]
    fn pieces_count_until_their_calls_return_or_unwind() {
        let (inside, after) = in_small_thread(|| {
            let inside = with_stack(thread_bytes);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                with_stack(|| std::panic::resume_unwind(Box::new("stopped")))
            }));
            assert!(unwound.is_err());
            (inside, thread_bytes())
        });
        assert_eq!((inside, after), (PIECE_BYTES, 0));
    }
}
