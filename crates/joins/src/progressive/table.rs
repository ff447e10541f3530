//! The bindings of one stream in memory: found by value, flushed by partition.

use super::binding::{Binding, block_bytes, hash_of};
use super::graph::{JoinGraph, StreamId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The slots of the bindings that have a value, in order of arrival.
pub(super) type Postings = SmallVec<[u32; 4]>;

/// A binding in memory.
pub struct Slot {
    /// The binding.
    pub binding: Binding,
    /// Its partition.
    pub partition: u32,
    /// Results that it is part of.
    pub hits: u32,
}

enum Entry {
    Taken(Slot),
    /// The next free one.
    Free(u32),
}

const NO_SLOT: u32 = u32::MAX;

/// What is known about one hash partition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Partition {
    /// Its bindings in memory.
    pub resident: u32,
}

/// Bindings by the hash of a value of one attribute that joins.
struct Index {
    attribute: u32,
    map: FxHashMap<u64, Postings>,
    /// What the map has room for. It says less itself when values were removed.
    room: usize,
}

impl Index {
    fn new(attribute: u32) -> Self {
        Index {
            attribute,
            map: FxHashMap::default(),
            room: 0,
        }
    }

    /// Bytes that so many values more take, for a moment or for good.
    fn growth_bytes(&self, values: usize) -> usize {
        let len = self.map.len() + values;
        // A map that is at most half full makes room where values were removed.
        if len <= self.map.capacity() || len <= self.room / 2 {
            return 0;
        }
        map_bytes(2 * self.room.max(values).max(2))
    }

    /// Notes the room after values were added.
    fn note_growth(&mut self) {
        self.room = self.room.max(self.map.capacity());
    }

    /// Gives room back that is not used.
    fn shrink(&mut self) {
        if self.map.len() * 8 < self.room {
            self.map.shrink_to(self.map.len() * 2);
            self.room = self.map.capacity();
        }
    }
}

/// The bindings of one stream in memory.
///
/// A binding has one partition, that of the first value it joins by. It is the unit of flushing
/// and of what is learnt; the search goes through the indexes, where a binding has all its values.
pub struct Table {
    entries: Vec<Entry>,
    first_free: u32,
    count: usize,
    indexes: Vec<Index>,
    /// What is known of each hash partition.
    pub partitions: Vec<Partition>,
    bindings_bytes: usize,
    postings_bytes: usize,
}

impl Table {
    pub(super) fn new(graph: &JoinGraph, stream: StreamId, partitions: u32) -> Self {
        let is_joined = |attribute: &u32| {
            graph.streams().any(|to| {
                graph
                    .edges(stream, to)
                    .iter()
                    .any(|edge| edge.0 == *attribute)
            })
        };
        let joined = (0..graph.attribute_count(stream)).filter(is_joined);
        Table {
            entries: Vec::new(),
            first_free: NO_SLOT,
            count: 0,
            indexes: joined.map(Index::new).collect(),
            partitions: vec![Partition::default(); partitions.max(1) as usize],
            bindings_bytes: 0,
            postings_bytes: 0,
        }
    }

    /// Bindings in memory.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of bindings, indexes and partitions.
    pub(super) fn memory_bytes(&self) -> usize {
        let maps = self.indexes.iter().map(|index| map_bytes(index.room));
        self.bindings_bytes
            + self.postings_bytes
            + maps.sum::<usize>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.partitions.len() * size_of::<Partition>()
    }

    /// Bytes that adding a binding takes, for a moment or for good: what grows is copied.
    pub(super) fn growth_bytes(&self, binding: &Binding) -> usize {
        let mut bytes = binding.memory_bytes();
        if self.first_free == NO_SLOT && self.entries.len() == self.entries.capacity() {
            bytes += 2 * self.entries.capacity().max(4) * size_of::<Entry>();
        }
        for index in &self.indexes {
            bytes += index.growth_bytes(binding.values(index.attribute).len());
            for hash in binding.hashes(index.attribute) {
                if let Some(list) = index.map.get(&hash)
                    && list.len() == list.capacity()
                {
                    bytes += block_bytes(8 * list.capacity());
                }
            }
        }
        bytes
    }

    /// Whether a binding has a value for each attribute that joins.
    pub(super) fn can_join(&self, binding: &Binding) -> bool {
        let mut attributes = self.indexes.iter();
        attributes.all(|index| binding.values(index.attribute).len() > 0)
    }

    /// The partition of a binding.
    pub(super) fn partition_of(&self, binding: &Binding) -> u32 {
        let attribute = self.partition_attribute().unwrap_or(0);
        let hash = binding.values(attribute).next().map_or(0, hash_of);
        self.partition_of_hash(hash)
    }

