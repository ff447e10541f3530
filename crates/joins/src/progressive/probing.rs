//! In which order an arriving binding probes the other streams: one without a match ends the work.

use super::graph::StreamId;
use super::policies::Probe;
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
pub struct Target {
    /// The stream.
    pub stream: StreamId,
    /// Bindings in the partitions that the arriving binding's values lead to, as far as known.
    pub partition_len: u32,
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

/// Probes the stream first that has matched least often when it was probed first, and learns it.
///
/// The number of partial results, which the paper on Twig'n Join sorts by, is biased: a stream that
/// is probed late has few because few bindings come that far. So the rate of matches is kept for
/// each pair of an arriving and a probed stream, and only of probes that came first. A stream has
/// hash partitions whose sizes are known, and a value is rare in a small one: so the rate is kept
/// for each size apart.
pub struct Matches {
    streams: usize,
    /// Row by row of arriving streams.
    pairs: Vec<Pair>,
    random: Random,
}

impl Probe for Matches {
    fn needs_sizes(&self) -> bool {
        true
    }

    fn sort(&mut self, from: StreamId, targets: &mut [Target]) {
        targets.sort_by(|a, b| {
            let shares = self.share(from, a).total_cmp(&self.share(from, b));
            shares.then(a.stream.cmp(&b.stream))
        });
        let least = targets.first().map_or(0.0, |to| self.share(from, to));
        if targets.len() > 1 && self.random.share() < EXPLORATION * least {
            let place = self.random.below(targets.len());
            targets[..=place].rotate_right(1);
        }
    }

    fn note(&mut self, from: StreamId, to: Target, matches: usize, is_first: bool, _: bool) {
        if is_first {
            let at = self.place(from, to);
            self.pairs[at].all.note(matches > 0);
            self.pairs[at].sizes[to.size()].note(matches > 0);
        }
    }
}

impl Matches {
    /// Nothing is known of so many streams; what is tried is drawn from a seed.
    pub fn new(streams: usize, seed: u64) -> Self {
        let unknown = Pair {
            all: Rate::NOTHING,
            sizes: [Rate::NOTHING; SIZES],
        };
        Matches {
            streams,
            pairs: vec![unknown; streams * streams],
            random: Random::new(seed),
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
