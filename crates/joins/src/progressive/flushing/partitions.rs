//! Whole partitions, those of the least score first: RRPJ, RPJ and random choice (section 3.1).
//!
//! Only the bindings of one stream leave, not their partners: flushing both sides loses most of
//! what a good choice gains. Ties are broken at random.

use super::Victims;
use crate::progressive::random::Random;
use crate::progressive::table::Table;

/// Chooses partitions until their bindings have so many bytes.
pub(super) fn choose(
    tables: &[Table],
    bytes: usize,
    random: &mut Random,
    score: impl Fn(usize, usize) -> f64,
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
