//! Orders of probing (section 3.2).

use penstock_joins::progressive::policies::{Probe, Target};
use penstock_joins::progressive::{STREAMS_MAX, StreamId};

/// Result-oriented as the paper writes it: by the number of partial results.
#[derive(Default)]
pub struct Written {
    /// Partial results of each stream.
    partial: [u64; STREAMS_MAX],
}

/// As the streams are numbered.
pub struct Sequential;

/// By selectivities that the caller knows: how likely a binding finds a match in each stream.
pub struct Apriori(pub Vec<f64>);

impl Probe for Written {
    fn sort(&mut self, _: StreamId, targets: &mut [Target]) {
        targets.sort_by_key(|to| (self.partial[to.stream.index()], to.stream));
    }

    fn note(&mut self, _: StreamId, to: Target, matches: usize, _: bool, is_last: bool) {
        if !is_last {
            self.partial[to.stream.index()] += matches as u64;
        }
    }
}

impl Probe for Sequential {
    fn sort(&mut self, _: StreamId, targets: &mut [Target]) {
        targets.sort_by_key(|to| to.stream);
    }
}

impl Probe for Apriori {
    fn sort(&mut self, _: StreamId, targets: &mut [Target]) {
        let share = |to: &Target| self.0.get(to.stream.index()).copied().unwrap_or(1.0);
        targets.sort_by(|a, b| {
            let shares = share(a).total_cmp(&share(b));
            shares.then(a.stream.cmp(&b.stream))
        });
    }
}
