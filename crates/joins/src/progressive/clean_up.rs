//! The tuples that memory missed, from everything that was written out.
//!
//! Streams are joined one after the other, each with what came out before it: both sides are
//! grouped by the hash of the value that they join by, then each group of the stream is read into
//! memory, in blocks if it is large, and met by the tuples of the group. What comes out is grouped
//! by the next value. So memory stays within its budget whatever the size of the input.
//!
//! A tuple was found before if its latest part arrived while all others were in memory, or before
//! the clean-up before this one. Everything else is found here, once.

use super::binding::Binding;
use super::block::Block;
use super::graph::{JoinGraph, StreamId};
use super::options::Options;
use super::pages::{Page, PageFault, PageId, Pages, read_tuples};
use super::partitions::{Partitions, group_of};
use super::search::Members;
use crate::meter::Meter;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Which part of the budget the buffers of groups have while nothing else is in memory, and beside
/// a block.
const GROUPING: usize = 4;
const JOINING: usize = 16;

/// Which value the streams joined so far and the next one have in common.
#[derive(Clone, Copy)]
struct Driver {
    /// The place of the stream among those joined so far, and its attribute.
    place: usize,
    from: u32,
    /// The attribute of the next stream.
    to: u32,
}

enum Phase {
    /// The pages of the first stream are grouped; the place of the next page.
    GroupFirst(usize),
    /// The pages of the stream of this step are grouped.
    GroupNext(usize),
    /// Groups are joined.
    Join(Position),
    Done,
}

/// Where in a step clean-up is.
#[derive(Default)]
struct Position {
    group: usize,
    /// Pages of the block's side that have been read.
    block_end: usize,
    block: Option<Block>,
    /// The next page of tuples, and the tuples of the page before it.
    page: usize,
    tuples: VecDeque<Members>,
}

/// The pages of one stream, and their bytes.
struct Source {
    pages: Vec<PageId>,
    bytes: usize,
}

/// A clean-up that is under way.
pub(super) struct CleanUp {
    /// Tuples up to this arrival were completed by the clean-up before.
    after: u64,
    order: Vec<StreamId>,
    drivers: Vec<Driver>,
    sources: Vec<Source>,
    /// How many streams are joined already.
    step: usize,
    phase: Phase,
    left: Partitions,
    right: Partitions,
    out: Partitions,
    page_bytes: usize,
    budget: usize,
    groups_max: usize,
    pub(super) pages_written: u64,
}

/// What clean-up works with.
pub(super) struct Tools<'a> {
    pub(super) graph: &'a JoinGraph,
    pub(super) meter: &'a Meter,
    pub(super) pages: &'a mut dyn Pages,
}

impl CleanUp {
    /// Begins with the pages of each stream, those that were flushed and those parked.
    pub(super) fn new(
        graph: &JoinGraph,
        options: &Options,
        sources: [&[Vec<Page>]; 2],
        after: u64,
    ) -> Self {
        let [flushed, parked] = sources;
        let sources: Vec<Source> = (flushed.iter().zip(parked))
            .map(|(flushed, parked)| {
                let pages = || flushed.iter().chain(parked);
                Source {
                    pages: pages().map(|page| page.id).collect(),
                    bytes: pages().map(|page| page.bytes).sum(),
                }
            })
            .collect();
        let bytes = |stream: StreamId| sources[stream.index()].bytes as u64;
        let first = graph.streams().min_by_key(|&stream| bytes(stream));
        let order = graph.connected_order(first.unwrap_or(StreamId(0)), bytes);
        let drivers = (1..order.len())
            .map(|step| driver(graph, &order, step))
            .collect();
        let none = || Partitions::new(Vec::new(), 0, 0, 0);
        let mut clean_up = CleanUp {
            after,
            order,
            drivers,
            sources,
            step: 1,
            phase: Phase::GroupFirst(0),
            left: none(),
            right: none(),
            out: none(),
            page_bytes: options.page_bytes(),
            budget: options.state_bytes_max,
            groups_max: options.partitions.max(1) as usize,
            pages_written: 0,
        };
        clean_up.left = clean_up.partitions(vec![clean_up.order[0]], 1, GROUPING);
        clean_up
    }

