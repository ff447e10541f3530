//! Records, rows and segments from anywhere: read as they were written, or refused.

use penstock_joins::joins::{Joins, Options};
use penstock_joins::plan::StreamId;
use penstock_joins::program::Row;
use penstock_joins::record::{Part, Record};
use penstock_joins::writer::Writer;
use penstock_kernel::plan::SubscriptionId;
use proptest::prelude::*;

const FOLLOWED_BY: u32 = 1;
const NONE: u32 = u32::MAX;

/// A record of a document with one node for each variable, whose values are given.
fn record(number: u64, time: i64, values: &[&str]) -> Vec<u32> {
    let mut writer = Writer::new(time, 0);
    let id = number.to_string();
    let part = writer.part(&Part {
        number,
        time,
        id: id.as_bytes(),
    });
    for (variable, value) in values.iter().enumerate() {
        let node = writer.node(part, (0, 1), Some(value.as_bytes()), Some(b"<a/>"));
        writer.bind(variable as u32, node);
    }
    writer.finish()
}

/// `variable 0 FOLLOWED BY{0 = 1, window} variable 1`, which keeps both nodes.
fn row(window: u32) -> Vec<u32> {
    let sides = [1, 0, NONE, 1, 1, NONE];
    let mut words = vec![FOLLOWED_BY, 0, window, 0];
    words.extend(sides);
    words.extend([1, 0, 0, 0, 2, 0, 1, 0]);
    words
}

fn joins(options: Options) -> Joins {
    let mut joins = Joins::new(options);
    joins.admit_variable(0, StreamId(0));
    joins.admit_variable(1, StreamId(0));
    joins.add(
        SubscriptionId(7),
        0,
        Row::read(&row(10), 2, 1).expect("a row"),
    );
    joins
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let words = record(3, -5, &["x", "yy"]);
    let record = Record::check(&words).expect("a record");
    assert_eq!((record.time(), record.entry_count()), (-5, 2));
    let node = record.node(record.nodes_of(1).at(0));
    assert_eq!(
        (node.value, node.text),
        (Some(&b"yy"[..]), Some(&b"<a/>"[..]))
    );
    assert!(record.nodes_of(2).is_empty());
}

#[test]
fn equal_values_within_the_window_are_joined() {
    let mut joins = joins(Options::default());
    for (number, time, values) in [(1, 0, ["x", "u"]), (2, 10, ["v", "x"]), (3, 11, ["w", "x"])] {
        assert_eq!(joins.push(record(number, time, &values)), Ok(true));
    }
    let results = joins.take_results().expect("no bound");
    assert_eq!(results.rows, [(SubscriptionId(7), 0)]);
    assert_eq!(results.time(0), 10);
}

#[test]
fn a_sealed_segment_is_searched_where_it_is_attached() {
    let mut joins = joins(Options::default());
    joins.push(record(1, 0, &["x", "u"])).expect("no bound");
    let (number, segment) = joins.seal().expect("something to seal");
    let segment: Box<[u32]> = segment.into();
    let (start, length) = (segment.as_ptr(), segment.len());
    // SAFETY: the box keeps the words where they are.
    assert!(unsafe { joins.attach(number, start, length, Box::new(segment)) });
    joins.push(record(2, 1, &["v", "x"])).expect("no bound");
    let results = joins.take_results().expect("no bound");
    assert_eq!(results.rows, [(SubscriptionId(7), 0)]);
}

#[test]
fn a_segment_goes_when_its_last_record_may_go() {
    let mut joins = joins(Options {
        lateness: Some(0),
        ..Options::default()
    });
    joins.push(record(1, 0, &["x", "u"])).expect("no bound");
    joins.seal();
    for (number, time) in [(2, 10), (3, 11)] {
        assert!(joins.admit(time));
        joins
            .push(record(number, time, &["v", "w"]))
            .expect("no bound");
        assert_eq!(joins.take_dropped(), []);
    }
    assert!(joins.admit(12));
    assert_eq!(joins.take_dropped(), [0]);
}

#[test]
fn whatever_was_seen_makes_older_documents_late() {
    let mut joins = joins(Options {
        lateness: Some(5),
        ..Options::default()
    });
    assert!(joins.admit(10));
    joins.advance(20);
    assert!(!joins.admit(14));
    assert!(joins.admit(15));
}

proptest! {
    #[test]
    fn words_from_anywhere_are_joined_or_refused(
        changes in prop::collection::vec((0usize..80, any::<u32>()), 1..4)
    ) {
        let mut joins = joins(Options::default());
        joins.push(record(1, 0, &["x", "y"])).expect("no bound");
        let mut words = record(2, 1, &["y", "x"]);
        let length = words.len();
        for (at, word) in changes {
            words[at % length] = word;
        }
        joins.push(words).expect("no bound");
        joins.push(record(3, 2, &["x", "y"])).expect("no bound");
        joins.take_results().expect("no bound");
    }

    #[test]
    fn rows_from_anywhere_are_added_or_refused(
        changes in prop::collection::vec((0usize..20, 0u32..8), 1..4)
    ) {
        let mut joins = joins(Options::default());
        let mut words = row(10);
        let length = words.len();
        for (at, word) in changes {
            words[at % length] = word;
        }
        if let Ok(row) = Row::read(&words, 2, 1) {
            joins.add(SubscriptionId(8), 0, row);
        }
        for number in 0..3 {
            joins.push(record(number, number as i64, &["x", "x"])).expect("no bound");
        }
        while joins.release().expect("no bound") {}
        joins.take_results().expect("no bound");
    }

    #[test]
    fn segments_from_anywhere_are_attached_or_refused(at in 0usize..200, word in any::<u32>()) {
        let mut joins = joins(Options::default());
        joins.push(record(1, 0, &["x", "u"])).expect("no bound");
        let (number, mut segment) = joins.seal().expect("something to seal");
        let length = segment.len();
        segment[at % length] = word;
        let segment: Box<[u32]> = segment.into();
        let start = segment.as_ptr();
        // SAFETY: the box keeps the words where they are.
        unsafe { joins.attach(number, start, length, Box::new(segment)) };
        joins.push(record(2, 1, &["v", "x"])).expect("no bound");
        joins.take_results().expect("no bound");
    }
}
