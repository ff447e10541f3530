//! In which order an arriving binding probes the other streams: one without a match ends the work.

use super::graph::{STREAMS_MAX, StreamId};
use super::options::{Options, Probe};
use super::random::Random;

/// What a match rate keeps of itself at each probe.
const DECAY: f64 = 0.99;
/// Of the arrivals whose best stream matches for sure, this share probes some stream first that is
/// not thought to be best; of others as much less as that stream matches less. So little is lost
/// where nothing better can be found.
const EXPLORATION: f64 = 0.1;
/// Sizes of partitions are told apart by their power of two, up to this.
const SIZES: usize = 8;

/// A stream that an arriving binding is to probe.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) stream: StreamId,
    /// Bindings in the partitions that the arriving binding's values lead to, as far as known.
    pub(super) partition_len: u32,
}

impl Target {
    pub(super) fn new(stream: StreamId) -> Self {
        Target {
            stream,
            partition_len: 0,
        }
    }

    fn size(self) -> usize {
        ((u32::BITS - self.partition_len.leading_zeros()) as usize).min(SIZES - 1)
    }
}

/// How many probes matched, and how many there were.
#[derive(Clone, Copy)]
struct Rate {
    matched: f64,
    tried: f64,
}

impl Rate {
    const NOTHING: Rate = Rate {
        matched: 0.0,
        tried: 0.0,
    };

    fn note(&mut self, is_match: bool) {
        self.matched = self.matched * DECAY + f64::from(u8::from(is_match));
        self.tried = self.tried * DECAY + 1.0;
    }

    /// The share that matched, as if one probe more had been as an expected share says.
    fn share(self, expected: f64) -> f64 {
        (self.matched + expected) / (self.tried + 1.0)
    }
}

/// What an arriving stream has learnt about a probed one.
#[derive(Clone, Copy)]
struct Pair {
    all: Rate,
    sizes: [Rate; SIZES],
}

/// Learns from probes in which order to probe.
///
/// The number of partial results, which the paper sorts by, is biased: a stream that is probed
/// late has few because few bindings come that far. So the rate of matches is kept for each pair
/// of an arriving and a probed stream, and only of probes that came first. A stream has hash
/// partitions whose sizes are known, and a value is rare in a small one: so the rate is kept for
/// each size apart.
pub(super) struct Probing {
    probe: Probe,
    selectivities: Vec<f64>,
    /// Partial results of each stream.
    partial: [u64; STREAMS_MAX],
    streams: usize,
    /// Row by row of arriving streams.
    pairs: Vec<Pair>,
    random: Random,
}

impl Probing {
    pub(super) fn new(options: &Options, streams: usize) -> Self {
        let unknown = Pair {
            all: Rate::NOTHING,
            sizes: [Rate::NOTHING; SIZES],
        };
        Probing {
            probe: options.probe,
            selectivities: options.selectivities.clone(),
            partial: [0; STREAMS_MAX],
            streams,
            pairs: vec![unknown; streams * streams],
            random: Random::new(options.seed),
        }
    }

    /// Whether the order depends on the sizes of partitions.
    pub(super) fn needs_sizes(&self) -> bool {
        self.probe == Probe::Rop
    }

    /// Sorts the streams that a binding of `from` is to probe.
    pub(super) fn sort(&mut self, from: StreamId, targets: &mut [Target]) {
        match self.probe {
            Probe::Sequential => targets.sort_by_key(|to| to.stream),
            Probe::RopWritten => {
                targets.sort_by_key(|to| (self.partial[to.stream.index()], to.stream));
            }
            Probe::Apriori => {
                let known = |to: &Target| self.selectivities.get(to.stream.index()).copied();
                sort_by_share(targets, |to| known(to).unwrap_or(1.0));
            }
            Probe::Rop => {
                sort_by_share(targets, |to| self.share(from, to));
                let least = targets.first().map_or(0.0, |to| self.share(from, to));
                if targets.len() > 1 && self.random.share() < EXPLORATION * least {
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
        to: Target,
        matches: usize,
        is_first: bool,
        is_last: bool,
    ) {
        if !is_last {
            self.partial[to.stream.index()] += matches as u64;
        }
        if is_first {
            let at = self.place(from, to);
            self.pairs[at].all.note(matches > 0);
            self.pairs[at].sizes[to.size()].note(matches > 0);
        }
    }

    /// How likely a binding of `from` finds a match.
    fn share(&self, from: StreamId, to: &Target) -> f64 {
        let pair = &self.pairs[self.place(from, *to)];
        pair.sizes[to.size()].share(pair.all.share(0.5))
    }

    fn place(&self, from: StreamId, to: Target) -> usize {
        from.index() * self.streams + to.stream.index()
    }
}

fn sort_by_share(targets: &mut [Target], share: impl Fn(&Target) -> f64) {
    targets.sort_by(|a, b| {
        let shares = share(a).total_cmp(&share(b));
        shares.then(a.stream.cmp(&b.stream))
    });
}
