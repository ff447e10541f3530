//! Whole partitions, those of the least score first: RRPJ, RPJ and random choice (section 3.1).
//!
//! Only the bindings of one stream leave, not their partners: flushing both sides loses most of
//! what a good choice gains. Ties are broken at random.

use penstock_joins::progressive::policies::{Flush, Hit, Random, Table, Victims};

/// Results that bindings of a partition were part of when others arrived, and how many came.
#[derive(Clone, Copy, Default)]
struct Counts {
    results: u64,
    arrived: u32,
}

/// By stream and partition.
#[derive(Default)]
struct Ledger {
    streams: Vec<Vec<Counts>>,
}

impl Ledger {
    fn at(&mut self, stream: usize, partition: usize) -> &mut Counts {
        if self.streams.len() <= stream {
            self.streams.resize(stream + 1, Vec::new());
        }
        let counts = &mut self.streams[stream];
        if counts.len() <= partition {
            counts.resize(partition + 1, Counts::default());
        }
        &mut counts[partition]
    }
}

/// Partitions with the fewest results for each binding that arrived (RRPJ).
pub struct Rrpj {
    ledger: Ledger,
    random: Random,
}

/// Partitions whose partners hold the fewest bindings (RPJ).
pub struct Rpj(Random);

/// Any partitions.
pub struct AnyPartitions(Random);

impl Rrpj {
    /// Nothing has arrived yet.
    pub fn new(seed: u64) -> Self {
        Rrpj {
            ledger: Ledger::default(),
            random: random(seed),
        }
    }
}

impl Rpj {
    /// Ties are broken by random numbers from a seed.
    pub fn new(seed: u64) -> Self {
        Rpj(random(seed))
    }
}

impl AnyPartitions {
    /// Partitions are drawn from a seed.
    pub fn new(seed: u64) -> Self {
        AnyPartitions(random(seed))
    }
}

fn random(seed: u64) -> Random {
    Random::new(seed.wrapping_add(1))
}

impl Flush for Rrpj {
    fn arrived(&mut self, stream: usize, partition: u32) {
        self.ledger.at(stream, partition as usize).arrived += 1;
    }

    fn note(&mut self, hit: Hit) {
        self.ledger.at(hit.stream, hit.partition as usize).results += 1;
    }

    fn choose(&mut self, tables: &[Table], bytes: usize, _: u64, _: &[bool]) -> Victims {
        let ledger = &mut self.ledger;
        choose(tables, bytes, &mut self.random, |stream, at| {
            let counts = *ledger.at(stream, at);
            counts.results as f64 / f64::from(counts.arrived.max(1))
        })
    }
}

impl Flush for Rpj {
    fn choose(&mut self, tables: &[Table], bytes: usize, _: u64, _: &[bool]) -> Victims {
        choose(tables, bytes, &mut self.0, |stream, at| {
            let others = tables
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != stream);
            others
                .map(|(_, table)| f64::from(table.partitions[at].resident))
                .sum()
        })
    }
}

impl Flush for AnyPartitions {
    fn choose(&mut self, tables: &[Table], bytes: usize, _: u64, _: &[bool]) -> Victims {
        choose(tables, bytes, &mut self.0, |_, _| 0.0)
    }
}

/// Chooses partitions until their bindings have so many bytes.
fn choose(
    tables: &[Table],
    bytes: usize,
    random: &mut Random,
    mut score: impl FnMut(usize, usize) -> f64,
) -> Victims {
    let mut ranked = Vec::new();
    for (stream, table) in tables.iter().enumerate() {
        for (at, partition) in table.partitions.iter().enumerate() {
            if partition.resident > 0 {
                ranked.push((score(stream, at), random.next(), stream, at));
            }
        }
    }
    ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut sizes: Vec<Vec<usize>> = tables
        .iter()
        .map(|table| vec![0; table.partitions.len()])
        .collect();
    for (stream, table) in tables.iter().enumerate() {
        for (_, slot) in table.slots() {
            sizes[stream][slot.partition as usize] += slot.binding.memory_bytes();
        }
    }
    let mut is_chosen: Vec<Vec<bool>> =
        sizes.iter().map(|sizes| vec![false; sizes.len()]).collect();
    let mut freed = 0;
    for (_, _, stream, at) in ranked {
        if freed >= bytes {
            break;
        }
        freed += sizes[stream][at];
        is_chosen[stream][at] = true;
    }
    let victims = tables.iter().zip(&is_chosen).map(|(table, is_chosen)| {
        let slots = table.slots();
        let chosen = slots.filter(|(_, slot)| is_chosen[slot.partition as usize]);
        chosen.map(|(at, _)| at).collect()
    });
    victims.collect()
}
