//! What a symbol has to do with expressions, worked out when it is first met.

use super::Circuit;
use super::chains::is_beside;
use super::ids::{CountedId, FoldedId, RouteId, SharedId};
use super::routes::{self, Need, Route, Scope};
use crate::events::Symbol;
use crate::plan::{Axis, NodeKind, Symbols, TestId};
use std::rc::Rc;

/// What a symbol has to do with routes, worked out when it is first met.
#[derive(Debug, Default)]
pub(super) struct SymbolUses {
    /// Routes that wait for such nodes.
    pub awaited: Vec<RouteId>,
    /// Routes of chains that such nodes are members of.
    pub chained: Vec<RouteId>,
    /// Routes that pick positions among later nodes of this symbol.
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

impl SymbolUses {
    /// Whether such nodes pass a test.
    #[inline]
    pub fn passes(&self, test: TestId) -> bool {
        self.tests.binary_search(&test).is_ok()
    }

    fn is_empty(&self) -> bool {
        let routes = [&self.awaited, &self.chained, &self.picked, &self.behind];
        routes.into_iter().all(Vec::is_empty)
            && self.counted.is_empty()
            && self.folded.is_empty()
            && self.reached.is_empty()
            && self.indexed.is_empty()
            && self.needs.is_empty()
    }
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
        let class = symbols.class(symbol);
        let mut uses = SymbolUses {
            tests: class.tests.to_vec(),
            needs: self.routes.every_needs.keys().to_vec(),
            ..SymbolUses::default()
        };
        for (test, needs) in self.routes.needs.iter() {
            if uses.passes(*test) {
                uses.needs.extend(needs.keys());
            }
        }
        uses.needs.sort_unstable();
        uses.needs.dedup();
        self.list_routes(class.kind, &mut uses);
        self.list_sets(class.kind, &mut uses);
        uses.is_idle = uses.is_empty();
        let uses = Rc::new(uses);
        self.symbols.reach(symbol, None);
        self.symbols[symbol] = Some(uses.clone());
        uses
    }

    fn list_routes(&self, kind: NodeKind, uses: &mut SymbolUses) {
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        for (id, route) in self.table.pairs() {
            if !uses.passes(route.test) || !self.routes.is_used(id) {
                continue;
            }
            if routes::looks_behind(route.axis) {
                uses.behind.push(id);
            } else if routes::is_awaited(route.axis)
                // A position counts every node, whether the path goes on from it or not.
                && (is_parent || route.is_positional || !self.leads_down(route))
            {
                let list = if self.is_chained_ahead(id) {
                    &mut uses.chained
                } else if route.pick.is_some() {
                    &mut uses.picked
                } else {
                    &mut uses.awaited
                };
                list.push(id);
            }
        }
    }

    fn list_sets(&self, kind: NodeKind, uses: &mut SymbolUses) {
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        let is_child = !is_beside(kind) && kind != NodeKind::Document;
        let is_counted =
            |scope: Scope| is_child || kind == NodeKind::Document && scope == Scope::Around;
        for (step, counted) in self.routes.counts.pairs() {
            if uses.passes(counted.test) && is_counted(counted.scope) {
                uses.counted.push(step);
            }
        }
        for (set, folded) in self.routes.folds.pairs() {
            let route = &self.table[folded.step];
            if uses.passes(route.test) && Scope::of(route.axis).is_some_and(is_counted) {
                let list = if self.is_next(set) {
                    &mut uses.reached
                } else {
                    &mut uses.folded
                };
                list.push(set);
            }
        }
        for (set, shared) in self.routes.indexes.pairs() {
            let leads = match shared.scope {
                Some(_) => is_child,
                None => is_parent,
            };
            if leads && shared.root.is_none() && uses.passes(shared.test) {
                uses.indexed.push(set);
            }
        }
    }

    /// Whether the next step leads to nodes that only elements have.
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
