//! In which order an arriving binding probes the other streams: one without a match ends the work.

use super::graph::{STREAMS_MAX, StreamId};
use super::options::{Options, Probe};
use super::random::Random;

/// What a match rate keeps of itself at each probe.
const DECAY: f64 = 0.99;
/// Which share of the arrivals probes some stream first that is not thought to be best.
const EXPLORATION: f64 = 0.03;

/// Learns from probes in which order to probe.
///
/// The number of partial results, which the paper sorts by, is biased: a stream that is probed
/// late has few because few bindings come that far. So the rate of matches is kept for each pair
/// of an arriving and a probed stream, and only of probes that came first.
pub(super) struct Probing {
    probe: Probe,
    selectivities: Vec<f64>,
    /// Partial results of each stream.
    partial: [u64; STREAMS_MAX],
    /// For each pair how many first probes matched, and how many there were.
    matched: [[f64; STREAMS_MAX]; STREAMS_MAX],
    tried: [[f64; STREAMS_MAX]; STREAMS_MAX],
    random: Random,
}

impl Probing {
    pub(super) fn new(options: &Options) -> Self {
        Probing {
            probe: options.probe,
            selectivities: options.selectivities.clone(),
            partial: [0; STREAMS_MAX],
            matched: [[1.0; STREAMS_MAX]; STREAMS_MAX],
            tried: [[2.0; STREAMS_MAX]; STREAMS_MAX],
            random: Random::new(options.seed),
        }
    }

    /// Sorts the streams that a binding of `from` is to probe.
    pub(super) fn sort(&mut self, from: StreamId, targets: &mut [StreamId]) {
        match self.probe {
            Probe::Sequential => targets.sort_unstable(),
            Probe::RopWritten => targets.sort_by_key(|to| (self.partial[to.index()], *to)),
            Probe::Apriori => {
                let known = |to: &StreamId| self.selectivities.get(to.index()).copied();
                targets.sort_by(|a, b| {
                    let rates = [a, b].map(|to| known(to).unwrap_or(1.0));
                    rates[0].total_cmp(&rates[1]).then(a.cmp(b))
                });
            }
            Probe::Rop => {
                let rate = |to: StreamId| {
                    let (row, column) = (from.index(), to.index());
                    self.matched[row][column] / self.tried[row][column]
                };
                targets.sort_by(|&a, &b| rate(a).total_cmp(&rate(b)).then(a.cmp(&b)));
                if targets.len() > 1 && self.random.share() < EXPLORATION {
                    let place = self.random.below(targets.len());
                    targets[..=place].rotate_right(1);
                }
            }
        }
    }

    /// A stream was probed and gave so many bindings; `is_first` and `is_last` of the streams that
    /// the arriving binding probes.
    pub(super) fn note(
        &mut self,
        from: StreamId,
        to: StreamId,
        matches: usize,
        is_first: bool,
        is_last: bool,
    ) {
        if !is_last {
            self.partial[to.index()] += matches as u64;
        }
        if is_first {
            let (row, column) = (from.index(), to.index());
            let matched = f64::from(u8::from(matches > 0));
            self.matched[row][column] = self.matched[row][column] * DECAY + matched;
            self.tried[row][column] = self.tried[row][column] * DECAY + 1.0;
        }
    }
}
