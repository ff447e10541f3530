//! Puts the questions to a bundle: what walks find out, by subscription.

use super::Trie;
use super::paths::{First, Paths, Sight};
use super::times::Times;
use super::transpose::ByDocument;
use super::walk::Answered;
use crate::document::{Bundle, Docs, Earliest};
use crate::plan::questions::{Askers, BARE, Code, Group, Image, Part, QuestionId};
use crate::plan::{SubscriptionId, Tier};
use crate::usage::Used;

/// Which filters have matches in which documents, and which queries have nodes there.
#[derive(Debug, Default)]
pub struct Told {
    /// Subscriptions of filters; those that are no more are left out.
    pub filters: Vec<SubscriptionId>,
    /// When these are decided: by event if a document is alone, by row of `Times` if there are
    /// several, and not at all if nobody asks for that.
    pub dates: Vec<u32>,
    /// The filters, the queries that paths answer and those that conditions do, by document, if
    /// there are several.
    pub by_document: [ByDocument; 3],
    /// Documents by filter.
    documents: Vec<Docs>,
    scratch: Vec<Docs>,
}

/// Paths, and the filters that they answer.
#[derive(Default)]
pub struct Ways<K: Kept> {
    paths: Paths<K::Sight>,
    filters: Answered<K>,
}

/// What is kept of a filter that paths answer.
pub trait Kept: Copy + Default {
    /// What the walk sees of paths.
    type Sight: Sight;

    /// Of an answer, as `Paths::numbers_of` takes it, and what is seen of it.
    fn of(sight: Self::Sight, answer: u32) -> Self;

    /// The documents that have such paths.
    fn documents(self) -> Docs;

    /// When the first node of them is born, as `Told::dates` has it.
    fn date(
        self,
        bundle: &Bundle,
        paths: &mut Paths<Self::Sight>,
        times: &mut Times,
    ) -> Option<u32>;
}

impl Kept for First {
    type Sight = First;

    #[inline(always)]
    fn of(sight: First, _: u32) -> First {
        sight
    }

    fn documents(self) -> Docs {
        1
    }

    #[inline(always)]
    fn date(self, bundle: &Bundle, _: &mut Paths<First>, _: &mut Times) -> Option<u32> {
        Some(bundle.paths[self.path()].first)
    }
}

impl Kept for Docs {
    type Sight = Docs;

    #[inline(always)]
    fn of(sight: Docs, _: u32) -> Docs {
        sight
    }

    #[inline(always)]
    fn documents(self) -> Docs {
        self
    }

    #[inline(always)]
    fn date(self, _: &Bundle, _: &mut Paths<Docs>, _: &mut Times) -> Option<u32> {
        None
    }
}

/// Documents, and the answer from which the times in them follow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dated {
    documents: Docs,
    answer: u32,
}

impl Kept for Dated {
    type Sight = Docs;

    #[inline(always)]
    fn of(documents: Docs, answer: u32) -> Dated {
        Dated { documents, answer }
    }

    #[inline(always)]
    fn documents(self) -> Docs {
        self.documents
    }

    #[inline(always)]
    fn date(self, _: &Bundle, paths: &mut Paths<Docs>, times: &mut Times) -> Option<u32> {
        Some(times.of_answer(paths, self.answer))
    }
}

/// Goes the ways of the bundle. They are moved out so that `self` stays borrowable: conditions need
/// all the rest.
macro_rules! along_ways {
    ($self:ident, $ways:ident => $go:expr) => {
        if $self.taken.bundle.document_count() == 1 {
            along_ways!(@ $self.alone, $ways => $go)
        } else if $self.has_times {
            along_ways!(@ $self.dated, $ways => $go)
        } else {
            along_ways!(@ $self.together, $ways => $go)
        }
    };
    (@ $own:expr, $ways:ident => $go:expr) => {{
        let mut $ways = std::mem::take(&mut $own);
        let gone = $go;
        $own = $ways;
        gone
    }};
}

/// Places in `Trie::used` and in `Told::by_document`.
pub const FILTERS: usize = 0;
pub const QUERIES: usize = 1;
pub const SELECTED: usize = 2;

/// Elements that are longer together may all be results, one inside the other: these are handed out
/// while a document is read, not after it.
const NESTED_BYTES_MAX: u64 = 32 << 20;

impl Trie {
    /// Puts the questions to the bundle taken in; false if it is too large or too diverse for that.
    /// Filters tell when they were decided if a document is alone or `with_times` asks for it,
    /// queries always do.
    pub fn ask(&mut self, with_times: bool) -> bool {
        self.nodes.clear();
        self.values.clear();
        self.edges.clear();
        self.todo.clear();
        self.met.clear();
        self.selected.clear();
        self.told.clear();
        let bundle = &self.taken.bundle;
        if bundle.nodes.len() as u64 > self.nodes_max || bundle.nested_bytes > NESTED_BYTES_MAX {
            return false;
        }
        // All documents of the bundle allow steps.
        self.taken.account.position = bundle.bytes();
        let is_alone = self.taken.bundle.document_count() == 1;
        self.has_times = with_times && !is_alone;
        along_ways!(self, ways => self.ask_along(&mut ways))
    }

