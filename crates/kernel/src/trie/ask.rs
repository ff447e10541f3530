//! Puts the questions to a bundle: what walks find out, by subscription.

use super::Trie;
use super::paths::{First, Paths, Sight};
use super::transpose::ByDocument;
use super::walk::Answered;
use crate::document::{Bundle, Docs};
use crate::plan::Tier;
use crate::plan::questions::{Askers, BARE, Code, Group, Image, Part};
use crate::usage::Used;

/// Which filters have matches in which documents, and which queries have nodes there.
#[derive(Debug, Default)]
pub struct Told {
    /// Subscriptions of filters; those that are no more are left out.
    pub filters: Vec<u32>,
    /// When these are decided, as an offset, if a document is alone.
    pub decided_at: Vec<i64>,
    /// The filters, the queries that paths answer and those that conditions do, by document, if
    /// there are several.
    pub by_document: [ByDocument; 3],
    /// Documents by filter.
    documents: Vec<Docs>,
    scratch: Vec<Docs>,
}

/// Paths, and the filters that they answer.
pub struct Ways<S> {
    pub paths: Paths<S>,
    filters: Answered<S>,
}

impl<S: Sight> Ways<S> {
    pub fn new() -> Self {
        Ways {
            paths: Paths::new(),
            filters: Answered::new(),
        }
    }
}

/// What filters are told of their answers.
pub trait Telling: Sight {
    /// The documents that have some of them.
    fn documents(self) -> Docs;

    /// When the first of them was born, if that can be told.
    fn time(self, bundle: &Bundle) -> Option<u32>;
}

impl Telling for First {
    fn documents(self) -> Docs {
        1
    }

    #[inline(always)]
    fn time(self, bundle: &Bundle) -> Option<u32> {
        Some(bundle.paths[self.path()].first)
    }
}

impl Telling for Docs {
    #[inline(always)]
    fn documents(self) -> Docs {
        self
    }

    #[inline(always)]
    fn time(self, _: &Bundle) -> Option<u32> {
        None
    }
}

/// Places in `Trie::used` and in `Told::by_document`.
pub const FILTERS: usize = 0;
pub const QUERIES: usize = 1;
pub const SELECTED: usize = 2;

impl Trie {
    /// Puts the questions to the bundle taken in; false if it is too large or too diverse for that.
    pub fn ask(&mut self) -> bool {
        self.nodes.clear();
        self.values.clear();
        self.edges.clear();
        self.todo.clear();
        self.found.clear();
        self.selected.clear();
        self.told.clear();
        if self.bundle.nodes.len() as u64 > self.nodes_max {
            return false;
        }
        // The ways are lent out while they are gone, since conditions need all the rest.
        if self.bundle.document_count() == 1 {
            let mut ways = std::mem::replace(&mut self.alone, Ways::new());
            let is_done = self.ask_along(&mut ways);
            self.alone = ways;
            is_done
        } else {
            let mut ways = std::mem::replace(&mut self.together, Ways::new());
            let is_done = self.ask_along(&mut ways);
            self.together = ways;
            is_done
        }
    }

