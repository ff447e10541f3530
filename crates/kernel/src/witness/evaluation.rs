//! The bindings of all variables in one document, and the edges between them.

use super::conditions::Lookup;
use super::formulas::Step;
use super::paths::{StepId, VariableId};
use super::standalone::selected;
use crate::document::sort_from;
use crate::events::Span;
use crate::ledger::{Account, steps_of_copy};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A node that some variable is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessNode {
    /// Where it lies in the document.
    pub span: Span,
    /// Its string value, if a join compares it.
    pub value: Option<Vec<u8>>,
    /// Kind, name and text as it stands alone, if somebody selects it.
    pub text: Option<Vec<u8>>,
}

/// The witnesses of one document. Nodes are numbered by their places in `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The bound nodes in document order.
    pub nodes: Vec<WitnessNode>,
    /// Variable and node.
    pub bindings: Vec<(u32, u32)>,
    /// Variables above and below, nodes above and below. None are listed where each variable has
    /// one node: then each lies under the only one there is.
    pub edges: Vec<[u32; 4]>,
}

/// The steps that paths reach, with their nodes, which lie behind each other.
struct Reached {
    steps: Vec<(StepId, Range<usize>)>,
    nodes: Vec<u32>,
    /// The variables that are bound at steps, by their places.
    ends: Vec<(VariableId, usize)>,
}

/// A variable and a node that it is bound to.
type Binding = (VariableId, u32);

impl Lookup<'_> {
    /// The witnesses that the joins of a stream ask for.
    pub fn witness(&mut self, stream: &str, has_entities: bool) -> Witness {
        let mut reached = self.walk(stream);
        reached.ends.sort_unstable();
        let mut bindings: Vec<Binding> = Vec::with_capacity(reached.ends.len());
        for &(variable, place) in &reached.ends {
            let nodes = &reached.nodes[reached.steps[place].1.clone()];
            bindings.extend(nodes.iter().map(|&node| (variable, node)));
        }
        // Several paths may lead to a variable.
        sort_from(&mut bindings, 0);
        let is_flat = bindings.is_sorted_by(|one, next| one.0 < next.0);
        let edges = if is_flat {
            Vec::new()
        } else {
            self.edges(&bindings, &reached)
        };
        self.number(&bindings, edges, has_entities)
    }

    /// Walks down all paths as far as they lead to nodes.
    fn walk(&mut self, stream: &str) -> Reached {
        let paths = self.paths;
        let (mut steps, mut ends) = (Vec::new(), Vec::new());
        let mut nodes = vec![0];
        // Steps with the places of the nodes that they start from.
        let mut pending: Vec<(StepId, Range<usize>)> =
            paths.roots(stream).map(|root| (root, 0..1)).collect();
        while let Some((id, from)) = pending.pop() {
            let Some(step) = paths.step(id) else {
                continue;
            };
            self.memory.steps_taken += 1;
            let found = self.step_from(step, from, &mut nodes);
            if !found.is_empty() {
                let below = paths.below(id);
                let place = steps.len();
                ends.extend(below.variables.iter().map(|&variable| (variable, place)));
                self.go_on(id, &found, &below.steps, &mut pending);
                steps.push((id, found));
            }
        }
        Reached { steps, nodes, ends }
    }

    /// Lists the steps under a step whose tests some node of the document passes: by the steps
    /// or by the tests, whichever are fewer.
    fn go_on(
        &self,
        id: StepId,
        from: &Range<usize>,
        steps: &[StepId],
        pending: &mut Vec<(StepId, Range<usize>)>,
    ) {
        let tests = self.memory.passing.keys();
        if steps.len() <= tests.len() {
            let is_passed = |step: &&StepId| {
                let step = self.paths.step(**step);
                step.is_some_and(|step| !self.memory.passing.of(step.1).is_empty())
            };
            let steps = steps.iter().filter(is_passed);
            pending.extend(steps.map(|&step| (step, from.clone())));
        } else {
            for &test in tests {
                let steps = self.paths.tested(id, test).iter();
                pending.extend(steps.map(|&step| (step, from.clone())));
            }
        }
    }

    fn edges(&mut self, bindings: &[Binding], reached: &Reached) -> Vec<[u32; 4]> {
        let paths = self.paths;
        let nodes_at: FxHashMap<StepId, &[u32]> = reached
            .steps
            .iter()
            .map(|(step, nodes)| (*step, &reached.nodes[nodes.clone()]))
            .collect();
        let mut edges = Vec::new();
        for same in bindings.chunk_by(|one, next| one.0 == next.0) {
            let variable = same[0].0;
            for edge in paths.edges_to(variable) {
                let pair = |above: u32, below: u32| [edge.upper.0, variable.0, above, below];
                for &(upper, lower) in &edge.ends {
                    let (Some(&above), Some(&below)) = (nodes_at.get(&upper), nodes_at.get(&lower))
                    else {
                        continue;
                    };
                    // Whatever the path reaches it reaches through the only node there is.
                    if let [only] = above {
                        edges.extend(below.iter().map(|&node| pair(*only, node)));
                        continue;
                    }
                    let way = self.way(upper, lower);
                    for &node in above {
                        let mut nodes = vec![node];
                        let end = self.follow(&way, &mut nodes);
                        edges.extend(nodes[end].iter().map(|&far| pair(node, far)));
                    }
                }
            }
        }
        edges
    }

    /// The steps after one down to another.
    fn way(&self, upper: StepId, lower: StepId) -> Vec<Step> {
        let mut way = Vec::new();
        let mut at = Some(lower);
        while let Some(step) = at
            && step != upper
        {
            way.extend(self.paths.step(step));
            at = self.paths.above(step);
        }
        way.reverse();
        way
    }

    /// Numbers the bound nodes in document order and collects what is needed of them.
    fn number(
        &mut self,
        bindings: &[Binding],
        edges: Vec<[u32; 4]>,
        has_entities: bool,
    ) -> Witness {
        let needs = bindings.iter().map(|&(variable, node)| {
            let (is_valued, is_selected) = self.paths.needs(variable);
            (node, is_valued, is_selected)
        });
        let mut needs: Vec<(u32, bool, bool)> = needs.collect();
        needs.sort_unstable();
        needs.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                *kept = (kept.0, kept.1 || next.1, kept.2 || next.2);
            }
            is_same
        });
        let place = |node: u32| needs.partition_point(|one| one.0 < node) as u32;
        let edges = edges
            .iter()
            .map(|&[one, two, above, below]| [one, two, place(above), place(below)]);
        // A document that began before somebody asked for texts has no source to take them from.
        let (bundle, has_texts) = (&self.taken.bundle, self.taken.needs.source);
        let account = &mut self.memory.account;
        let nodes = needs
            .iter()
            .map(|&(node, is_valued, is_selected)| WitnessNode {
                span: bundle.description(node).span,
                value: is_valued.then(|| kept(bundle.value(node), account)),
                text: (is_selected && has_texts).then(|| {
                    account.spend(steps_of_copy(bundle.source(node).len()));
                    selected(bundle, node, has_entities)
                }),
            });
        Witness {
            edges: edges.collect(),
            bindings: bindings
                .iter()
                .map(|&(one, node)| (one.0, place(node)))
                .collect(),
            nodes: nodes.collect(),
        }
    }
}

/// A copy of a value, which costs what it is long.
fn kept(value: &[u8], account: &mut Account) -> Vec<u8> {
    account.spend(steps_of_copy(value.len()));
    value.to_vec()
}
