//! The most memory that a join holds at any moment, while bindings arrive and during clean-up.

mod progressive_support;

use penstock_joins::progressive::{Options, PageFault, PageId, Pages, Progressive};
use penstock_kernel::ledger::{Counting, thread_bytes};
use progressive_support::{Case, Random, ledger};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    /// The most bytes at any moment, without those of pages.
    static MOST: Cell<i64> = const { Cell::new(0) };
    /// Bytes of pages, which a file has in real life.
    static PAGES: Cell<i64> = const { Cell::new(0) };
    static IS_OF_PAGES: Cell<bool> = const { Cell::new(false) };
}

/// The counting allocator; after each allocation it notes how much there is.
struct Peaking;

fn note() {
    if !IS_OF_PAGES.get() {
        MOST.set(MOST.get().max(thread_bytes() - PAGES.get()));
    }
}

// SAFETY: the counting allocator does it all.
unsafe impl GlobalAlloc for Peaking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { Counting.alloc(layout) };
        note();
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { Counting.alloc_zeroed(layout) };
        note();
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { Counting.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        let block = unsafe { Counting.realloc(block, layout, size) };
        note();
        block
    }
}

#[global_allocator]
static PEAKING: Peaking = Peaking;

/// Pages whose bytes are not counted.
#[derive(Default)]
struct OutsidePages {
    pages: BTreeMap<u64, Vec<u8>>,
    next: u64,
}

fn outside<T>(work: impl FnOnce() -> T) -> T {
    let before = thread_bytes();
    IS_OF_PAGES.set(true);
    let done = work();
    IS_OF_PAGES.set(false);
    PAGES.set(PAGES.get() + thread_bytes() - before);
    done
}

impl Pages for OutsidePages {
    fn write(&mut self, page: &[u8]) -> Result<PageId, PageFault> {
        self.next += 1;
        outside(|| self.pages.insert(self.next, page.to_vec()));
        Ok(PageId(self.next))
    }

    fn read(&mut self, page: PageId) -> Result<Vec<u8>, PageFault> {
        let page = self.pages.get(&page.0).cloned();
        page.ok_or_else(|| PageFault("lost".to_owned()))
    }

    fn remove(&mut self, page: PageId) {
        outside(|| self.pages.remove(&page.0));
    }
}

/// The most memory in use while bindings arrive and during clean-up, as shares of the budget.
fn peaks(case: &Case, options: Options, is_settled: bool) -> (f64, f64) {
    let budget = options.state_bytes_max as f64;
    let mut pages = OutsidePages::default();
    PAGES.set(0);
    let before = thread_bytes();
    let mut join = Progressive::new(case.graph(), options, ledger());
    MOST.set(0);
    let half = case.bindings.len() / 2;
    let mut cleaning = 0;
    for (at, binding) in case.bindings.iter().enumerate() {
        case.push(&mut join, binding, &mut pages).expect("room");
        while join.has_results() {
            join.take(20, &mut pages).expect("no bound");
        }
        if is_settled && at == half {
            let arriving = MOST.replace(0);
            join.settle(&mut pages).expect("room");
            while join.has_results() {
                join.take(20, &mut pages).expect("no bound");
            }
            cleaning = MOST.replace(arriving);
        }
    }
    let arriving = MOST.replace(cleaning);
    join.finish(&mut pages).expect("room");
    while join.has_results() {
        join.take(20, &mut pages).expect("no bound");
    }
    let cleaned = join.statistics().cleaned;
    assert!(cleaned > 100, "clean-up found {cleaned}");
    let share = |most: i64| (most - before) as f64 / budget;
    (share(arriving), share(MOST.get()))
}

#[test]
fn the_heap_never_passes_the_budget_by_more_than_five_percent() {
    let random = || Random(3);
    let cases = [
        ("two streams", Case::frequent(50_000, 50_000, &mut random())),
        ("few values", Case::frequent(50_000, 2_000, &mut random())),
        ("a star", Case::star(4, 50_000, 20_000, &mut random())),
        ("a chain", Case::chain(4, 50_000, 20_000, &mut random())),
    ];
    for (name, case) in cases {
        for is_settled in [true, false] {
            let options = Options {
                partitions: 64,
                state_bytes_max: case.everything_bytes() / 10,
                ..Options::default()
            };
            // In less than this, what does not depend on the budget is more than its share.
            assert!(options.state_bytes_max > 750_000);
            let (arriving, cleaning) = peaks(&case, options, is_settled);
            assert!(
                (0.8..1.05).contains(&arriving),
                "{name}: {arriving} of the budget while bindings arrive"
            );
            assert!(
                (0.4..1.05).contains(&cleaning),
                "{name}: {cleaning} of the budget in clean-up"
            );
        }
    }
}
