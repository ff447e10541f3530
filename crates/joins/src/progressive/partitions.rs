//! Tuples that clean-up writes out by the hash of a value, so that equal values come together.

use super::binding::Binding;
use super::graph::StreamId;
use super::pages::{PageFault, PageId, Pages, read_tuples};
use super::random::mix;
use super::search::Members;

/// The group of a hash.
pub(super) fn group_of(hash: u64, groups: usize) -> usize {
    (mix(hash) % groups as u64) as usize
}

#[derive(Default)]
struct Group {
    buffer: Vec<u8>,
    pages: Vec<PageId>,
}

/// Tuples of some streams in groups; what is buffered is bounded, as the allocator counts it.
pub(super) struct Partitions {
    streams: Vec<StreamId>,
    groups: Vec<Group>,
    page_bytes: usize,
    buffered: usize,
    buffered_max: usize,
    pub(super) pages_written: u64,
}

impl Partitions {
    pub(super) fn new(
        streams: Vec<StreamId>,
        groups: usize,
        page_bytes: usize,
        buffered_max: usize,
    ) -> Self {
        Partitions {
            streams,
            groups: (0..groups).map(|_| Group::default()).collect(),
            page_bytes,
            buffered: 0,
            buffered_max,
            pages_written: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Adds a tuple to each group that one of the hashes leads to.
    pub(super) fn add(
        &mut self,
        members: &[Binding],
        hashes: &[u64],
        pages: &mut dyn Pages,
    ) -> Result<(), PageFault> {
        let count = self.groups.len();
        let mut groups: smallvec::SmallVec<[usize; 4]> =
            hashes.iter().map(|&hash| group_of(hash, count)).collect();
        groups.sort_unstable();
        groups.dedup();
        for at in groups {
            let before = self.groups[at].buffer.len();
            let bytes: usize = members.iter().map(|member| member.page_bytes()).sum();
            if before > 0 && before + bytes > self.page_bytes {
                self.spill(at, pages)?;
            }
            let buffer = &mut self.groups[at].buffer;
            let capacity = buffer.capacity();
            if buffer.len() + bytes > capacity {
                // A half more at a time, so that little of it is empty.
                buffer.reserve_exact(bytes.max(capacity / 2));
            }
            for member in members {
                member.write(member.until, buffer);
            }
            self.buffered += buffer.capacity() - capacity;
        }
        if self.buffered > self.buffered_max {
            // The larger half of the buffers gives most of the room with the fewest small pages.
            let least = self.buffered / (2 * count);
            for at in 0..count {
                if self.groups[at].buffer.capacity() >= least.max(1) {
                    self.spill(at, pages)?;
                }
            }
        }
        Ok(())
    }

    /// Writes out what is buffered: all tuples are there.
    pub(super) fn finish(&mut self, pages: &mut dyn Pages) -> Result<(), PageFault> {
        for at in 0..self.groups.len() {
            if !self.groups[at].buffer.is_empty() {
                self.spill(at, pages)?;
            }
        }
        Ok(())
    }

    /// Reads a page of a group, by its place.
    pub(super) fn read(
        &self,
        group: usize,
        place: usize,
        pages: &mut dyn Pages,
    ) -> Result<Option<Vec<Members>>, PageFault> {
        match self.groups[group].pages.get(place) {
            None => Ok(None),
            Some(&page) => read_tuples(&pages.read(page)?, &self.streams).map(Some),
        }
    }

    /// A group is needed no more.
    pub(super) fn remove(&mut self, group: usize, pages: &mut dyn Pages) {
        for page in std::mem::take(&mut self.groups[group].pages) {
            pages.remove(page);
        }
    }

    fn spill(&mut self, at: usize, pages: &mut dyn Pages) -> Result<(), PageFault> {
        let group = &mut self.groups[at];
        let page = pages.write(&group.buffer)?;
        group.pages.push(page);
        self.buffered -= std::mem::take(&mut group.buffer).capacity();
        self.pages_written += 1;
        Ok(())
    }
}