    /// The attribute whose first value a binding's partition is of.
    pub(super) fn partition_attribute(&self) -> Option<u32> {
        self.indexes.first().map(|index| index.attribute)
    }

    /// Bindings in memory in the partition of a value.
    pub(super) fn partition_len(&self, hash: u64) -> u32 {
        self.partitions[self.partition_of_hash(hash) as usize].resident
    }

    fn partition_of_hash(&self, hash: u64) -> u32 {
        (super::random::mix(hash) % self.partitions.len() as u64) as u32
    }

    /// Adds a binding with so many results.
    pub(super) fn insert(&mut self, binding: Binding, hits: u32) {
        let partition = self.partition_of(&binding);
        self.partitions[partition as usize].resident += 1;
        self.bindings_bytes += binding.memory_bytes();
        let slot = match self.first_free {
            NO_SLOT => self.entries.len() as u32,
            free => free,
        };
        for index in &mut self.indexes {
            for hash in binding.hashes(index.attribute) {
                let list = index.map.entry(hash).or_default();
                self.postings_bytes -= postings_bytes(list);
                list.push(slot);
                self.postings_bytes += postings_bytes(list);
            }
            index.note_growth();
        }
        let taken = Entry::Taken(Slot {
            binding,
            partition,
            hits,
        });
        match self.entries.get_mut(slot as usize) {
            None => self.entries.push(taken),
            Some(entry) => {
                if let Entry::Free(next) = *entry {
                    self.first_free = next;
                }
                *entry = taken;
            }
        }
        self.count += 1;
    }

    /// The bindings with a hash among the values of an attribute.
    pub(super) fn find(&self, attribute: u32, hash: u64) -> &[u32] {
        let mut indexes = self.indexes.iter();
        let index = indexes.find(|index| index.attribute == attribute);
        let list = index.and_then(|index| index.map.get(&hash));
        list.map_or(&[], |list| list.as_slice())
    }

    /// The binding at a slot that is taken.
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        match &self.entries[slot as usize] {
            Entry::Taken(taken) => taken,
            Entry::Free(_) => unreachable!("a slot of the index is taken"),
        }
    }

    /// Counts a result of a resident binding; returns how many it had before.
    pub(super) fn credit(&mut self, slot: u32) -> u32 {
        let Entry::Taken(taken) = &mut self.entries[slot as usize] else {
            unreachable!("a slot of a result is taken");
        };
        let before = taken.hits;
        taken.hits = before.saturating_add(1);
        before
    }

    /// All bindings, with their slots.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(slot, entry)| match entry {
            Entry::Taken(taken) => Some((slot as u32, taken)),
            Entry::Free(_) => None,
        })
    }

    /// Removes the bindings at some slots.
    pub(super) fn remove(&mut self, slots: &[u32]) {
        if slots.len() == self.count {
            return self.clear();
        }
        for &slot in slots {
            let freed = Entry::Free(self.first_free);
            let entry = std::mem::replace(&mut self.entries[slot as usize], freed);
            if let Entry::Taken(taken) = entry {
                self.partitions[taken.partition as usize].resident -= 1;
                self.bindings_bytes -= taken.binding.memory_bytes();
                self.first_free = slot;
                self.count -= 1;
            }
        }
        let (entries, mut bytes) = (&self.entries, 0);
        for index in &mut self.indexes {
            index.map.retain(|_, list| {
                list.retain(|slot| matches!(entries[*slot as usize], Entry::Taken(_)));
                if list.len() <= list.inline_size() {
                    list.shrink_to_fit();
                }
                bytes += postings_bytes(list);
                !list.is_empty()
            });
            index.shrink();
        }
        self.postings_bytes = bytes;
    }

    /// Removes all bindings.
    pub(super) fn clear(&mut self) {
        self.entries = Vec::new();
        self.first_free = NO_SLOT;
        self.count = 0;
        self.bindings_bytes = 0;
        self.postings_bytes = 0;
        for index in &mut self.indexes {
            *index = Index::new(index.attribute);
        }
        for partition in &mut self.partitions {
            partition.resident = 0;
        }
    }
}

/// Bytes of a list beside its place in the index.
pub(super) fn postings_bytes(list: &Postings) -> usize {
    if list.spilled() {
        block_bytes(list.capacity() * size_of::<u32>())
    } else {
        0
    }
}

/// Bytes of a hash map with room for so many lists: a power of two, an eighth of it empty.
pub(super) fn map_bytes(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    let buckets = (capacity * 8 / 7).next_power_of_two().max(4);
    block_bytes(buckets * (size_of::<(u64, Postings)>() + 1) + 16)
}
