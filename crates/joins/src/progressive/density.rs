//! Single bindings, those first that promise the fewest results for the time that they stay.
//!
//! Bindings of one stream that have had as many results and are as old are one class. For each
//! class we count results, and the time that bindings spent in it; the quotient is the rate at
//! which such a binding has results now. What counts is the best average of these rates over some
//! time from now on: a binding may be about to reach the age at which its partners come. This is
//! hit density as caches use it, with results in place of hits.
//!
//! A small share of the bindings stays whatever its class: without it nothing would be learnt
//! about ages that no binding reaches.

use super::policies::{Flush, Hit, Victims};
use super::random::{Random, mix};
use super::table::Table;

/// Ages are told apart by their power of two, as they are noted and as they are used.
const RAW_AGES: usize = 64;
const AGES: usize = 12;
/// Results are told apart up to this.
const HITS: usize = 4;
/// At a flush the newest of so many spans of the memory's content are one age.
const SPANS: usize = 32;
/// The results that a class is thought to have had before anything is known.
const PRIOR_RESULTS: f64 = 2.0;
/// What is kept of the counts at each flush.
const DECAY: f64 = 0.9;
/// One of so many bindings stays for exploration, and at most this share of all.
const EXPLORERS: u64 = 32;
const EXPLORERS_SHARE: f64 = 0.04;

/// Counts of one stream.
#[derive(Clone)]
struct Classes {
    results: [[f64; RAW_AGES]; HITS],
    time: [[f64; RAW_AGES]; HITS],
}

/// Flushes by hit density, and learns it.
pub struct Density {
    random: Random,
    streams: Vec<Classes>,
    last_flush: u64,
}

/// The class of a binding at a flush.
fn class(hits: u32, raw_age: usize, shift: usize) -> (usize, usize) {
    let age = raw_age.saturating_sub(shift).min(AGES - 1);
    ((hits as usize).min(HITS - 1), age)
}

/// The power of two of an age.
fn raw_age(age: u64) -> usize {
    (u64::BITS - age.leading_zeros()).min(RAW_AGES as u32 - 1) as usize
}

impl Flush for Density {
    fn note(&mut self, hit: Hit) {
        let hits = (hit.hits_before as usize).min(HITS - 1);
        self.streams[hit.stream].results[hits][raw_age(hit.age)] += 1.0;
    }

    fn choose(&mut self, tables: &[Table], bytes: usize, now: u64, is_useless: &[bool]) -> Victims {
        let count: usize = tables.iter().map(Table::len).sum();
        let shift = (count / SPANS).max(1).ilog2() as usize;
        self.count_time(tables, now);
        let densities = self.densities(shift);
        let first_explorer = first_explorer(tables, (count as f64 * EXPLORERS_SHARE) as usize);
        let stays = |arrival: u64| arrival >= first_explorer && is_explorer(arrival);
        let place = |stream: usize, hits: u32, arrival: u64| {
            let (hits, age) = class(hits, raw_age(now - arrival), shift);
            let stays = usize::from(stays(arrival) && !is_useless[stream]);
            ((stream * HITS + hits) * AGES + age) * 2 + stays
        };
        let mut sizes = vec![0; tables.len() * HITS * AGES * 2];
        for (stream, table) in tables.iter().enumerate() {
            for (_, slot) in table.slots() {
                let binding = &slot.binding;
                sizes[place(stream, slot.hits, binding.arrival)] += binding.memory_bytes();
            }
        }
        let score = |at: usize| match (at % 2, is_useless[at / (2 * HITS * AGES)]) {
            (1, _) => f64::INFINITY,
            (_, true) => -1.0,
            _ => densities[at / 2],
        };
        let mut ranked: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at] > 0).collect();
        ranked.sort_by(|&a, &b| score(a).total_cmp(&score(b)));
        // Classes of one score are one: all of them are to be flushed, some part, or none.
        let mut shares = vec![0.0; sizes.len()];
        let mut freed = 0;
        for equal in ranked.chunk_by(|&a, &b| score(a).total_cmp(&score(b)).is_eq()) {
            let size: usize = equal.iter().map(|&at| sizes[at]).sum();
            let share = (bytes.saturating_sub(freed) as f64 / size as f64).min(1.0);
            equal.iter().for_each(|&at| shares[at] = share);
            freed += size;
            if freed >= bytes {
                break;
            }
        }
        for counts in &mut self.streams {
            let all = counts.results.iter_mut().chain(&mut counts.time);
            all.flatten().for_each(|count| *count *= DECAY);
        }
        let random = &mut self.random;
        let victims = tables.iter().enumerate().map(|(stream, table)| {
            let slots = table.slots().filter(|(_, slot)| {
                let share = shares[place(stream, slot.hits, slot.binding.arrival)];
                share > 0.0 && random.share() < share
            });
            slots.map(|(at, _)| at).collect()
        });
        victims.collect()
    }
}

