//! The progressive join against a brute force over all bindings: whatever memory and stalls there
//! are, the whole result is the same and nothing comes twice.

mod progressive_support;

use penstock_joins::progressive::{Options, Progressive, StreamId};
use progressive_support::{Case, MemoryPages, Random, ledger};
use std::collections::BTreeSet;

fn options(case: &Case, share: f64, seed: u64) -> Options {
    let everything = case.everything_bytes();
    Options {
        partitions: 8,
        page_bytes: 600,
        state_bytes_max: (everything as f64 * share) as usize,
        seed,
        ..Options::default()
    }
}

#[test]
fn every_budget_gives_the_result_of_brute_force() {
    let (mut non_empty, mut flushed, mut cleaned, mut stalls) = (0, 0, 0, 0);
    for seed in 0..240 {
        let mut random = Random(seed * 7919 + 1);
        let case = Case::random(&mut random);
        let expected = case.brute_force();
        non_empty += usize::from(!expected.is_empty());
        for _ in 0..4 {
            let share = [0.02, 0.05, 0.1, 0.3, 0.6, 0.9, 2.0][random.below(7)];
            let options = options(&case, share, seed);
            let run = case.run(options, &mut random);
            assert_eq!(run.tuples.len(), run.distinct().len(), "seed {seed}: twice");
            assert!(run.distinct() == expected, "seed {seed}, {share}");
            assert_eq!(run.pages_left, 0, "seed {seed}: pages are left");
            flushed += run.flushed;
            cleaned += run.statistics.cleaned;
            stalls += run.stalls;
        }
    }
    assert!(non_empty > 100, "{non_empty} cases have results");
    assert!(flushed > 10_000 && cleaned > 10_000 && stalls > 100);
}

#[test]
fn the_result_is_that_of_brute_force_for_every_number_of_streams() {
    for streams in 2..=8 {
        let mut random = Random(streams as u64);
        let case = (0..50)
            .map(|_| Case::of_streams(streams, &mut random))
            .find(|case| !case.brute_force().is_empty())
            .expect("a case with results");
        let expected = case.brute_force();
        for share in [0.1, 2.0] {
            let options = options(&case, share, 3);
            assert!(case.run(options, &mut random).distinct() == expected);
        }
    }
}

#[test]
fn memory_stays_within_its_budget_at_every_arrival() {
    for seed in 40..44 {
        let mut random = Random(seed);
        let case = Case::large(2000, &mut random);
        let options = options(&case, 0.1, 1);
        let budget = options.state_bytes_max as u64;
        let run = case.run(options, &mut random);
        assert!(run.statistics.flushes > 5);
        assert!(run.memory_most <= budget, "{} of {budget}", run.memory_most);
        assert!(run.memory_most * 100 >= budget * 80, "memory is used");
    }
}

#[test]
fn results_of_one_binding_come_in_batches() {
    let mut random = Random(5);
    let case = Case::product(40);
    let mut options = options(&case, 2.0, 1);
    options.partitions = 1;
    let expected = case.brute_force();
    assert_eq!(expected.len(), 64_000);
    let run = case.run(options, &mut random);
    assert!(run.distinct() == expected);
    assert!(run.batch_most <= 97, "a batch had {}", run.batch_most);
}

#[test]
fn a_full_disk_is_an_error_and_stays_one() {
    let mut random = Random(9);
    let case = Case::large(300, &mut random);
    for writes in [0, 3, 9, 40] {
        let options = options(&case, 0.1, 1);
        let mut pages = MemoryPages::default();
        pages.writes_left = Some(writes);
        let fault = case.run_until_fault(options, &mut pages);
        assert_eq!(
            fault.map(|fault| fault.to_string()),
            Some("no space left".to_owned())
        );
    }
}

#[test]
fn a_lost_or_damaged_page_is_an_error_and_no_missing_result() {
    let mut random = Random(10);
    let case = Case::large(300, &mut random);
    for (is_lost, reason) in [(true, "page"), (false, "a page holds no bindings")] {
        let options = options(&case, 0.1, 1);
        let mut pages = MemoryPages::default();
        pages.spoil_at = Some((5, is_lost));
        let fault = case.run_until_fault(options, &mut pages);
        let text = fault.map(|fault| fault.to_string()).unwrap_or_default();
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn whoever_is_stopped_may_go_on_with_clean_up() {
    let mut random = Random(11);
    let case = Case::frequent(2000, 100, &mut random);
    let options = options(&case, 0.1, 1);
    let ledger = ledger();
    let mut join = Progressive::new(case.graph(), options, ledger.clone());
    let mut pages = MemoryPages::default();
    let mut tuples = Vec::new();
    for binding in &case.bindings {
        case.push(&mut join, binding, &mut pages).expect("room");
        while join.has_results() {
            tuples.extend(join.take(50, &mut pages).expect("no bound"));
        }
    }
    join.finish(&mut pages).expect("room");
    let mut stops = 0;
    while join.has_results() {
        if stops < 20 {
            ledger.interrupt();
            match join.take(50, &mut pages) {
                Ok(batch) => tuples.extend(batch),
                Err(_) => stops += 1,
            }
            ledger.resume();
        }
        tuples.extend(join.take(50, &mut pages).expect("no bound"));
    }
    assert!(stops > 0, "clean-up was stopped");
    let found: BTreeSet<Vec<u64>> = tuples
        .iter()
        .map(|tuple| tuple.iter().map(|part| part.arrival).collect())
        .collect();
    assert_eq!(found.len(), tuples.len());
    assert!(found == case.brute_force());
}

#[test]
fn fragments_come_back_from_pages_as_they_were() {
    let mut random = Random(12);
    let case = Case::frequent(300, 30, &mut random);
    let options = options(&case, 0.05, 1);
    let mut join = Progressive::new(case.graph(), options, ledger());
    let mut pages = MemoryPages::default();
    let mut count = 0;
    for binding in &case.bindings {
        case.push(&mut join, binding, &mut pages).expect("room");
        while join.has_results() {
            join.take(50, &mut pages).expect("no bound");
        }
    }
    join.finish(&mut pages).expect("room");
    while join.has_results() {
        for tuple in join.take(50, &mut pages).expect("no bound") {
            for (stream, part) in tuple.iter().enumerate() {
                let pushed = &case.bindings[part.arrival as usize - 1];
                assert_eq!(part.stream, StreamId(stream as u8));
                assert_eq!(part.fragment(), pushed.fragment);
                assert_eq!(part.time, pushed.time);
                count += 1;
            }
        }
    }
    assert!(count > 500);
}
