//! Memory as the allocator sees it: exact, whoever asks for it, and nothing has to be counted by
//! hand.

use penstock_sequences::stack;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Constant and without a destructor, so that it can be used wherever memory is.
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated and not freed, and those of stacks that it is on beside its
/// own. What another thread frees for it, or it for
/// another one, is not told apart: only differences within one call mean something. It stays 0
/// unless the program uses `Counting`.
#[inline]
pub fn thread_bytes() -> i64 {
    BYTES.with(Cell::get) + stack::thread_bytes() as i64
}

/// The system's allocator, and a counter of bytes for each thread.
pub struct Counting;

/// Bytes that a block takes with what the system's allocator adds to it: a word, rounded up. Small
/// blocks may be half as large again.
#[inline]
fn cost(size: usize) -> i64 {
    const LEAST: usize = 32;
    ((size + 23) & !15).max(LEAST) as i64
}

#[inline]
fn count(bytes: i64) {
    BYTES.with(|counter| counter.set(counter.get().wrapping_add(bytes)));
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(cost(layout.size()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(cost(layout.size()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-cost(layout.size()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(cost(size) - cost(layout.size()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(block, layout, size) }
    }
}
