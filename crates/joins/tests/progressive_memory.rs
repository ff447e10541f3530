//! What the progressive join counts as memory is what the allocator gave it.

mod progressive_support;

use penstock_joins::progressive::{
    Attribute, Equality, GraphFault, JoinGraph, Options, Progressive, StreamId,
};
use penstock_kernel::ledger::{Counting, thread_bytes};
use progressive_support::{Case, MemoryPages, Random, ledger};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn the_heap_stays_within_five_percent_of_the_budget() {
    for partitions in [1, 64, 1024] {
        let mut random = Random(3);
        let case = Case::large(6000, &mut random);
        let budget = case.everything_bytes() / 5;
        let options = Options {
            partitions,
            state_bytes_max: budget,
            ..Options::default()
        };
        let mut pages = MemoryPages::default();
        let before = thread_bytes();
        let mut join = Progressive::new(case.graph(), options, ledger());
        let mut most = 0;
        for binding in &case.bindings {
            case.push(&mut join, binding, &mut pages).expect("room");
            while join.has_results() {
                join.take(100, &mut pages).expect("no bound");
            }
            // The pages of this test are in memory, which a file is not.
            most = most.max(thread_bytes() - before - pages.heap_bytes());
        }
        assert!(join.statistics().flushes > 3);
        let share = most as f64 / budget as f64;
        assert!(
            (0.8..1.05).contains(&share),
            "{partitions} partitions: {share} of the budget"
        );
    }
}

#[test]
fn a_cross_product_is_refused_with_a_way_out() {
    let side = |stream| Attribute {
        stream: StreamId(stream),
        number: 0,
    };
    let join = Equality {
        left: side(0),
        right: side(2),
    };
    let fault = JoinGraph::new(vec![1, 1, 1], &[join], Vec::new(), None).err();
    assert_eq!(fault, Some(GraphFault::CrossProduct(StreamId(1))));
    let text = fault.map(|fault| fault.to_string()).unwrap_or_default();
    assert!(text.contains("add an equality"), "{text}");
    let alone = JoinGraph::new(vec![1], &[], Vec::new(), None).err();
    assert_eq!(alone, Some(GraphFault::StreamCount(1)));
    let own = Equality {
        left: side(0),
        right: side(0),
    };
    let own = JoinGraph::new(vec![1, 1], &[own], Vec::new(), None).err();
    assert_eq!(own, Some(GraphFault::OneStream(StreamId(0))));
}
