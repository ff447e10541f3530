//! What a document completes, costs and leaves behind has bounds.

use penstock_joins::joins::{Joins, Options};
use penstock_joins::plan::StreamId;
use penstock_joins::program::Row;
use penstock_joins::record::Part;
use penstock_joins::results::Results;
use penstock_joins::writer::Writer;
use penstock_kernel::ledger::{Counting, Ledger, Stop, thread_bytes};
use penstock_kernel::limits::Limits;
use penstock_kernel::plan::SubscriptionId;
use std::sync::Arc;

#[global_allocator]
static COUNTING: Counting = Counting;

const NONE: u32 = u32::MAX;

/// `left FOLLOWED BY right` where values are equal; both are kept, or go on as a partial match.
fn row(variables: [u32; 2], output: &[u32]) -> Row {
    let [left, right] = variables;
    let mut words = vec![
        1, 0, 100, 0, 1, left, NONE, 1, right, NONE, 1, 0, 0, 0, 2, 0, 1,
    ];
    words.push(output.len() as u32);
    words.extend(output);
    Row::read(&words, 8, 1).expect("a row")
}

fn joins_of(options: Options, ledger: Option<Arc<Ledger>>) -> Joins {
    let mut joins = match ledger {
        None => Joins::new(options),
        Some(ledger) => Joins::with_ledger(options, ledger),
    };
    for variable in 0..8 {
        joins.admit_variable(variable, StreamId(0));
    }
    joins
}

/// A document with so many nodes of one value, at one variable.
fn document(number: u64, variable: u32, count: u32, value: &[u8]) -> Vec<u32> {
    let time = number as i64;
    let id = number.to_string();
    let id = id.as_bytes();
    let mut writer = Writer::new(time, 0);
    let part = writer.part(&Part { number, time, id });
    for place in 0..count {
        let node = writer.node(part, (place, place + 1), Some(value), Some(b"1a\0<a/>"));
        writer.bind(variable, node);
    }
    writer.finish()
}

fn take_all(joins: &mut Joins, mut each: impl FnMut(&Results)) {
    while joins.has_results() {
        each(&joins.take_results().expect("no bound"));
    }
}

#[test]
fn the_pairs_of_two_documents_come_in_batches_and_memory_stays_small() {
    let options = Options {
        batch_rows_max: 1000,
        ..Options::default()
    };
    let mut joins = joins_of(options, None);
    joins.add(SubscriptionId(3), 0, row([0, 1], &[]));
    joins.push(document(1, 0, 500, b"x")).expect("no bound");
    let before = thread_bytes();
    joins.push(document(2, 1, 500, b"x")).expect("no bound");
    let (mut count, mut most, mut last) = (0, 0, None);
    take_all(&mut joins, |results| {
        assert!(results.rows.len() <= 1000);
        most = most.max(thread_bytes() - before);
        for &(_, event) in &results.rows {
            let places = results.nodes(event).iter().map(|node| node.span.0);
            let places: Vec<u32> = places.collect();
            assert!(last.replace(places.clone()) < Some(places), "in order");
            count += 1;
        }
    });
    assert_eq!(count, 250_000);
    assert!(most < 1 << 20, "{most} bytes were held");
}

#[test]
fn results_max_ends_the_results_of_one_subscription() {
    for batch_rows_max in [1, 7, 10_000] {
        let limits = Limits {
            results_max: 10,
            ..Limits::NONE
        };
        let options = Options {
            batch_rows_max,
            limits,
            ..Options::default()
        };
        let mut joins = joins_of(options, None);
        joins.add(SubscriptionId(3), 0, row([0, 1], &[]));
        joins.add(SubscriptionId(4), 0, row([2, 3], &[]));
        joins.push(document(1, 0, 20, b"x")).expect("no bound");
        joins.push(document(2, 2, 3, b"x")).expect("no bound");
        let mut writer = Writer::new(3, 0);
        let id = b"3";
        let (number, time) = (3, 3);
        let part = writer.part(&Part { number, time, id });
        for (variable, count) in [(1, 20), (3, 3)] {
            for place in 0..count {
                let node = writer.node(part, (place, place + 1), Some(b"x"), None);
                writer.bind(variable, node);
            }
        }
        joins.push(writer.finish()).expect("no bound");
        let mut rows = Vec::new();
        take_all(&mut joins, |results| {
            let passed = |at: usize| results.passed.contains(&(at as u32));
            let numbered = results.rows.iter().enumerate();
            rows.extend(numbered.map(|(at, row)| (row.0.0, passed(at))));
        });
        let mut want = vec![(3, false); 10];
        want.push((3, true));
        want.extend([(4, false); 9]);
        assert_eq!(rows, want, "in batches of {batch_rows_max}");
    }
}

/// A chain whose first stage has a partial match for each pair.
fn chain(limits: Limits) -> Joins {
    let options = Options {
        limits,
        ..Options::default()
    };
    let mut joins = joins_of(options, None);
    joins.add(SubscriptionId(3), 0, row([0, 1], &[4, 5, 6]));
    joins.add(SubscriptionId(3), 0, row([5, 2], &[]));
    joins
}

#[test]
fn a_document_that_passes_a_limit_leaves_nothing_behind() {
    type Bound = (&'static str, fn(&mut Limits));
    let bounds: [Bound; 2] = [
        ("memory_bytes_max", |limits| {
            limits.memory_bytes_max = 1 << 20
        }),
        ("steps_max", |limits| limits.steps_max = 1 << 16),
    ];
    for (name, bound) in bounds {
        let mut limits = Limits::NONE;
        bound(&mut limits);
        let mut joins = chain(limits);
        joins.push(document(1, 0, 300, b"x")).expect("few");
        let before = joins.sizes();
        let stopped = joins.push(document(2, 1, 300, b"x"));
        assert_eq!(stopped, Err(Stop::Limit(name)));
        assert_eq!((joins.sizes(), joins.has_results()), (before, false));
        joins.push(document(3, 1, 1, b"x")).expect("few");
        assert_eq!(joins.sizes().records, 302);
        joins.push(document(4, 2, 1, b"x")).expect("few");
        let mut count = 0;
        take_all(&mut joins, |results| count += results.rows.len());
        assert_eq!(count, 300, "what came before and after is joined");
    }
}

#[test]
fn whoever_interrupts_ends_what_is_joined_and_what_is_taken() {
    let ledger = Arc::new(Ledger::new(&Limits::NONE, None, None));
    let mut joins = joins_of(Options::default(), Some(ledger.clone()));
    joins.add(SubscriptionId(3), 0, row([0, 1], &[]));
    joins
        .push(document(1, 0, 2000, b"x"))
        .expect("nobody asked");
    ledger.interrupt();
    let stopped = joins.push(document(2, 1, 2000, b"x"));
    assert_eq!(stopped, Err(Stop::Interrupted));
    ledger.resume();
    joins
        .push(document(3, 1, 2000, b"x"))
        .expect("nobody asked");
    let first = joins.take_results().expect("nobody asked");
    assert!(!first.rows.is_empty() && joins.has_results());
    ledger.interrupt();
    assert_eq!(joins.take_results().err(), Some(Stop::Interrupted));
    assert!(!joins.has_results(), "the rest is gone");
    ledger.resume();
    joins.push(document(4, 1, 1, b"x")).expect("nobody asked");
    let results = joins.take_results().expect("nobody asked");
    assert_eq!(results.rows.len(), 2000);
}
