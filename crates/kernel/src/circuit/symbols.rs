//! What a symbol has to do with expressions, worked out when it is first met.

use super::Circuit;
use super::ids::{CountedId, FoldedId, RouteId, SharedId};
use super::routes::{self, Need, Route, Scope};
use crate::events::Symbol;
use crate::plan::{Axis, NodeKind, Symbols, TestId};
use std::rc::Rc;

/// What a symbol has to do with routes, worked out when it is first met.
#[derive(Debug)]
pub(super) struct SymbolUses {
    /// Routes that wait for such nodes.
    pub awaited: Vec<RouteId>,
    /// Routes of chains that such nodes are members of.
    pub chained: Vec<RouteId>,
    /// Routes that pick positions among such nodes to come.
    pub picked: Vec<RouteId>,
    /// Routes that may look back at such nodes: truths and nodes.
    pub behind: Vec<RouteId>,
    /// Counted steps that such nodes are members of.
    pub counted: Vec<CountedId>,
    /// Sets along an axis that such nodes lead to members of, and those that others wait for.
    pub folded: Vec<FoldedId>,
    pub reached: Vec<FoldedId>,
    /// Shared sets that such nodes lead to members of.
    pub indexed: Vec<SharedId>,
    pub needs: Vec<Need>,
    pub tests: Vec<TestId>,
    /// Whether no expression has anything to do with such nodes.
    pub is_idle: bool,
}

impl Circuit {
    #[inline]
    pub(super) fn symbol(&mut self, symbol: Symbol, symbols: &Symbols) -> Rc<SymbolUses> {
        match self.symbols.find(symbol) {
            Some(Some(known)) => known.clone(),
            _ => self.meet(symbol, symbols),
        }
    }

    #[cold]
    fn meet(&mut self, symbol: Symbol, symbols: &Symbols) -> Rc<SymbolUses> {
        self.symbols.reach(symbol, None);
        let class = symbols.class(symbol);
        let (kind, tests) = (class.kind, &*class.tests);
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        let passes = |test: TestId| tests.binary_search(&test).is_ok();
        let (mut awaited, mut behind) = (Vec::new(), Vec::new());
        let (mut chained, mut picked) = (Vec::new(), Vec::new());
        for (id, route) in self.table.pairs() {
            if !passes(route.test) || !self.routes.is_used(id) {
                continue;
            }
            if routes::looks_behind(route.axis) {
                behind.push(id);
            } else if routes::is_awaited(route.axis)
                // A position counts every node, whether the path goes on from it or not.
                && (is_parent || route.is_positional || !self.leads_down(route))
            {
                let list = if self.is_chained_ahead(id) {
                    &mut chained
                } else if route.pick.is_some() {
                    &mut picked
                } else {
                    &mut awaited
                };
                list.push(id);
            }
        }
        let is_counted = |scope: Scope| match kind {
            NodeKind::Attribute | NodeKind::Namespace => false,
            NodeKind::Document => scope == Scope::Around,
            _ => true,
        };
        let counted = self.routes.counts.pairs();
        let counted: Vec<CountedId> = counted
            .filter(|(_, step)| passes(step.test) && is_counted(step.scope))
            .map(|(spec, _)| spec)
            .collect();
        let is_folded = |spec: &FoldedId| {
            let route = &self.table[self.routes.folds[*spec].step];
            passes(route.test) && Scope::of(route.axis).is_some_and(is_counted)
        };
        let folds = self.routes.folds.ids();
        let (reached, folded): (Vec<FoldedId>, Vec<FoldedId>) = folds
            .filter(is_folded)
            .partition(|&spec| self.is_next(spec));
        let is_child = !matches!(
            kind,
            NodeKind::Attribute | NodeKind::Namespace | NodeKind::Document
        );
        let indexes = self.routes.indexes.pairs();
        let indexed: Vec<SharedId> = indexes
            .filter(|(_, set)| set.root.is_none() && passes(set.test))
            .filter(|(_, set)| {
                if set.scope.is_some() {
                    is_child
                } else {
                    is_parent
                }
            })
            .map(|(spec, _)| spec)
            .collect();
        let mut needs = self.routes.every_needs.clone();
        for (test, list) in &self.routes.needs {
            if passes(*test) {
                needs.extend(list);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        let known = Rc::new(SymbolUses {
            is_idle: awaited.is_empty()
                && chained.is_empty()
                && picked.is_empty()
                && behind.is_empty()
                && counted.is_empty()
                && folded.is_empty()
                && reached.is_empty()
                && indexed.is_empty()
                && needs.is_empty(),
            counted,
            folded,
            reached,
            indexed,
            awaited,
            chained,
            picked,
            behind,
            needs,
            tests: tests.into(),
        });
        self.symbols[symbol] = Some(known.clone());
        known
    }

    /// Whether a route goes on to what only elements have.
    fn leads_down(&self, route: &Route) -> bool {
        route.next.is_some()
            && matches!(
                self.table[route.next].axis,
                Axis::Child | Axis::Descendant | Axis::Attribute | Axis::Namespace
            )
    }

    /// Whether nodes of this symbol concern any expression.
    #[inline]
    pub fn concerns(&mut self, symbol: Symbol, symbols: &Symbols) -> bool {
        match self.symbols.find(symbol) {
            Some(Some(known)) => !known.is_idle,
            _ => !self.meet(symbol, symbols).is_idle,
        }
    }
}
