//! Expressions as the circuit walks them: routes, worked out once per plan.
//!
//! A *route* is the rest of a path: a step, then the rest behind it, then what is asked of the
//! nodes it ends at. Routes are interned, so what two expressions have in common at their ends is
//! wired once per node. A step is *late* if it leads to nodes that are there already (ancestors,
//! earlier siblings, what precedes): what later steps and predicates ask of such a node has to be
//! wired when the node opens, before anybody is known to ask (`needs`).

use super::ids::{CountedId, FoldedId, RouteId, SharedId};
use super::natures::{Nature, natures};
use super::ranks::FilterPick;
use super::sharing::{IndexSpec, Shared};
use super::sinks::{FirstPart, Window};
use super::steps::is_ranked;
pub use super::steps::{
    Counted, Fold, Folded, Leaf, Route, RouteTable, Scope, is_awaited, looks_behind,
};
use crate::plan::{Axis, CompareSome, Output, Part, PartId, Plan, Step, TargetId, TestId};
use crate::small::{SmallMap, SmallSet};
use crate::tables::Table;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Where the nodes of a set come from, before its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Here,
    Root,
    /// A filter, a union or identified elements: this part.
    Set(PartId),
}

/// How the nodes of a set are found, worked out once per plan.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// Where it starts for asking whether there is a node; of a comparison with a constant, for
    /// asking whether a node compares.
    pub truth: (Source, RouteId),
    /// Where it starts for its nodes.
    pub nodes: (Source, RouteId),
    /// Whether nodes may join it after they opened.
    pub is_late: bool,
    /// Until when a node may be reached again; none where each is reached once.
    pub window: Option<Window>,
}

impl Planned {
    /// Whether it is the context node.
    #[inline]
    pub fn is_here(&self) -> bool {
        self.nodes == (Source::Here, RouteId::NONE)
    }
}

/// What is evaluated at a node when it opens, because later nodes may need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// The node itself is remembered.
    Node,
    /// An atom at the node.
    Atom(PartId),
    /// The nodes of a set at the node.
    Set(PartId),
    /// The truth of a route from the node.
    Truth(RouteId),
    /// The nodes of a route from the node.
    Nodes(RouteId),
    /// Its string value.
    Value,
    /// It may become a result of a target.
    Result(TargetId),
}

/// All routes of a plan, and what they need of nodes that are asked late.
#[derive(Debug, Default)]
pub struct Routes {
    routes: Table<RouteId, Route>,
    ids: FxHashMap<Route, RouteId>,
    natures: Table<PartId, Nature>,
    /// The routes that some expression takes. A set has others, which are not evaluated.
    pub(super) used: FxHashSet<RouteId>,
    /// Node tests with what is needed of the nodes that pass them.
    pub needs: SmallMap<TestId, SmallSet<Need>>,
    /// What is needed of every node, because a context node is in a set that is known late.
    pub every_needs: SmallSet<Need>,
    /// What is needed of elements with an id.
    pub id_needs: SmallSet<Need>,
    /// Atoms and sets of the document node that predicates ask for.
    pub root_needs: SmallSet<Need>,
    planned: Table<PartId, Planned>,
    /// The positions that filters ask for.
    pub(super) filter_picks: FxHashMap<PartId, FilterPick>,
    /// Steps that are counted by groups.
    pub counts: Table<CountedId, Counted>,
    /// By part that counts such a step from the context node: the counted step, and its axis.
    pub(super) counted: FxHashMap<PartId, (CountedId, Axis)>,
    /// Sets along an axis that are put together, and by part: which of them.
    pub folds: Table<FoldedId, Folded>,
    pub(super) folded: FxHashMap<PartId, FoldedId>,
    /// Sets that many contexts share, by operator.
    pub indexes: Table<SharedId, IndexSpec>,
    pub(super) shared: FxHashMap<PartId, Rc<Shared>>,
    pub uses_names: bool,
    pub uses_ids: bool,
    pub uses_namespaces: bool,
    pub targets: Vec<TargetId>,
}

