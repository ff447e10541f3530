//! How many probes result-oriented probing needs: a star of streams with one value each.

mod progressive_support;

use penstock_joins::progressive::{Attribute, Equality, JoinGraph, Options, Progressive, StreamId};
use progressive_support::{MemoryPages, Random, ledger};

/// An arrival: stream and value.
type Arrival = (u8, usize);

/// All streams have the same value.
fn star(streams: u8) -> JoinGraph {
    let side = |stream| Attribute {
        stream: StreamId(stream),
        number: 0,
    };
    let pairs = (0..streams).flat_map(|right| (0..right).map(move |left| (left, right)));
    let equalities: Vec<Equality> = pairs
        .map(|(left, right)| Equality {
            left: side(left),
            right: side(right),
        })
        .collect();
    let attributes = vec![1; usize::from(streams)];
    JoinGraph::new(attributes, &equalities, Vec::new(), None).expect("a connected graph")
}

/// Probes of the arrivals after the first so many.
fn probes(arrivals: &[Arrival], warm: usize, options: Options) -> u64 {
    let streams = 1 + arrivals.iter().map(|arrival| arrival.0).max().unwrap_or(0);
    let mut join = Progressive::new(star(streams), options, ledger());
    let mut pages = MemoryPages::default();
    let mut before = 0;
    for (at, (stream, value)) in arrivals.iter().enumerate() {
        if at == warm {
            before = join.statistics().probes();
        }
        let texts = [[value.to_string()]];
        let values: Vec<Vec<&[u8]>> = texts
            .iter()
            .map(|list| list.iter().map(String::as_bytes).collect())
            .collect();
        let stream = StreamId(*stream);
        join.push(stream, 0, &values, b"<a/>", &mut pages)
            .expect("room");
        while join.has_results() {
            join.take(100, &mut pages).expect("no bound");
        }
    }
    join.statistics().probes() - before
}

fn options(partitions: u32) -> Options {
    Options {
        partitions,
        ..Options::default()
    }
}

/// Streams that hold some values, then arrivals of stream 0 with any of so many values.
fn prepared(
    holds: &[&dyn Fn(usize) -> bool],
    values: usize,
    asked: usize,
) -> (Vec<Arrival>, usize) {
    let mut arrivals = Vec::new();
    for (place, holds) in holds.iter().enumerate() {
        let held = (0..values).filter(|&value| holds(value));
        arrivals.extend(held.map(|value| (place as u8 + 1, value)));
    }
    let warm = arrivals.len();
    let mut random = Random(7);
    arrivals.extend((0..asked).map(|_| (0, random.below(values))));
    (arrivals, warm)
}

#[test]
fn the_stream_with_few_matches_is_probed_first() {
    let tenth = |value: usize| value.is_multiple_of(10);
    let (arrivals, warm) = prepared(&[&|_| true, &|_| true, &tenth], 400, 4000);
    // One partition tells nothing about a value.
    let rop = probes(&arrivals, warm, options(1));
    // One probe, and two more for a tenth of the arrivals; the rest is learning.
    let least = 4000 + 2 * 400;
    assert!((least - 200..least + 300).contains(&rop), "{rop} probes");
}

#[test]
fn small_partitions_tell_streams_with_equal_rates_apart() {
    let (odd, even) = (
        |value: usize| value % 2 == 1,
        |value: usize| value.is_multiple_of(2),
    );
    let (arrivals, warm) = prepared(&[&odd, &even], 200, 4000);
    let rates = probes(&arrivals, warm, options(1));
    let sizes = probes(&arrivals, warm, options(4096));
    // Half of the arrivals match whichever stream comes first.
    assert!((5800..6200).contains(&rates), "{rates} probes");
    assert!((4000..4500).contains(&sizes), "{sizes} probes");
}

#[test]
fn what_was_learnt_is_forgotten_when_rates_change() {
    let (low, high) = (|value: usize| value < 200, |value: usize| value >= 200);
    let (mut arrivals, warm) = prepared(&[&low, &high], 400, 0);
    let mut random = Random(8);
    // First stream 1 has no match, then stream 2 has none.
    arrivals.extend((0..2000).map(|_| (0, 200 + random.below(200))));
    arrivals.extend((0..2000).map(|_| (0, random.below(200))));
    let second = probes(&arrivals, warm + 2000, options(1));
    assert!((2000..2400).contains(&second), "{second} probes");
}