    /// Bytes on the pages that it begins with.
    pub(super) fn pages_bytes(&self) -> usize {
        self.sources.iter().map(|source| source.bytes).sum()
    }

    /// Does a small part of the work and adds the results that it gave; False if all is done.
    /// Steps are counted before anything changes, so whoever stops the work may go on with it.
    pub(super) fn advance(
        &mut self,
        tools: &mut Tools<'_>,
        results: &mut VecDeque<Members>,
    ) -> Result<bool, PageFault> {
        match &mut self.phase {
            Phase::GroupFirst(at) => {
                let at = *at;
                let stream = self.order[0];
                let from = self.drivers[0].from;
                if self.group_page(stream, at, from, true, tools)? {
                    self.phase = Phase::GroupFirst(at + 1);
                } else {
                    self.left.finish(tools.pages)?;
                    self.begin_step();
                }
            }
            Phase::GroupNext(at) => {
                let at = *at;
                let (stream, to) = (self.order[self.step], self.drivers[self.step - 1].to);
                if self.group_page(stream, at, to, false, tools)? {
                    self.phase = Phase::GroupNext(at + 1);
                } else {
                    self.right.finish(tools.pages)?;
                    self.phase = Phase::Join(Position::default());
                }
            }
            Phase::Join(_) => self.join(tools, results)?,
            Phase::Done => return Ok(false),
        }
        Ok(true)
    }

    /// Groups the tuples of a page of a stream; False if there is no such page.
    fn group_page(
        &mut self,
        stream: StreamId,
        at: usize,
        attribute: u32,
        is_left: bool,
        tools: &mut Tools<'_>,
    ) -> Result<bool, PageFault> {
        let Some(&page) = self.sources[stream.index()].pages.get(at) else {
            return Ok(false);
        };
        tools.meter.spend(1 + self.page_bytes as u64 / 64);
        let tuples = read_tuples(&tools.pages.read(page)?, &[stream])?;
        let side = if is_left {
            &mut self.left
        } else {
            &mut self.right
        };
        for tuple in &tuples {
            side.add(tuple, &tuple[0].hashes(attribute), tools.pages)?;
        }
        Ok(true)
    }

    /// Begins to join the next stream.
    fn begin_step(&mut self) {
        self.right = self.partitions(vec![self.order[self.step]], self.step, GROUPING);
        self.out = if self.step + 1 < self.order.len() {
            self.partitions(self.order[..=self.step].to_vec(), self.step + 1, JOINING)
        } else {
            Partitions::new(Vec::new(), 0, 0, 0)
        };
        self.phase = Phase::GroupNext(0);
    }

    /// Groups for tuples that are joined in a step, with buffers of a part of the budget: so many
    /// groups that one fits into memory, but not so many that pages are small, since their numbers
    /// are kept in memory. A group that is too large is read in blocks.
    fn partitions(&self, streams: Vec<StreamId>, step: usize, share: usize) -> Partitions {
        let bytes = self.sources[self.order[step].index()].bytes;
        let most = self.budget / GROUPING / (self.page_bytes / 4);
        let groups = (bytes * 4 / self.budget.max(1) + 1).min(most.clamp(1, self.groups_max));
        Partitions::new(streams, groups, self.page_bytes, self.budget / share)
    }

