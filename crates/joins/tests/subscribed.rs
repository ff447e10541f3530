//! Subscriptions come as programs and go again: numbers are used again, and nothing is left.

use penstock_joins::joins::Options;
use penstock_joins::subscribed::Subscribed;
use penstock_kernel::plan::SubscriptionId;
use proptest::prelude::*;

/// A program of variables of one stream and of rows that join two of them by value. No document
/// has them: their paths are empty.
fn program(keys: &[&str], joins: &[(u8, u8, u8)]) -> Vec<u8> {
    let mut bytes = b"PSP3\x01\0\0".to_vec();
    bytes.push(keys.len() as u8);
    for key in keys {
        bytes.extend([1, 1, b'S', key.len() as u8]);
        bytes.extend(key.bytes());
        bytes.extend([0, 1]);
    }
    // No edges; one template.
    bytes.extend([0, 1, 0, joins.len() as u8]);
    for &(kind, left, right) in joins {
        let none = [0xff, 0xff, 0xff, 0xff, 0x0f];
        let mut words = vec![kind, 0, 9, 0, 1, left];
        words.extend(none);
        words.extend([1, right]);
        words.extend(none);
        words.extend([1, 0, 0, 0, 1, 0, 0]);
        // Two of the words take five bytes.
        bytes.push(words.len() as u8 - 8);
        bytes.extend(words);
    }
    bytes
}

fn counted(subscribed: &mut Subscribed) -> (usize, usize, usize, usize, usize) {
    let sizes = subscribed.joins.sizes();
    let variables = subscribed.variable_count();
    (
        sizes.rows,
        sizes.shapes,
        sizes.pairs,
        sizes.nodes,
        variables,
    )
}

#[test]
fn equal_variables_are_one_variable_until_the_last_who_asks_is_gone() {
    let mut subscribed = Subscribed::new(Options::default());
    subscribed
        .add(SubscriptionId(0), 0, &program(&["a", "b"], &[(0, 0, 1)]))
        .expect("a program");
    subscribed
        .add(SubscriptionId(1), 0, &program(&["b", "c"], &[(1, 0, 1)]))
        .expect("a program");
    let b = subscribed.variable(Some("S"), b"b");
    assert_eq!(counted(&mut subscribed), (2, 2, 2, 3, 3));
    subscribed.remove(SubscriptionId(0));
    assert_eq!(subscribed.variable(Some("S"), b"b"), b);
    assert_eq!(subscribed.variable(Some("S"), b"a"), None);
    subscribed.remove(SubscriptionId(1));
    assert_eq!(counted(&mut subscribed), (0, 0, 0, 1, 0));
    subscribed
        .add(SubscriptionId(2), 1, &program(&["d"], &[]))
        .expect("a program");
    assert!(
        subscribed
            .variable(Some("S"), b"d")
            .is_some_and(|number| number < 3)
    );
}

proptest! {
    #[test]
    fn what_is_removed_leaves_nothing_behind(
        queries in prop::collection::vec(
            prop::collection::vec((0u8..3, 0usize..5, 0usize..5), 1..4), 1..6),
        order in prop::collection::vec(0usize..6, 0..6),
    ) {
        let keys = ["a", "b", "c", "d", "e"];
        let mut subscribed = Subscribed::new(Options::default());
        let mut fresh = Subscribed::new(Options::default());
        let removed: Vec<usize> = order.iter().map(|at| at % queries.len()).collect();
        for (number, rows) in queries.iter().enumerate() {
            let rows: Vec<_> = rows.iter().map(|&(k, l, r)| (k, l as u8, r as u8)).collect();
            let bytes = program(&keys, &rows);
            subscribed.add(SubscriptionId(number as u32), 0, &bytes).expect("a program");
            if !removed.contains(&number) {
                fresh.add(SubscriptionId(number as u32), 0, &bytes).expect("a program");
            }
            if number % 2 == 0 {
                subscribed.joins.sizes();
            }
        }
        for number in removed {
            subscribed.remove(SubscriptionId(number as u32));
        }
        prop_assert_eq!(counted(&mut subscribed), counted(&mut fresh));
    }

    #[test]
    fn bytes_from_anywhere_are_added_or_refused(
        changes in prop::collection::vec((0usize..200, 0u8..=255), 0..4),
        cut in 0usize..100,
    ) {
        let mut bytes = program(&["a", "b"], &[(0, 0, 1), (2, 1, 0)]);
        let length = bytes.len();
        for (at, byte) in changes {
            bytes[at % length] = byte;
        }
        bytes.truncate(length.saturating_sub(cut / 2));
        let mut subscribed = Subscribed::new(Options::default());
        if subscribed.add(SubscriptionId(0), 0, &bytes).is_ok() {
            subscribed.remove(SubscriptionId(0));
        }
        prop_assert_eq!(counted(&mut subscribed), (0, 0, 0, 1, 0));
    }
}
