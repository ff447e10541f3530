//! Expressions as the circuit walks them: routes, worked out once per plan.
//!
//! A *route* is the rest of a path: a step, then the rest behind it, then what is asked of the
//! nodes it ends at. Routes are interned, so what two expressions have in common at their ends is
//! wired once per node. A step is *late* if it leads to nodes that are there already (ancestors,
//! earlier siblings, what precedes): what later steps and predicates ask of such a node has to be
//! wired when the node opens, before anybody is known to ask (`needs`).

use super::natures::{Nature, nature};
use super::ranks::FilterPick;
use super::sharing::{IndexSpec, Shared};
use super::sinks::FirstPart;
use super::steps::is_ranked;
pub use super::steps::{Counted, Fold, Folded, Leaf, Route, Scope, is_awaited, looks_behind};
use crate::plan::{Axis, Comparison, NONE, Output, PartKind, Plan};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Where the nodes of a set come from, before its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Here,
    Root,
    /// A filter, a union or identified elements: this part.
    Set(u32),
}

/// What has to be wired at a node when it opens, because it may be asked for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// The node itself is remembered.
    Node,
    /// An atom at the node.
    Atom(u32),
    /// The nodes of a set at the node.
    Set(u32),
    /// The truth of a route from the node.
    Truth(u32),
    /// The nodes of a route from the node.
    Nodes(u32),
    /// Its string value.
    Value,
    /// It may become a result of a target.
    Result(u32),
}

/// All routes of a plan, and what they need of nodes that are asked late.
#[derive(Debug, Default)]
pub struct Routes {
    routes: Vec<Route>,
    ids: FxHashMap<Route, u32>,
    natures: Vec<Nature>,
    /// The routes that some expression takes; a set has others that nobody asks for.
    pub(super) used: FxHashSet<u32>,
    /// Node tests with what is needed of the nodes that pass them.
    pub needs: Vec<(u32, Vec<Need>)>,
    /// What is needed of every node, because a context node is in a set that is known late.
    pub every_needs: Vec<Need>,
    /// What is needed of elements with an id.
    pub id_needs: Vec<Need>,
    /// Atoms and sets of the document node that predicates ask for.
    pub root_needs: Vec<Need>,
    /// By part that is a set: its source and route for asking whether there is a node, and for the
    /// nodes; by comparison with a constant: the same for asking that.
    planned: Vec<[(Source, u32); 2]>,
    /// The positions that filters ask for.
    pub(super) filter_picks: FxHashMap<u32, FilterPick>,
    /// Steps that are counted by groups.
    pub counts: Vec<Counted>,
    /// By part that counts such a step from the context node: the counted step, and its axis.
    pub(super) counted: FxHashMap<u32, (u32, Axis)>,
    /// Sets along an axis that are put together, and by part: which of them.
    pub folds: Vec<Folded>,
    pub(super) folded: FxHashMap<u32, u32>,
    /// Sets that many contexts share, by operator.
    pub indexes: Vec<IndexSpec>,
    pub(super) shared: FxHashMap<u32, Rc<Shared>>,
    pub uses_names: bool,
    pub uses_ids: bool,
    pub uses_namespaces: bool,
    pub targets: Vec<u32>,
}

impl Routes {
    pub fn new(plan: &Plan) -> Self {
        let mut routes = Routes {
            natures: (0..plan.part_count()).fold(Vec::new(), |mut known, part| {
                let nature = nature(plan, part, &known);
                known.push(nature);
                known
            }),
            ..Routes::default()
        };
        for target in 0..plan.target_count() {
            match plan.target(target).0 {
                Output::Select { set, .. } => {
                    routes.visit(plan, set);
                    routes.need_of_ends(plan, set, Need::Result(target));
                    for pair in plan.beside(target).chunks_exact(2) {
                        routes.visit(plan, pair[1]);
                        routes.note_absolute(plan, pair[1]);
                        routes.need_of_ends(plan, pair[1], Need::Value);
                        if routes.is_late_set(plan, set) {
                            routes.need_of_all(plan, pair[1], Need::Value);
                            routes.need_of_all(plan, set, Need::Set(pair[1]));
                        }
                    }
                }
                Output::SelectAggregate { set, .. } => {
                    routes.visit(plan, set);
                    routes.need_of_ends(plan, set, Need::Value);
                }
                Output::SelectValue { atom, .. } | Output::SelectFilter { atom } => {
                    routes.visit(plan, atom);
                }
                _ => continue,
            }
            routes.targets.push(target);
        }
        for (_, needs) in &mut routes.needs {
            needs.sort_unstable();
            needs.dedup();
        }
        routes
    }

