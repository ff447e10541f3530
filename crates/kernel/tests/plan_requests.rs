//! Programs that request something else than rows are kept, and changes of them are found.

// Helpers of a test say what they expect by unwrapping it, as tests do.
#![allow(clippy::unwrap_used)]

use penstock_kernel::plan::{
    Builder, Place, Plan, Request, Requested, SubscriptionId, Tier, requests, requests_since,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The program of `/r`, which requests rows.
const ROWS: &[u8] = b"PSP3\0\x02\x01r\0\0\x01\x02\x01\x01\x01\x01\0\x01\0\0\x01\0\x01\x01\0\0\0";

/// A program that requests records; what it wants of them is nobody's business here.
fn records(number: u8) -> Vec<u8> {
    [b"PSP3\x01".as_slice(), &vec![number; number as usize % 7]].concat()
}

/// A plan in which every third program requests rows.
fn plan_of(first: u8, count: u8) -> Arc<Plan> {
    let mut builder = Builder::new();
    for number in 0..count {
        let name = first + number;
        let program = if name.is_multiple_of(3) {
            ROWS.to_vec()
        } else {
            records(name)
        };
        let place = Place(u64::from(name) << 30);
        builder
            .add(SubscriptionId(number.into()), place, &program)
            .unwrap();
    }
    Arc::new(builder.freeze())
}

fn without(tier: &Tier, numbers: &[u32]) -> Tier {
    let mut words = tier.removed.to_vec();
    for &number in numbers {
        let word = number as usize / 64;
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (number % 64);
    }
    Tier {
        removed: words.into(),
        ..tier.clone()
    }
}

fn read(request: Requested<&[u8]>) -> (u64, Vec<u8>) {
    (request.place.0, request.program.to_vec())
}

#[test]
fn a_request_has_its_number_its_place_and_its_program() {
    let plan = plan_of(0, 5);
    assert_eq!((plan.request_count(), plan.target_count()), (3, 1));
    let copy = Plan::from_words(plan.words().to_vec()).unwrap();
    let tier = Tier {
        first: 100,
        ..Tier::of(Arc::new(copy))
    };
    let tiers = [without(&tier, &[2])];
    let listed: Vec<_> = requests(&tiers, Request::Records)
        .map(|request| (request.subscription.0, read(request)))
        .collect();
    let expected = [1u8, 4].map(|n| (100 + u32::from(n), (u64::from(n) << 30, records(n))));
    assert_eq!(listed, expected);
}

#[test]
fn an_unknown_request_is_refused() {
    let reason = Builder::new()
        .add(SubscriptionId(0), Place(0), b"PSP3\x04")
        .unwrap_err();
    assert_eq!(reason.to_string(), "not a program: an unknown request");
    assert!(
        Builder::new()
            .add(SubscriptionId(0), Place(0), b"PSP2\x01")
            .is_err()
    );
}

proptest! {
    #[test]
    fn changes_are_what_one_set_has_and_the_other_lacks(
        sizes in prop::collection::vec(0u8..80, 3),
        gone_before in prop::collection::vec((0usize..3, 0u32..80), 0..8),
        gone_after in prop::collection::vec((0usize..3, 0u32..80), 0..8),
        kept in prop::collection::vec(any::<bool>(), 3),
    ) {
        let firsts = [0, sizes[0], sizes[0] + sizes[1]];
        let plans: Vec<_> = (0..3).map(|at| plan_of(firsts[at], sizes[at])).collect();
        let tier_of = |at: usize, gone: &[(usize, u32)]| {
            let numbers = gone.iter().filter(|one| one.0 == at && one.1 < u32::from(sizes[at]));
            let numbers: Vec<u32> = numbers.map(|one| one.1).collect();
            let first = u32::from(firsts[at]);
            without(&Tier { first, ..Tier::of(plans[at].clone()) }, &numbers)
        };
        let older: Vec<_> = (0..3).map(|at| tier_of(at, &gone_before)).collect();
        let both: Vec<_> = gone_before.iter().chain(&gone_after).copied().collect();
        let newer: Vec<_> = (0..3).filter(|&at| kept[at]).map(|at| tier_of(at, &both)).collect();
        for (before, now) in [(&older, &newer), (&newer, &older)] {
            let has = |tiers: &[Tier]| requests(tiers, Request::Records).map(read).collect::<BTreeSet<_>>();
            let (gone, come) = requests_since(before, now, Request::Records);
            let come: Vec<_> = come.into_iter().map(read).collect();
            let gone: Vec<_> = requests(before, Request::Records)
                .filter(|request| gone.contains(&request.subscription))
                .map(read)
                .collect();
            prop_assert_eq!(BTreeSet::from_iter(gone), &has(before) - &has(now));
            prop_assert_eq!(BTreeSet::from_iter(come), &has(now) - &has(before));
        }
    }
}