    fn ask_along<S: Sight>(&mut self, ways: &mut Ways<S>) -> bool {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return true;
        };
        let Ways { paths, filters } = ways;
        if !paths.take(&self.bundle, &self.names, &mut self.columns) {
            return false;
        }
        if !image.part(Part::Filters).is_empty() {
            self.find_roots(image, Part::FilterKeys);
            let (walk, roots, columns) = (&mut self.walk, &self.roots, &self.columns);
            let stream = image.stream(Part::Filters);
            let is_done = walk.go(stream, roots, columns, paths, filters, |sight, _| sight);
            if !is_done || !self.ask_conditions(image, paths, false) {
                return false;
            }
        }
        if !image.part(Part::Queries).is_empty() {
            self.find_roots(image, Part::QueryKeys);
            let (walk, roots, columns) = (&mut self.walk, &self.roots, &self.columns);
            let (stream, queries) = (image.stream(Part::Queries), &mut self.queries);
            let is_done = walk.go(stream, roots, columns, paths, queries, |_, answer| answer);
            if !is_done || !self.ask_conditions(image, paths, true) {
                return false;
            }
        }
        true
    }

    /// Goes on where conditions were met.
    fn ask_conditions<S: Sight>(
        &mut self,
        image: Image<'_>,
        paths: &Paths<S>,
        is_query: bool,
    ) -> bool {
        for index in 0..self.walk.blocks.len() {
            let (block, set) = self.walk.blocks[index];
            if !self.may_hold(image, block, paths.row(set).1) {
                continue;
            }
            let nodes = self.nodes.of_set(&self.bundle, paths, set);
            self.try_block(block, nodes, is_query);
            if !self.walk_nodes(image, is_query) {
                return false;
            }
        }
        true
    }

    /// Whether some condition of a block may hold, by what is seen from its set of paths: mostly
    /// there is no value to compare, and then the nodes need no look.
    fn may_hold<S: Sight>(&self, image: Image<'_>, block: u32, row: &[S]) -> bool {
        let (mut groups, others) = image.block(block);
        let is_reached = |group: Group<'_>| {
            let first = image.chain(group.chain).first();
            first.is_none_or(|&code| row[self.columns.of(code as Code) as usize] != S::NOTHING)
        };
        !others.is_empty() || groups.any(is_reached)
    }

    /// Tells who asked the filters, and sorts by document what several of them answer. A tier says
    /// who is who, and who is no more. Rows are counted; `now`, in seconds, is when.
    pub fn tell(&mut self, tier: &Tier, now: u32) {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return;
        };
        if self.bundle.document_count() == 1 {
            let ways = std::mem::replace(&mut self.alone, Ways::new());
            self.tell_filters(image, &ways.filters, tier, now);
            self.alone = ways;
        } else {
            let mut ways = std::mem::replace(&mut self.together, Ways::new());
            self.tell_filters(image, &ways.filters, tier, now);
            self.sort_out(&mut ways.paths);
            self.together = ways;
        }
    }

    fn sort_out<S: Sight>(&mut self, paths: &mut Paths<S>) {
        let (nodes, told) = (&mut self.nodes, &mut self.told);
        told.by_document[FILTERS].fill(&told.documents);
        told.scratch.clear();
        for (_, answer) in self.queries.iter() {
            let set = nodes.of_answer(&self.bundle, paths, answer);
            let earliest = nodes.earliest(&self.bundle, set);
            told.scratch.push(earliest.documents);
        }
        told.by_document[QUERIES].fill(&told.scratch);
        told.scratch.clear();
        for &(_, set) in &self.selected {
            let earliest = nodes.earliest(&self.bundle, set);
            told.scratch.push(earliest.documents);
        }
        told.by_document[SELECTED].fill(&told.scratch);
    }

    fn tell_filters<S: Telling>(
        &mut self,
        image: Image<'_>,
        filters: &Answered<S>,
        tier: &Tier,
        now: u32,
    ) {
        let (told, bundle, used) = (&mut self.told, &self.bundle, &mut self.used[FILTERS]);
        // Questions come in order, subscriptions do not: counting those is much cheaper.
        for (question, sight) in filters.iter() {
            used.count_rows(question, sight.documents().count_ones(), now);
        }
        let offset = |time: u32| bundle.offsets[time as usize] as i64;
        let askers = image.part(Part::FilterAskers);
        if tier.is_plain() && image.part(Part::Lists).is_empty() {
            // One asker each, who is still there: the usual case of a large tier.
            let numbers = filters.questions().iter();
            let numbers = numbers.map(|&question| askers[question as usize]);
            told.filters.extend(numbers);
            let documents = filters.told().iter().map(|sight| sight.documents());
            told.documents.extend(documents);
            let times = filters.told().iter();
            let times = times.filter_map(|sight| sight.time(bundle));
            told.decided_at.extend(times.map(offset));
        } else {
            for (question, sight) in filters.iter() {
                let at = sight.time(bundle).map(offset);
                told.tell(image, tier, question, sight.documents(), at);
            }
        }
        let is_alone = bundle.document_count() == 1;
        for &(question, earliest) in &self.found {
            used.count_rows(question, earliest.documents.count_ones(), now);
            let at = is_alone.then(|| offset(earliest.time));
            told.tell(image, tier, question, earliest.documents, at);
        }
    }

    /// What subscriptions did since the last call, by the numbers of a tier; one may come several
    /// times.
    pub fn take_usage(&mut self, tier: &Tier) -> Vec<Used> {
        let plan = self.plan.clone();
        let mut all = Vec::new();
        let Some(image) = plan.questions() else {
            return all;
        };
        for (kind, part) in [(FILTERS, Part::FilterAskers), (QUERIES, Part::QueryAskers)] {
            for used in self.used[kind].take() {
                let askers = image.askers(part, used.subscription);
                let numbers = askers.as_slice().iter().map(|asker| asker & !BARE);
                let subscriptions = numbers.filter_map(|own| tier.number(own));
                all.extend(subscriptions.map(|subscription| Used {
                    subscription,
                    ..used
                }));
            }
        }
        all
    }
}

impl Told {
    fn clear(&mut self) {
        self.filters.clear();
        self.documents.clear();
        self.decided_at.clear();
    }

    /// All who ask a filter learn where it is answered, and when, if that is told.
    fn tell(
        &mut self,
        image: Image<'_>,
        tier: &Tier,
        question: u32,
        documents: Docs,
        decided_at: Option<i64>,
    ) {
        let mut push = |own: u32| {
            if let Some(subscription) = tier.number(own) {
                self.filters.push(subscription);
                self.documents.push(documents);
                self.decided_at.extend(decided_at);
            }
        };
        match image.askers(Part::FilterAskers, question) {
            Askers::One(asker) => push(asker),
            Askers::Many(list) => list.iter().copied().for_each(push),
        }
    }
}