    /// Interns the routes of all parts; none come up later.
    pub fn complete(&mut self, plan: &Plan) {
        for part in 0..plan.part_count() {
            let (kind, words) = plan.part(part);
            let planned = if kind.is_set() {
                [Leaf::Exists, Leaf::Collect].map(|leaf| self.of_set(plan, part, leaf))
            } else if kind == PartKind::CompareSome {
                let leaf = self.leaf_of(plan, part).unwrap_or(Leaf::Collect);
                [self.of_set(plan, words[1], leaf); 2]
            } else {
                [(Source::Here, NONE); 2]
            };
            self.planned.push(planned);
            if kind == PartKind::Filter
                && let Some(pick) = self.filter_pick_of(plan, &words[1..])
            {
                self.filter_picks.insert(part, pick);
            }
        }
    }

    /// Source and route of a set for asking whether there is a node; of a comparison with a
    /// constant, for asking whether a node compares.
    pub fn truth_of(&self, part: u32) -> (Source, u32) {
        self.planned[part as usize][0]
    }

    /// Source and route of a set for its nodes.
    pub fn nodes_of(&self, part: u32) -> (Source, u32) {
        self.planned[part as usize][1]
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    pub fn all(&self) -> &[Route] {
        &self.routes
    }

    #[inline]
    pub fn get(&self, id: u32) -> &Route {
        &self.routes[id as usize]
    }

    pub fn is_used(&self, id: u32) -> bool {
        self.used.contains(&id)
    }

    pub fn nature(&self, part: u32) -> Nature {
        self.natures[part as usize]
    }

    /// The source of a set and the route from there, NONE where the source is all.
    pub fn of_set(&mut self, plan: &Plan, set: u32, leaf: Leaf) -> (Source, u32) {
        let mut at = set;
        let mut next = NONE;
        loop {
            let (kind, words) = plan.part(at);
            match kind {
                PartKind::Step => {
                    let predicates: Box<[u32]> = words[3..].into();
                    let is_positional = predicates.iter().any(|&p| self.nature(p).has_focus());
                    let axis = Axis::from_code(words[1]).unwrap_or(Axis::Itself);
                    let pick = is_ranked(axis)
                        .then(|| self.pick_of(plan, &predicates))
                        .flatten();
                    next = self.intern(Route {
                        axis,
                        test: words[2],
                        pick: pick.map(Rc::new),
                        end: self.ending(plan, axis, &predicates),
                        predicates,
                        is_positional,
                        next,
                        leaf,
                    });
                    at = words[0];
                }
                PartKind::Here => return (Source::Here, next),
                PartKind::Root => return (Source::Root, next),
                _ => return (Source::Set(at), next),
            }
        }
    }

    fn intern(&mut self, route: Route) -> u32 {
        if let Some(&id) = self.ids.get(&route) {
            return id;
        }
        let id = self.routes.len() as u32;
        self.routes.push(route.clone());
        self.ids.insert(route, id);
        id
    }

    fn need(&mut self, test: u32, need: Need) {
        match self.needs.iter_mut().find(|(t, _)| *t == test) {
            Some((_, needs)) => needs.push(need),
            None => self.needs.push((test, vec![need])),
        }
    }

    /// Notes what will be asked of the nodes of a set that may join it late.
    pub(super) fn need_of_ends(&mut self, plan: &Plan, set: u32, need: Need) {
        if self.is_late_set(plan, set) {
            self.need_of_all(plan, set, need);
        }
    }

    fn need_of_all(&mut self, plan: &Plan, set: u32, need: Need) {
        let (kind, words) = plan.part(set);
        match kind {
            PartKind::Step => {
                self.need(words[2], Need::Node);
                self.need(words[2], need);
            }
            PartKind::Filter => self.need_of_all(plan, words[0], need),
            PartKind::Union => {
                for &part in words {
                    self.need_of_all(plan, part, need);
                }
            }
            PartKind::Identified => self.id_needs.push(need),
            _ if self.every_needs.contains(&need) => {}
            _ => self.every_needs.push(need),
        }
    }

    /// Walks a part and everything in it, noting what is needed where.
    pub(super) fn visit(&mut self, plan: &Plan, part: u32) {
        let (kind, words) = plan.part(part);
        match kind {
            PartKind::Call => words[1..].iter().for_each(|&w| self.visit(plan, w)),
            PartKind::And | PartKind::Or | PartKind::Not | PartKind::Union => {
                words.iter().for_each(|&w| self.visit(plan, w));
            }
            PartKind::Exists => self.visit_asked(plan, words[0], Leaf::Exists),
            PartKind::Count if self.note_counted(plan, part, words[0]) => {}
            PartKind::Count => self.visit(plan, words[0]),
            PartKind::Sum if self.note_folded(plan, part, words[0], Fold::Sum) => {}
            PartKind::String
                if self.note_folded(plan, part, words[0], Fold::First(FirstPart::Text)) => {}
            PartKind::Sum | PartKind::String | PartKind::Strings => {
                self.visit(plan, words[0]);
                self.need_of_ends(plan, words[0], Need::Value);
            }
            PartKind::Name => {
                self.uses_names = true;
                let fold = Fold::First(FirstPart::Name(words[0]));
                if !self.note_folded(plan, part, words[1], fold) {
                    self.visit(plan, words[1]);
                }
            }
            PartKind::ComparePairs if self.note_shared(plan, part) => {}
            PartKind::ComparePairs => {
                for &set in &words[1..] {
                    self.visit(plan, set);
                    self.need_of_ends(plan, set, Need::Value);
                }
            }
            PartKind::CompareSome => {
                self.visit(plan, words[2]);
                match self.leaf_of(plan, part) {
                    Some(leaf) => self.visit_asked(plan, words[1], leaf),
                    None => {
                        self.visit(plan, words[1]);
                        self.need_of_ends(plan, words[1], Need::Value);
                    }
                }
            }
            PartKind::Step => {
                self.visit(plan, words[0]);
                self.visit_routes(plan, part, Leaf::Collect);
                for &predicate in &words[3..] {
                    self.visit_predicate(plan, predicate);
                }
                if Axis::from_code(words[1]) == Some(Axis::Namespace) {
                    self.uses_namespaces = true;
                }
            }
            PartKind::Filter => {
                self.visit(plan, words[0]);
                for &predicate in &words[1..] {
                    self.visit_predicate(plan, predicate);
                    for need in self.needs_of(plan, predicate) {
                        if let Need::Set(set) = need {
                            self.need_of_all(plan, set, Need::Value);
                        }
                        self.need_of_ends(plan, words[0], need);
                    }
                }
            }
            PartKind::Above => {
                self.visit(plan, words[1]);
                self.need(words[0], Need::Node);
                self.need(words[0], Need::Atom(words[1]));
            }
            PartKind::Identified => {
                self.uses_ids = true;
                self.visit(plan, words[0]);
            }
            _ => {}
        }
    }

    /// Walks a set of which only a truth is asked. Along a route nobody collects its nodes, so
    /// they need not be remembered.
    fn visit_asked(&mut self, plan: &Plan, set: u32, leaf: Leaf) {
        if let (Source::Set(_), _) = self.of_set(plan, set, leaf) {
            self.visit(plan, set);
            if matches!(leaf, Leaf::Compare { .. }) {
                self.need_of_ends(plan, set, Need::Value);
            }
        }
        let mut at = set;
        while let (PartKind::Step, words) = plan.part(at) {
            for &predicate in &words[3..] {
                self.visit_predicate(plan, predicate);
            }
            self.uses_namespaces |= Axis::from_code(words[1]) == Some(Axis::Namespace);
            at = words[0];
        }
        self.visit_routes(plan, set, leaf);
    }

    pub(super) fn visit_predicate(&mut self, plan: &Plan, predicate: u32) {
        self.visit(plan, predicate);
        self.note_absolute(plan, predicate);
    }

    /// What a predicate asks of the document node is wired there, when it opens.
    fn note_absolute(&mut self, plan: &Plan, part: u32) {
        if self.nature(part).is_absolute() {
            let need = if plan.part(part).0.is_set() {
                // Whoever asks for them may ask for their values too, and does so late.
                self.need_of_all(plan, part, Need::Value);
                Need::Set(part)
            } else {
                Need::Atom(part)
            };
            if !self.root_needs.contains(&need) {
                self.root_needs.push(need);
            }
            return;
        }
        let (kind, words) = plan.part(part);
        let inner: &[u32] = match kind {
            PartKind::ComparePairs if self.shared.contains_key(&part) => {
                let local = 2 - self.shared[&part].side;
                &words[local..=local]
            }
            PartKind::Call | PartKind::Name | PartKind::ComparePairs => &words[1..],
            PartKind::CompareSome => &words[1..3],
            PartKind::Above => &words[1..2],
            PartKind::Step | PartKind::Filter => &words[..1],
            PartKind::And
            | PartKind::Or
            | PartKind::Not
            | PartKind::Union
            | PartKind::Exists
            | PartKind::Count
            | PartKind::Sum
            | PartKind::String
            | PartKind::Strings
            | PartKind::Identified => words,
            _ => &[],
        };
        inner.iter().for_each(|&w| self.note_absolute(plan, w));
    }

    /// The needs of the late steps of a set's route.
    fn visit_routes(&mut self, plan: &Plan, set: u32, leaf: Leaf) {
        let (source, first) = self.of_set(plan, set, leaf);
        if let Source::Set(part) = source {
            // Its nodes are collected, whatever is asked of them; no other route is taken.
            if leaf != Leaf::Collect {
                return;
            }
            if first != NONE {
                self.need_of_ends(plan, part, Need::Nodes(first));
            }
        }
        let mut at = first;
        while at != NONE {
            self.used.insert(at);
            let route = self.get(at).clone();
            if route.is_late() {
                self.need_of_step(plan, &route);
            }
            at = route.next;
        }
    }

    fn need_of_step(&mut self, plan: &Plan, route: &Route) {
        if route.is_plain() {
            return;
        }
        // A predicate may ask nothing of the node, `[/]` or `[//a]`, and still it is put there.
        if route.leaf == Leaf::Collect || !route.predicates.is_empty() {
            self.need(route.test, Need::Node);
        }
        for &predicate in route.predicates.iter() {
            for need in self.needs_of(plan, predicate) {
                if let Need::Set(set) = need {
                    self.need_of_all(plan, set, Need::Value);
                }
                self.need(route.test, need);
            }
        }
        match (route.next, route.leaf) {
            (NONE, Leaf::Compare { .. }) => self.need(route.test, Need::Value),
            (NONE, _) => {}
            (next, Leaf::Collect) => self.need(route.test, Need::Nodes(next)),
            (next, _) => self.need(route.test, Need::Truth(next)),
        }
    }

    /// What of a predicate can be wired without knowing positions.
    fn needs_of(&self, plan: &Plan, part: u32) -> Vec<Need> {
        let nature = self.nature(part);
        if nature.is_constant || nature.is_absolute() {
            return Vec::new();
        }
        let (kind, words) = plan.part(part);
        if !nature.has_focus() {
            let need = if kind.is_set() {
                Need::Set(part)
            } else {
                Need::Atom(part)
            };
            return vec![need];
        }
        let inner: &[u32] = match kind {
            PartKind::Call => &words[1..],
            PartKind::CompareSome => &words[1..3],
            PartKind::And | PartKind::Or | PartKind::Not => words,
            _ => &[],
        };
        inner.iter().flat_map(|&w| self.needs_of(plan, w)).collect()
    }

    /// The leaf of a comparison with a constant.
    pub fn leaf_of(&self, plan: &Plan, part: u32) -> Option<Leaf> {
        let (_, words) = plan.part(part);
        self.nature(words[2]).is_constant.then(|| Leaf::Compare {
            op: Comparison::from_code(words[0]).unwrap_or(Comparison::Eq),
            constant: words[2],
            as_number: words[3] != 0,
        })
    }
}