impl Density {
    /// Nothing is known of so many streams; ties are broken by random numbers from a seed.
    pub fn new(streams: usize, seed: u64) -> Self {
        let none = Classes {
            results: [[0.0; RAW_AGES]; HITS],
            time: [[0.0; RAW_AGES]; HITS],
        };
        Density {
            random: Random::new(seed.wrapping_add(1)),
            streams: vec![none; streams],
            last_flush: 0,
        }
    }

    /// Bindings have been in memory since the last flush.
    fn count_time(&mut self, tables: &[Table], now: u64) {
        let passed = (now - self.last_flush) as f64;
        self.last_flush = now;
        for (counts, table) in self.streams.iter_mut().zip(tables) {
            for (_, slot) in table.slots() {
                let hits = (slot.hits as usize).min(HITS - 1);
                counts.time[hits][raw_age(now - slot.binding.arrival)] += passed;
            }
        }
    }

    /// For each class the best average rate of results over some time from now on.
    fn densities(&self, shift: usize) -> Vec<f64> {
        let total = |lists: &[[f64; RAW_AGES]; HITS]| lists.iter().flatten().sum::<f64>();
        let rates = self.streams.iter();
        let rates: Vec<f64> = rates
            .map(|counts| total(&counts.results) / total(&counts.time).max(1e-9))
            .collect();
        let best = rates.iter().copied().fold(1e-12, f64::max);
        let unit = (1u64 << shift) as f64;
        let width = |age: usize| unit * (1u64 << age.saturating_sub(1)) as f64;
        let mut densities = Vec::with_capacity(self.streams.len() * HITS * AGES);
        for (counts, rate) in self.streams.iter().zip(&rates) {
            for hits in 0..HITS {
                let (mut results, mut time) = ([0.0; AGES], [0.0; AGES]);
                for raw in 0..RAW_AGES {
                    let (_, age) = class(0, raw, shift);
                    results[age] += counts.results[hits][raw];
                    time[age] += counts.time[hits][raw];
                }
                let prior = PRIOR_RESULTS / best;
                let shrunk =
                    |results: f64, time: f64, rate| (results + prior * rate) / (time + prior);
                // An age that is little known is thought to be as others with these results: who
                // had its only result is not to stay for what nobody has seen.
                let of_hits = shrunk(results.iter().sum(), time.iter().sum(), *rate);
                let rate = |age: usize| shrunk(results[age], time[age], of_hits);
                for age in 0..AGES {
                    let (mut sum, mut length, mut most) = (0.0, 0.0, 0.0f64);
                    for later in age..AGES {
                        sum += rate(later) * width(later);
                        length += width(later);
                        most = most.max(sum / length);
                    }
                    densities.push(most);
                }
            }
        }
        densities
    }
}

fn is_explorer(arrival: u64) -> bool {
    mix(arrival).is_multiple_of(EXPLORERS)
}

/// The oldest binding that may stay for exploration, if so many may.
fn first_explorer(tables: &[Table], most: usize) -> u64 {
    let slots = tables.iter().flat_map(Table::slots);
    let arrivals = slots.map(|(_, slot)| slot.binding.arrival);
    let mut explorers: Vec<u64> = arrivals.filter(|&arrival| is_explorer(arrival)).collect();
    explorers.sort_unstable();
    let past = explorers.len().saturating_sub(most);
    explorers.get(past).copied().unwrap_or(u64::MAX)
}