    /// Joins the next tuple, or reads what comes next.
    fn join(
        &mut self,
        tools: &mut Tools<'_>,
        results: &mut VecDeque<Members>,
    ) -> Result<(), PageFault> {
        let Phase::Join(position) = &mut self.phase else {
            return Ok(());
        };
        let groups = self.left.len();
        if position.group == groups {
            return self.end_step(tools);
        }
        let driver = self.drivers[self.step - 1];
        let Some(block) = &position.block else {
            let block = load(&self.right, position, driver.to, self.budget / 2, tools)?;
            if block.is_none() {
                self.left.remove(position.group, tools.pages);
                self.right.remove(position.group, tools.pages);
                *position = Position {
                    group: position.group + 1,
                    ..Position::default()
                };
            } else {
                position.block = block;
            }
            return Ok(());
        };
        let Some(tuple) = position.tuples.front() else {
            match self.left.read(position.group, position.page, tools.pages)? {
                Some(tuples) => {
                    position.tuples = tuples.into();
                    position.page += 1;
                }
                None => position.block = None,
            }
            return Ok(());
        };
        let all = tuple[driver.place].hashes(driver.from);
        let here = all
            .iter()
            .filter(|&&hash| group_of(hash, groups) == position.group);
        let here: SmallVec<[u64; 4]> = here.copied().collect();
        tools.meter.spend(1 + block.meetings(&here) as u64);
        let is_last = self.step + 1 == self.order.len();
        let mut joined: Vec<u32> = Vec::new();
        for at in block.meet(&all).filter(|_| !here.is_empty()) {
            let binding = block.binding(at);
            let mut before = tuple.iter();
            if before.all(|member| tools.graph.matches(member, binding, tools.meter))
                && (!is_last || is_missed(tuple, binding, self.after))
            {
                joined.push(at);
            }
        }
        let Some(tuple) = position.tuples.pop_front() else {
            unreachable!("the tuple is still the first one");
        };
        for at in joined {
            let mut members = tuple.clone();
            members.push(block.binding(at).clone());
            if is_last {
                members.sort_unstable_by_key(|member| member.stream);
                results.push_back(members);
            } else {
                let next = self.drivers[self.step];
                let hashes = members[next.place].hashes(next.from);
                self.out.add(&members, &hashes, tools.pages)?;
            }
        }
        Ok(())
    }

    fn end_step(&mut self, tools: &mut Tools<'_>) -> Result<(), PageFault> {
        self.out.finish(tools.pages)?;
        self.pages_written += self.left.pages_written + self.right.pages_written;
        let none = Partitions::new(Vec::new(), 0, 0, 0);
        self.left = std::mem::replace(&mut self.out, none);
        self.step += 1;
        if self.step < self.order.len() {
            self.begin_step();
        } else {
            self.phase = Phase::Done;
        }
        Ok(())
    }
}

/// The first equality between a stream and those before it.
fn driver(graph: &JoinGraph, order: &[StreamId], step: usize) -> Driver {
    let before = order[..step].iter().enumerate();
    let mut edges = before.filter_map(|(place, &stream)| {
        let &(from, to) = graph.edges(stream, order[step]).first()?;
        Some(Driver { place, from, to })
    });
    let Some(driver) = edges.next() else {
        unreachable!("the streams of a graph are connected");
    };
    driver
}

/// Reads the next block of a group; None if there is none.
fn load(
    side: &Partitions,
    position: &mut Position,
    attribute: u32,
    bytes_max: usize,
    tools: &mut Tools<'_>,
) -> Result<Option<Block>, PageFault> {
    let mut block = None;
    while block
        .as_ref()
        .is_none_or(|block: &Block| block.memory_bytes() < bytes_max)
    {
        let Some(tuples) = side.read(position.group, position.block_end, tools.pages)? else {
            break;
        };
        position.block_end += 1;
        let block = block.get_or_insert_with(|| Block::new(attribute));
        for mut tuple in tuples {
            block.add(tuple.remove(0), position.group, side.len());
        }
    }
    position.page = 0;
    Ok(block)
}

/// Whether a tuple was found neither in memory nor by an earlier clean-up.
fn is_missed(tuple: &Members, binding: &Binding, after: u64) -> bool {
    let members = || tuple.iter().chain([binding]);
    let latest = members().map(|member| member.arrival).max();
    let until = members().map(|member| member.until).min();
    latest > Some(after) && latest > until
}
