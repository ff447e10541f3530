//! State divided into buckets: all of them together find what one state finds.

use penstock_joins::bucket::Bucket;
use penstock_joins::joins::{Joins, Options};
use penstock_joins::plan::StreamId;
use penstock_joins::program::Row;
use penstock_joins::record::Part;
use penstock_joins::results::Results;
use penstock_joins::segment::{Segment, merge};
use penstock_joins::writer::Writer;
use penstock_kernel::plan::SubscriptionId;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

const NONE: u32 = u32::MAX;
const VARIABLES: u32 = 4;
/// Variables of partial matches: the match and two kept nodes.
const PARTIAL: [u32; 3] = [4, 5, 6];

/// `kind, window, left variables, right variables, joins, kept, output`, flat trees.
fn row(
    kind: u32,
    window: u32,
    sides: [&[u32]; 2],
    joins: &[u32],
    kept: &[u32],
    out: &[u32],
) -> Vec<u32> {
    let mut words = vec![kind, 0, window, 0];
    for side in sides {
        words.push(side.len() as u32);
        words.extend(side);
        words.extend(side.iter().map(|_| NONE));
    }
    words.push(joins.len() as u32 / 2);
    words.extend(joins);
    words.push(0);
    words.push(kept.len() as u32);
    words.extend(kept);
    words.push(out.len() as u32);
    words.extend(out);
    words
}

fn read(words: &[u32]) -> Row {
    Row::read(words, VARIABLES as usize + 3, 1).expect("a row")
}

/// Rows of all kinds: a join on two pairs, one on one of them, absences, a chain, and a block.
fn joins() -> Joins {
    joins_with(Options::default())
}

fn joins_with(options: Options) -> Joins {
    let mut joins = Joins::new(options);
    for variable in 0..VARIABLES + 3 {
        joins.admit_variable(variable, StreamId(0));
    }
    let rows = [
        (
            0,
            row(0, 5, [&[0, 1], &[2, 3]], &[0, 0, 1, 1], &[0, 2], &[]),
        ),
        (1, row(1, 4, [&[1], &[2]], &[0, 0], &[0, 1], &[])),
        (2, row(2, 3, [&[0, 1], &[3]], &[0, 0], &[1], &[])),
        (3, row(1, 6, [&[0], &[2]], &[0, 0], &[0, 1], &PARTIAL)),
        (3, row(1, 6, [&[4, 5, 6], &[3]], &[1, 0], &[1, 2, 3], &[])),
        (4, row(2, 3, [&[0], &[3]], &[0, 0], &[0], &PARTIAL[..2])),
        (4, row(2, 3, [&[4, 5], &[1]], &[1, 0], &[1], &[])),
    ];
    for (subscription, words) in rows {
        joins.add(SubscriptionId(subscription), 0, read(&words));
    }
    let alone = [4, 0, 0, 0, 1, 3, NONE, 0, 0, 0, 1, 0, 0];
    joins.add(SubscriptionId(5), 0, read(&alone));
    joins
}

/// A document: for each variable the values of its nodes, as numbers.
type Values = Vec<Vec<u8>>;

fn record(number: u64, time: i64, values: &Values, hash_bits: u32) -> Vec<u32> {
    record_of(number, &number.to_string(), time, values, hash_bits)
}

fn record_of(number: u64, id: &str, time: i64, values: &Values, hash_bits: u32) -> Vec<u32> {
    let mut writer = Writer::new(time, 0);
    writer.truncate_hashes(hash_bits);
    let part = writer.part(&Part {
        number,
        time,
        id: id.as_bytes(),
    });
    for (variable, values) in values.iter().enumerate() {
        for (place, value) in values.iter().enumerate() {
            let span = (10 * variable as u32 + place as u32, 99);
            let node = writer.node(part, span, Some(&[*value]), Some(b"<a/>"));
            writer.bind(variable as u32, node);
        }
    }
    writer.finish()
}

type Found = (u32, i64, Vec<Vec<u8>>, Vec<(u32, u32)>);

