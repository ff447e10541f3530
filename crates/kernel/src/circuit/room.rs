//! Room in tables that grows smoothly, so that memory follows what is in them.

/// Entries up to this many are few: room for them doubles.
const FEW: usize = 1 << 8;

/// How many entries a full table of a length gets room for.
pub fn step(len: usize) -> usize {
    if len < FEW { len.max(4) } else { len / 4 }
}

/// Adds an entry to a table, whose room grows by a quarter.
#[inline]
pub fn push<T>(table: &mut Vec<T>, entry: T) {
    if table.len() == table.capacity() {
        table.reserve_exact(step(table.len()));
    }
    table.push(entry);
}
