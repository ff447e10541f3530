//! What leaves memory when it is full.

mod density;
mod partitions;

use super::options::{Flush, Options};
use super::random::Random;
use super::table::Table;
use density::Density;

/// The slots to flush, by stream.
pub(super) type Victims = Vec<Vec<u32>>;

/// Chooses bindings, and learns from the results that they had.
pub(super) struct Flushing {
    flush: Flush,
    random: Random,
    density: Density,
}

impl Flushing {
    pub(super) fn new(options: &Options, streams: usize) -> Self {
        Flushing {
            flush: options.flush,
            random: Random::new(options.seed.wrapping_add(1)),
            density: Density::new(streams),
        }
    }

    /// A resident binding of some age, which had so many results, has another one.
    pub(super) fn note(&mut self, stream: usize, hits_before: u32, age: u64) {
        if self.flush == Flush::Auto {
            self.density.note(stream, hits_before, age);
        }
    }

    /// Chooses bindings of so many bytes at least, or all. `is_useless` says of each stream that
    /// nothing will probe it any more.
    pub(super) fn choose(
        &mut self,
        tables: &[Table],
        bytes: usize,
        now: u64,
        is_useless: &[bool],
    ) -> Victims {
        match self.flush {
            Flush::Auto => self
                .density
                .choose(tables, bytes, now, is_useless, &mut self.random),
            Flush::Random => partitions::choose(tables, bytes, &mut self.random, |_, _| 0.0),
            Flush::Rrpj => partitions::choose(tables, bytes, &mut self.random, |stream, at| {
                let partition = tables[stream].partitions[at];
                partition.results as f64 / f64::from(partition.arrived.max(1))
            }),
            Flush::Rpj => partitions::choose(tables, bytes, &mut self.random, |stream, at| {
                let others = tables
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != stream);
                others
                    .map(|(_, table)| f64::from(table.partitions[at].resident))
                    .sum()
            }),
        }
    }
}
