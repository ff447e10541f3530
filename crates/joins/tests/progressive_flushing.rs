//! What stays in memory when it is full.

mod progressive_support;

use penstock_joins::progressive::{Options, Progressive, StreamId};
use progressive_support::{Case, MemoryPages, Random, ledger};

/// Results of memory at half of the arrivals.
fn results(arrivals: &[(u8, usize)], state_bytes_max: usize) -> (u64, u64) {
    let options = Options {
        partitions: 64,
        state_bytes_max,
        ..Options::default()
    };
    let graph = Case::star(2, 0, 1, &mut Random(1)).graph();
    let mut join = Progressive::new(graph, options, ledger());
    let mut pages = MemoryPages::default();
    let mut half = 0;
    for (at, (stream, value)) in arrivals.iter().enumerate() {
        let value = value.to_string();
        let values = [vec![value.as_bytes()]];
        let fragment = [b'x'; 200];
        join.push(StreamId(*stream), 0, &values, &fragment, &mut pages)
            .expect("room");
        while join.has_results() {
            join.take(100, &mut pages).expect("no bound");
        }
        let later = &arrivals[at + 1..];
        if !later.iter().any(|(other, _)| other == stream) {
            join.end(StreamId(*stream));
        }
        if at + 1 == arrivals.len() / 2 {
            half = join.statistics().results;
        }
    }
    (half, join.statistics().memory_bytes)
}

#[test]
fn who_has_had_its_only_result_leaves_before_who_has_many() {
    // Orders of two customers of three, and customers, in turns until there are no more customers.
    let mut random = Random(4);
    let mut arrivals = Vec::new();
    for at in 0..4000 {
        arrivals.push((0, random.below(400) / 3 * 3 + random.below(2)));
        if at < 400 {
            arrivals.push((1, at));
        }
    }
    let (all, memory_bytes) = results(&arrivals, usize::MAX >> 1);
    let budget = memory_bytes as usize / 10;
    let (found, _) = results(&arrivals, budget);
    assert!(found * 2 > all, "{found} of {all}");
}