impl Routes {
    /// Those of all targets but the silent ones.
    pub fn new(plan: &Plan, silent: &FxHashSet<TargetId>) -> Self {
        let mut routes = Routes {
            natures: natures(plan),
            ..Routes::default()
        };
        for target in plan.targets().filter(|target| !silent.contains(target)) {
            match plan.target(target).0 {
                Output::Select { set, .. } => {
                    routes.visit(plan, set);
                    routes.need_of_ends(plan, set, Need::Result(target));
                    for (_, beside) in plan.beside(target) {
                        routes.visit(plan, beside);
                        routes.note_absolute(plan, beside);
                        let is_late = routes.is_late_set(plan, set);
                        if !plan.part(beside).is_set() {
                            if is_late {
                                routes.need_of_all(plan, set, Need::Atom(beside));
                            }
                            continue;
                        }
                        routes.need_of_ends(plan, beside, Need::Value);
                        if is_late {
                            routes.need_of_all(plan, beside, Need::Value);
                            routes.need_of_all(plan, set, Need::Set(beside));
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
        routes
    }

    /// Interns the routes of all parts; none come up later.
    pub fn complete(&mut self, plan: &Plan) {
        for part in plan.parts() {
            let view = plan.part(part);
            let [truth, nodes] = match view {
                Part::CompareSome(compare) => {
                    let leaf = self.leaf_of(&compare).unwrap_or(Leaf::Collect);
                    [self.of_set(plan, compare.set, leaf); 2]
                }
                _ if view.is_set() => {
                    [Leaf::Exists, Leaf::Collect].map(|leaf| self.of_set(plan, part, leaf))
                }
                _ => [(Source::Here, RouteId::NONE); 2],
            };
            let repeats = self.may_repeat(plan, part);
            self.planned.push(Planned {
                truth,
                nodes,
                is_late: self.is_late_set(plan, part),
                window: repeats.then(|| self.window(plan, part)),
            });
            if let Part::Filter { predicates, .. } = view
                && let Some(pick) = self.filter_pick_of(plan, predicates)
            {
                self.filter_picks.insert(part, pick);
            }
        }
    }

    /// How a set, or a comparison with a constant, is evaluated.
    #[inline]
    pub fn planned(&self, part: PartId) -> &Planned {
        &self.planned[part]
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// How many routes there are.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// The routes, to be shared.
    pub fn table(&self) -> RouteTable {
        RouteTable::of(&self.routes)
    }

    #[inline]
    pub fn get(&self, id: RouteId) -> &Route {
        &self.routes[id]
    }

    pub fn is_used(&self, id: RouteId) -> bool {
        self.used.contains(&id)
    }

    pub fn nature(&self, part: PartId) -> Nature {
        self.natures[part]
    }

    /// The source of a set and the route from there, NONE where the source is all.
    pub fn of_set(&mut self, plan: &Plan, set: PartId, leaf: Leaf) -> (Source, RouteId) {
        let mut at = set;
        let mut next = RouteId::NONE;
        loop {
            match plan.part(at) {
                Part::Step(step) => {
                    next = self.intern_step(plan, &step, next, leaf);
                    at = step.base;
                }
                Part::Here => return (Source::Here, next),
                Part::Root => return (Source::Root, next),
                _ => return (Source::Set(at), next),
            }
        }
    }

    fn intern_step(&mut self, plan: &Plan, step: &Step<'_>, next: RouteId, leaf: Leaf) -> RouteId {
        let Step {
            axis,
            test,
            predicates,
            ..
        } = *step;
        let pick = is_ranked(axis)
            .then(|| self.pick_of(plan, predicates))
            .flatten();
        let route = Route {
            axis,
            test,
            predicates: predicates.into(),
            is_positional: self.counts_positions(predicates),
            pick: pick.map(Rc::new),
            end: self.ending(plan, axis, predicates),
            next,
            leaf,
        };
        if let Some(&id) = self.ids.get(&route) {
            return id;
        }
        let id = self.routes.push(route.clone());
        self.ids.insert(route, id);
        id
    }

    /// Whether one of the predicates asks for positions.
    pub(super) fn counts_positions(&self, predicates: &[PartId]) -> bool {
        predicates.iter().any(|&p| self.nature(p).has_focus())
    }

    fn need(&mut self, test: TestId, need: Need) {
        let needs = self.needs.get_or_insert_with(test, SmallSet::default);
        needs.insert(need);
    }

    /// Notes what is needed of the nodes of a set that may join it after they opened.
    pub(super) fn need_of_ends(&mut self, plan: &Plan, set: PartId, need: Need) {
        if self.is_late_set(plan, set) {
            self.need_of_all(plan, set, need);
        }
    }

    fn need_of_all(&mut self, plan: &Plan, set: PartId, need: Need) {
        match plan.part(set) {
            Part::Step(step) => {
                self.need(step.test, Need::Node);
                self.need(step.test, need);
            }
            Part::Filter { base, .. } => self.need_of_all(plan, base, need),
            Part::Union(sets) => {
                for &set in sets {
                    self.need_of_all(plan, set, need);
                }
            }
            Part::Identified(_) => {
                self.id_needs.insert(need);
            }
            _ => {
                self.every_needs.insert(need);
            }
        }
    }

    /// Walks a part and everything in it, noting what is needed where.
    pub(super) fn visit(&mut self, plan: &Plan, part: PartId) {
        match plan.part(part) {
            Part::Call(_, parts) | Part::And(parts) | Part::Or(parts) | Part::Union(parts) => {
                parts.iter().for_each(|&inner| self.visit(plan, inner));
            }
            Part::Not(inner) => self.visit(plan, inner),
            Part::Exists(set) => self.visit_truth(plan, set, Leaf::Exists),
            Part::Count(set) if self.note_counted(plan, part, set) => {}
            Part::Count(set) => self.visit(plan, set),
            Part::Sum(set) if self.note_folded(plan, part, set, Fold::Sum) => {}
            Part::String(set)
                if self.note_folded(plan, part, set, Fold::First(FirstPart::Text)) => {}
            Part::Sum(set) | Part::String(set) | Part::Strings(set) | Part::List(set) => {
                self.visit_values(plan, set);
            }
            Part::Name(name, set) => {
                self.uses_names = true;
                let fold = Fold::First(FirstPart::Name(name));
                if !self.note_folded(plan, part, set, fold) {
                    self.visit(plan, set);
                }
            }
            Part::ComparePairs(..) if self.note_shared(plan, part) => {}
            Part::ComparePairs(_, sets) => {
                sets.into_iter()
                    .for_each(|set| self.visit_values(plan, set));
            }
            Part::CompareSome(compare) => {
                self.visit(plan, compare.atom);
                match self.leaf_of(&compare) {
                    Some(leaf) => self.visit_truth(plan, compare.set, leaf),
                    None => self.visit_values(plan, compare.set),
                }
            }
            Part::Step(step) => {
                self.visit(plan, step.base);
                self.visit_routes(plan, part, Leaf::Collect);
                self.visit_step(plan, &step);
            }
            Part::Filter { base, predicates } => {
                self.visit(plan, base);
                for &predicate in predicates {
                    self.visit_predicate(plan, predicate);
                    for need in self.needs_of(plan, predicate) {
                        if let Need::Set(set) = need {
                            self.need_of_all(plan, set, Need::Value);
                        }
                        self.need_of_ends(plan, base, need);
                    }
                }
            }
            Part::Above { test, atom, .. } => {
                self.visit(plan, atom);
                self.need(test, Need::Node);
                self.need(test, Need::Atom(atom));
            }
            Part::Identified(words) => {
                self.uses_ids = true;
                self.visit(plan, words);
            }
            _ => {}
        }
    }

    /// Walks a set whose string values are asked for.
    pub(super) fn visit_values(&mut self, plan: &Plan, set: PartId) {
        self.visit(plan, set);
        self.need_of_ends(plan, set, Need::Value);
    }

    fn visit_step(&mut self, plan: &Plan, step: &Step<'_>) {
        for &predicate in step.predicates {
            self.visit_predicate(plan, predicate);
        }
        self.uses_namespaces |= step.axis == Axis::Namespace;
    }

    /// Walks a set of which only a truth is asked. Along a route nobody collects its nodes, so
    /// they need not be remembered.
    fn visit_truth(&mut self, plan: &Plan, set: PartId, leaf: Leaf) {
        if let (Source::Set(_), _) = self.of_set(plan, set, leaf) {
            self.visit(plan, set);
            if matches!(leaf, Leaf::Compare { .. }) {
                self.need_of_ends(plan, set, Need::Value);
            }
        }
        let mut at = set;
        while let Part::Step(step) = plan.part(at) {
            self.visit_step(plan, &step);
            at = step.base;
        }
        self.visit_routes(plan, set, leaf);
    }

    pub(super) fn visit_predicate(&mut self, plan: &Plan, predicate: PartId) {
        self.visit(plan, predicate);
        self.note_absolute(plan, predicate);
    }

    /// Absolute parts of a predicate are evaluated at the document node, when it opens.
    fn note_absolute(&mut self, plan: &Plan, part: PartId) {
        if self.nature(part).is_absolute() {
            let need = if plan.part(part).is_set() {
                // Whoever asks for them may ask for their values too, and does so late.
                self.need_of_all(plan, part, Need::Value);
                Need::Set(part)
            } else {
                Need::Atom(part)
            };
            self.root_needs.insert(need);
            return;
        }
        // Of a comparison with a shared set only the other side is asked for here.
        let shared_side = self.shared.get(&part).map(|shared| shared.side);
        for (place, operand) in plan.part(part).operands().into_iter().enumerate() {
            if shared_side != Some(place) {
                self.note_absolute(plan, operand);
            }
        }
    }

    /// The needs of the late steps of a set's route.
    fn visit_routes(&mut self, plan: &Plan, set: PartId, leaf: Leaf) {
        let (source, first) = self.of_set(plan, set, leaf);
        if let Source::Set(part) = source {
            // Its nodes are collected, whatever is asked of them; no other route is taken.
            if leaf != Leaf::Collect {
                return;
            }
            if first.is_some() {
                self.need_of_ends(plan, part, Need::Nodes(first));
            }
        }
        let mut at = first;
        while at.is_some() {
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
            (RouteId::NONE, Leaf::Compare { .. }) => self.need(route.test, Need::Value),
            (RouteId::NONE, _) => {}
            (next, Leaf::Collect) => self.need(route.test, Need::Nodes(next)),
            (next, _) => self.need(route.test, Need::Truth(next)),
        }
    }

    /// What of a predicate can be wired without knowing positions.
    fn needs_of(&self, plan: &Plan, part: PartId) -> Vec<Need> {
        let nature = self.nature(part);
        if nature.is_constant || nature.is_absolute() {
            return Vec::new();
        }
        let view = plan.part(part);
        match view {
            _ if !nature.has_focus() && view.is_set() => vec![Need::Set(part)],
            _ if !nature.has_focus() => vec![Need::Atom(part)],
            Part::Call(..) | Part::CompareSome(_) | Part::And(_) | Part::Or(_) | Part::Not(_) => {
                let operands = view.operands().into_iter();
                operands
                    .flat_map(|operand| self.needs_of(plan, operand))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The leaf of a comparison, if it is one with a constant.
    pub fn leaf_of(&self, compare: &CompareSome) -> Option<Leaf> {
        self.nature(compare.atom)
            .is_constant
            .then_some(Leaf::Compare {
                op: compare.op,
                constant: compare.atom,
                as_number: compare.as_number,
            })
    }
}
