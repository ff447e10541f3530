//! Chains: paths of parents, then children, without predicates. Most columns are such, and their
//! first node is found without a list of all.

use super::evaluate::Evaluator;
use super::expressions::{Expr, ExprId};
use penstock_sequences::tree::{Axis, NodeId, Test, Walk};

/// A path from the context node: so many parents up, then down.
#[derive(Debug)]
pub struct Chain {
    up: usize,
    down: Box<[(Axis, Test)]>,
}

/// The chain that an expression is, if it is one.
pub fn chain_of(exprs: &[Expr], id: ExprId) -> Option<Chain> {
    let mut down = Vec::new();
    let mut up = 0;
    let mut at = id;
    loop {
        let (base, axis, test) = match &exprs[at.index()] {
            Expr::Here => break,
            Expr::Step {
                base,
                axis,
                test,
                predicates,
            } if predicates.is_empty() => (*base, *axis, test),
            _ => return None,
        };
        let is_any = *test
            == Test {
                kind: None,
                name: penstock_sequences::tree::NameTest::Any,
                element: None,
            };
        match axis {
            Axis::Child | Axis::Attribute if up == 0 => down.push((axis, test.clone())),
            Axis::Parent if is_any => up += 1,
            _ => return None,
        }
        at = base;
    }
    down.reverse();
    Some(Chain {
        up,
        down: down.into(),
    })
}

impl Evaluator<'_> {
    /// The first node of a chain, if one is there: nothing that follows comes before it.
    pub(super) fn first_of_chain(&mut self, chain: &Chain, node: NodeId) -> Option<NodeId> {
        let mut start = node;
        for _ in 0..chain.up {
            start = self.tree.parent(start)?;
        }
        let mut visited = 1;
        let found = self.first_below(&chain.down, start, &mut visited);
        (self.meter)(visited);
        found
    }

    fn first_below(
        &self,
        steps: &[(Axis, Test)],
        node: NodeId,
        visited: &mut u64,
    ) -> Option<NodeId> {
        let Some(((axis, test), rest)) = steps.split_first() else {
            return Some(node);
        };
        let mut walk = Walk::new(*axis, self.tree, node);
        while let Some(next) = walk.next(self.tree) {
            *visited += 1;
            if test.accepts(self.tree, next, self.names)
                && let Some(found) = self.first_below(rest, next, visited)
            {
                return Some(found);
            }
        }
        None
    }
}