fn found(results: &Results) -> impl Iterator<Item = Found> + '_ {
    results.rows.iter().map(|&(subscription, event)| {
        let ids = results.parts(event).iter();
        let ids = ids.map(|&part| results.documents[part as usize].2.clone());
        let nodes = results.nodes(event).iter();
        let nodes = nodes.map(|node| (node.part, node.span.0)).collect();
        (subscription.0, results.time(event), ids.collect(), nodes)
    })
}

/// What one state finds, with how often.
fn whole(records: &[Vec<u32>]) -> Vec<Found> {
    let mut all = in_order(&mut joins(), records, usize::MAX);
    all.sort();
    all
}

/// What one state finds, in order, none of its batches larger than it may be.
fn in_order(joins: &mut Joins, records: &[Vec<u32>], rows_max: usize) -> Vec<Found> {
    let mut all = Vec::new();
    let mut take = |joins: &mut Joins| {
        while joins.has_results() {
            let results = joins.take_results().expect("no bound");
            assert!(results.rows.len() <= rows_max);
            all.extend(found(&results));
        }
    };
    for words in records {
        assert_eq!(joins.push(words.as_slice()), Ok(true));
        take(joins);
        if joins.is_over_memory() {
            joins.seal();
        }
    }
    joins.finish();
    while joins.release().expect("no bound") {
        take(joins);
    }
    all
}

/// The state of all buckets, and what came out of them.
struct Buckets {
    joins: Joins,
    segments: Vec<Vec<Vec<u32>>>,
    found: Vec<Found>,
}

impl Buckets {
    fn new(count: usize, ranks: &[(u32, u32)]) -> Buckets {
        let mut joins = joins();
        joins.pin(ranks);
        Buckets {
            joins,
            segments: vec![Vec::new(); count],
            found: Vec::new(),
        }
    }

    fn enter(&mut self, bucket: usize) {
        let count = self.segments.len() as u32;
        self.joins
            .enter(Bucket::new(bucket as u32, count).expect("a bucket"));
        for (number, segment) in self.segments[bucket].iter().enumerate() {
            let segment: Box<[u32]> = segment.clone().into();
            let (start, length) = (segment.as_ptr(), segment.len());
            // SAFETY: the box keeps the words where they are.
            let is_run = unsafe {
                self.joins
                    .attach(number as u32, start, length, Box::new(segment))
            };
            assert!(is_run);
        }
    }

    /// Joins records and all partial matches made of them, round after round.
    fn join(&mut self, records: Vec<Vec<u32>>) {
        let mut records = records;
        while !records.is_empty() {
            let mut partials = Vec::new();
            for bucket in 0..self.segments.len() {
                self.enter(bucket);
                let mut seen = HashSet::new();
                for words in &records {
                    let buckets = self.joins.route(words, self.segments.len() as u32);
                    if buckets.expect("a record").contains(&(bucket as u32)) && seen.insert(words) {
                        self.joins.push(words.as_slice()).expect("no bound");
                    }
                }
                self.found
                    .extend(found(&self.joins.take_results().expect("no bound")));
                partials.extend(self.joins.take_partials().into_iter().map(Vec::from));
                self.segments[bucket].extend(self.joins.write_segment());
                assert!(!self.joins.is_damaged());
            }
            records = partials;
        }
    }

    fn release(&mut self) {
        for depth in 1..=self.joins.depth() {
            let mut partials = Vec::new();
            for bucket in 0..self.segments.len() {
                self.enter(bucket);
                for segment in 0..self.segments[bucket].len() as u32 {
                    self.joins
                        .release_segment(segment, i64::MIN, i64::MAX, depth)
                        .expect("no bound");
                }
                self.found
                    .extend(found(&self.joins.take_results().expect("no bound")));
                partials.extend(self.joins.take_partials().into_iter().map(Vec::from));
            }
            self.join(partials);
        }
    }

