//! What a symbol has to do with expressions, worked out when it is first met.

use super::Circuit;
use super::routes::{self, Need, Route, Scope};
use crate::plan::{Axis, NodeKind, Symbols};
use std::rc::Rc;

/// What a symbol has to do with routes, worked out when it is first met.
#[derive(Debug)]
pub(super) struct Symbol {
    /// Routes that wait for such nodes.
    pub awaited: Vec<u32>,
    /// Routes of chains that such nodes are members of.
    pub chained: Vec<u32>,
    /// Routes that pick positions among such nodes to come.
    pub picked: Vec<u32>,
    /// Routes that may look back at such nodes: truths and nodes.
    pub behind: Vec<u32>,
    /// Counted steps that such nodes are members of.
    pub counted: Vec<u32>,
    /// Sets along an axis that such nodes lead to members of, and those that others wait for.
    pub folded: Vec<u32>,
    pub reached: Vec<u32>,
    /// Shared sets that such nodes lead to members of.
    pub indexed: Vec<u32>,
    pub needs: Vec<Need>,
    pub tests: Vec<u32>,
    /// Whether no expression has anything to do with such nodes.
    pub is_idle: bool,
}

impl Circuit {
    #[inline]
    pub(super) fn symbol(&mut self, symbol: u32, symbols: &Symbols) -> Rc<Symbol> {
        match self.symbols.get(symbol as usize) {
            Some(Some(known)) => known.clone(),
            _ => self.meet(symbol, symbols),
        }
    }

    #[cold]
    fn meet(&mut self, symbol: u32, symbols: &Symbols) -> Rc<Symbol> {
        let index = symbol as usize;
        if self.symbols.len() <= index {
            self.symbols.resize(index + 1, None);
        }
        let class = symbols.class(symbol);
        let (kind, tests) = (class.kind, &*class.tests);
        let is_parent = matches!(kind, NodeKind::Element | NodeKind::Document);
        let passes = |test: u32| tests.binary_search(&test).is_ok();
        let (mut awaited, mut behind) = (Vec::new(), Vec::new());
        let (mut chained, mut picked) = (Vec::new(), Vec::new());
        for (id, route) in self.table.iter().enumerate() {
            if !passes(route.test) || !self.routes.is_used(id as u32) {
                continue;
            }
            if routes::looks_behind(route.axis) {
                behind.push(id as u32);
            } else if routes::is_awaited(route.axis)
                // A position counts every node, whether the path goes on from it or not.
                && (is_parent || route.is_positional || !self.leads_down(route))
            {
                let list = if self.is_chained_ahead(id as u32) {
                    &mut chained
                } else if route.pick.is_some() {
                    &mut picked
                } else {
                    &mut awaited
                };
                list.push(id as u32);
            }
        }
        let is_counted = |scope: Scope| match kind {
            NodeKind::Attribute | NodeKind::Namespace => false,
            NodeKind::Document => scope == Scope::Around,
            _ => true,
        };
        let steps = self.routes.counts.iter().enumerate();
        let counted: Vec<u32> = steps
            .filter(|(_, step)| passes(step.test) && is_counted(step.scope))
            .map(|(spec, _)| spec as u32)
            .collect();
        let is_folded = |spec: &u32| {
            let route = &self.table[self.routes.folds[*spec as usize].step as usize];
            passes(route.test) && Scope::of(route.axis).is_some_and(is_counted)
        };
        let specs = 0..self.routes.folds.len() as u32;
        let (reached, folded): (Vec<u32>, Vec<u32>) = specs
            .filter(is_folded)
            .partition(|&spec| self.is_next(spec));
        let is_child = !matches!(
            kind,
            NodeKind::Attribute | NodeKind::Namespace | NodeKind::Document
        );
        let sets = self.routes.indexes.iter().enumerate();
        let indexed: Vec<u32> = sets
            .filter(|(_, set)| set.root.is_none() && passes(set.test))
            .filter(|(_, set)| {
                if set.scope.is_some() {
                    is_child
                } else {
                    is_parent
                }
            })
            .map(|(spec, _)| spec as u32)
            .collect();
        let mut needs = self.routes.every_needs.clone();
        for (test, list) in &self.routes.needs {
            if passes(*test) {
                needs.extend(list);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        let known = Rc::new(Symbol {
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
        self.symbols[index] = Some(known.clone());
        known
    }

    /// Whether a route goes on to what only elements have.
    fn leads_down(&self, route: &Route) -> bool {
        let next = self.table.get(route.next as usize);
        next.is_some_and(|next| {
            matches!(
                next.axis,
                Axis::Child | Axis::Descendant | Axis::Attribute | Axis::Namespace
            )
        })
    }

    /// Whether nodes of this symbol concern any expression.
    #[inline]
    pub fn concerns(&mut self, symbol: u32, symbols: &Symbols) -> bool {
        match self.symbols.get(symbol as usize) {
            Some(Some(known)) => !known.is_idle,
            _ => !self.meet(symbol, symbols).is_idle,
        }
    }
}
