//! Tables that grow with the input.
//!
//! A vector doubles, so memory would follow the input in steps of two. A large table grows by a
//! quarter instead: what is kept follows what is in it, and copying stays a few times that.

/// Up to here a table doubles.
const LARGE_BYTES: usize = 1 << 16;

/// Appends an item to a table.
#[inline]
pub fn append<T>(table: &mut Vec<T>, item: T) {
    if table.len() == table.capacity() {
        make_room(table);
    }
    table.push(item);
}

#[cold]
fn make_room<T>(table: &mut Vec<T>) {
    table.reserve_exact(more_for::<T>(table.len()));
}

/// How many items more than it has a full table should have room for.
pub fn more_for<T>(count: usize) -> usize {
    room_for(count, size_of::<T>()) - count
}

/// How many items a table that has so many should have room for.
pub fn room_for(count: usize, item_bytes: usize) -> usize {
    let is_large = count * item_bytes >= LARGE_BYTES;
    if is_large {
        count + count / 4
    } else {
        (2 * count).max(4)
    }
}

/// Bytes that a table takes, filled or not.
pub fn bytes_of<T>(table: &Vec<T>) -> usize {
    table.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_have_room_for_a_quarter_more_at_most() {
        let mut table = Vec::new();
        for number in 0..200_000_u64 {
            append(&mut table, number);
            let room = bytes_of(&table) / size_of::<u64>();
            let is_small = room * size_of::<u64>() <= 2 * LARGE_BYTES;
            assert!(is_small || room <= table.len() + table.len() / 4 + 1);
        }
        assert!(table.iter().enumerate().all(|(at, &n)| at as u64 == n));
    }
}