    fn ask_along<K: Kept>(&mut self, ways: &mut Ways<K>) -> bool {
        let plan = self.plan.clone();
        let Some(image) = plan.questions() else {
            return true;
        };
        let Ways { paths, filters } = ways;
        if !paths.take(&self.taken.bundle, &self.taken.alphabet, &mut self.columns) {
            return false;
        }
        if !image.part(Part::Filters).is_empty() {
            self.find_roots(image, Part::FilterKeys);
            let (walk, roots, columns) = (&mut self.walk, &self.roots, &self.columns);
            let stream = image.stream(Part::Filters);
            let is_done = walk.go(stream, roots, columns, paths, filters, K::of);
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
            let nodes = self.nodes.of_set(&self.taken.bundle, paths, set);
            self.try_block(block, nodes, is_query);
            self.pay();
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
        along_ways!(self, ways => self.tell_along(image, &mut ways, tier, now));
    }

    fn tell_along<K: Kept>(&mut self, image: Image<'_>, ways: &mut Ways<K>, tier: &Tier, now: u32) {
        self.tell_filters(image, ways, tier, now);
        let (nodes, bundle, paths) = (&mut self.nodes, &self.taken.bundle, &mut ways.paths);
        self.query_sets.clear();
        for &answer in self.queries.told() {
            self.query_sets.push(nodes.of_answer(bundle, paths, answer));
            self.taken
                .account
                .go_through(std::mem::take(&mut nodes.unpaid));
        }
        if bundle.document_count() > 1 {
            self.sort_out();
        }
    }

    fn sort_out(&mut self) {
        let (nodes, bundle, told) = (&mut self.nodes, &self.taken.bundle, &mut self.told);
        told.by_document[FILTERS].fill(&told.documents);
        let of_paths = self.query_sets.iter().copied();
        told.scratch.clear();
        let documents = of_paths.map(|set| nodes.earliest(bundle, set).documents);
        told.scratch.extend(documents);
        told.by_document[QUERIES].fill(&told.scratch);
        let of_conditions = self.selected.iter().map(|answer| answer.1);
        told.scratch.clear();
        let documents = of_conditions.map(|set| nodes.earliest(bundle, set).documents);
        told.scratch.extend(documents);
        told.by_document[SELECTED].fill(&told.scratch);
    }

    fn tell_filters<K: Kept>(
        &mut self,
        image: Image<'_>,
        ways: &mut Ways<K>,
        tier: &Tier,
        now: u32,
    ) {
        let Ways { paths, filters } = ways;
        let (told, bundle, used) = (&mut self.told, &self.taken.bundle, &mut self.used[FILTERS]);
        // Questions come in order, subscriptions do not: counting those is much cheaper.
        for (question, kept) in filters.iter() {
            used.count_rows(QuestionId(question), kept.documents().count_ones(), now);
        }
        let times = &mut self.times;
        if self.has_times {
            times.begin(bundle);
        }
        let askers = image.part(Part::FilterAskers);
        if tier.is_plain() && image.part(Part::Lists).is_empty() {
            // One asker each, who is still there: the usual case of a large tier.
            let numbers = filters.questions().iter();
            let numbers = numbers.map(|&question| SubscriptionId(askers[question as usize]));
            told.filters.extend(numbers);
            let kept = filters.told().iter();
            told.documents
                .extend(kept.clone().map(|kept| kept.documents()));
            told.dates
                .extend(kept.filter_map(|kept| kept.date(bundle, paths, times)));
        } else {
            for (question, kept) in filters.iter() {
                let date = kept.date(bundle, paths, times);
                told.tell(image, tier, question, kept.documents(), date);
            }
        }
        let is_alone = bundle.document_count() == 1;
        for met in &self.met {
            let Earliest { time, documents } = met.earliest;
            used.count_rows(QuestionId(met.question), documents.count_ones(), now);
            let row = || times.of_set(bundle, met.set, self.nodes.get(met.set));
            let date = match is_alone {
                true => Some(time),
                false => self.has_times.then(row),
            };
            told.tell(image, tier, met.question, documents, date);
        }
        if self.has_times {
            times.finish();
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
                let askers = image.askers(part, used.id);
                let numbers = askers.as_slice().iter().map(|asker| asker & !BARE);
                let subscriptions = numbers.filter_map(|own| tier.number(SubscriptionId(own)));
                all.extend(subscriptions.map(|id| Used {
                    id,
                    matches: used.matches,
                    last: used.last,
                    cost: used.cost,
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
        self.dates.clear();
    }

    /// All who ask a filter learn where it is answered, and when, if that is told.
    fn tell(
        &mut self,
        image: Image<'_>,
        tier: &Tier,
        question: u32,
        documents: Docs,
        date: Option<u32>,
    ) {
        let mut push = |own: u32| {
            if let Some(subscription) = tier.number(SubscriptionId(own)) {
                self.filters.push(subscription);
                self.documents.push(documents);
                self.dates.extend(date);
            }
        };
        match image.askers(Part::FilterAskers, QuestionId(question)) {
            Askers::One(asker) => push(asker),
            Askers::Many(list) => list.iter().copied().for_each(push),
        }
    }
}