    fn merge(&mut self) {
        for segments in &mut self.segments {
            let opened: Vec<(Segment, i64)> = segments
                .drain(..)
                .map(|words| (Segment::of_words(words).expect("a segment"), i64::MIN))
                .collect();
            let merged = merge(&opened, i64::MIN).expect("whole segments");
            segments.extend((!merged.is_empty()).then_some(merged));
        }
    }
}

fn values() -> impl Strategy<Value = Values> {
    let nodes = prop::collection::vec(0u8..5, 0..3);
    prop::collection::vec(nodes, VARIABLES as usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn buckets_together_find_what_one_state_finds(
        documents in prop::collection::vec((0i64..12, values()), 1..14),
        count in 1usize..6,
        batch in 1usize..5,
        is_merging in any::<bool>(),
        hash_bits in prop::sample::select(vec![1u32, 2, 64]),
        is_turned in any::<bool>(),
    ) {
        let numbered = documents.iter().enumerate();
        let records: Vec<Vec<u32>> = numbered
            .map(|(number, (time, values))| record(number as u64, *time, values, hash_bits))
            .collect();
        let mut ranks = joins().ranked();
        if is_turned {
            ranks.reverse();
        }
        let mut buckets = Buckets::new(count, &ranks);
        for records in records.chunks(batch) {
            for words in records {
                prop_assert_eq!(buckets.joins.report_alone(words.as_slice()), Ok(true));
            }
            buckets.found.extend(found(&buckets.joins.take_results().expect("no bound")));
            buckets.join(records.to_vec());
            if is_merging {
                buckets.merge();
            }
        }
        buckets.release();
        // What several partial matches or bindings lead to may come from several buckets.
        let (mut once, mut several) = (Vec::new(), BTreeSet::new());
        for found in buckets.found {
            if matches!(found.0, 0 | 1 | 5) {
                once.push(found);
            } else {
                several.insert(found);
            }
        }
        once.extend(several);
        once.sort();
        prop_assert_eq!(once, whole(&records));
    }

    #[test]
    fn batches_of_any_size_give_the_same_rows_in_the_same_order(
        documents in prop::collection::vec((0i64..6, 0u64..8, values()), 1..14),
        rows_max in 1usize..4,
        state_bytes_max in prop::sample::select(vec![1usize, 2000, 1 << 30]),
        hash_bits in prop::sample::select(vec![1u32, 64]),
    ) {
        let numbered = documents.iter().enumerate();
        // Ids may be those of other documents: then events are told apart by their places.
        let records: Vec<Vec<u32>> = numbered
            .map(|(number, (time, id, values))| {
                let id = id.to_string();
                record_of(number as u64, &id, *time, values, hash_bits)
            })
            .collect();
        let want = in_order(&mut joins(), &records, usize::MAX);
        let options = Options {
            batch_rows_max: rows_max,
            state_bytes_max,
            ..Options::default()
        };
        prop_assert_eq!(in_order(&mut joins_with(options), &records, rows_max), want);
    }

    #[test]
    fn damaged_segments_are_noticed_or_read(
        at in 0usize..400,
        word in any::<u32>(),
    ) {
        let mut buckets = Buckets::new(1, &[]);
        let all = vec![vec![1, 2], vec![1], vec![2], vec![1]];
        buckets.join((0..4).map(|number| record(number, number as i64, &all, 64)).collect());
        let segment = &mut buckets.segments[0][0];
        let length = segment.len();
        segment[at % length] = word;
        let damaged = segment.clone();
        if let Some(segment) = Segment::of_words(damaged) {
            let _ = merge(&[(segment, i64::MIN)], 0);
            buckets.joins.enter(Bucket::WHOLE);
            buckets.segments[0].truncate(1);
            buckets.enter(0);
            buckets.joins.push(record(9, 5, &all, 64)).expect("no bound");
            let joins = &mut buckets.joins;
            joins
                .release_segment(0, i64::MIN, i64::MAX, 1)
                .expect("no bound");
            buckets.joins.take_results().expect("no bound");
        }
    }
}
