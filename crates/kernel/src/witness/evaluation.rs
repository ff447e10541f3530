//! The bindings of all variables in one document, and the edges between them.

use super::conditions::Lookup;
use super::formulas::Step;
use super::paths::{StepId, VariableId};
use super::standalone::selected;
use super::tree::NodeId;
use crate::events::Span;
use rustc_hash::FxHashMap;

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

/// A step that some path reaches, and the nodes there.
type Reached = (StepId, Vec<NodeId>);

impl Lookup<'_> {
    /// The witnesses that the joins of a stream ask for.
    pub fn witness(&mut self, stream: &str, has_entities: bool) -> Witness {
        let (reached, mut ends) = self.walk(stream);
        ends.sort_unstable();
        let mut bound: Vec<(VariableId, Vec<NodeId>)> = Vec::with_capacity(ends.len());
        for (variable, end) in ends {
            let nodes = &reached[end].1;
            match bound.last_mut() {
                // Several paths lead to the variable.
                Some((last, before)) if *last == variable => {
                    before.extend_from_slice(nodes);
                    before.sort_unstable();
                    before.dedup();
                }
                _ => bound.push((variable, nodes.clone())),
            }
        }
        let is_flat = bound.iter().all(|(_, nodes)| nodes.len() == 1);
        let edges = if is_flat {
            Vec::new()
        } else {
            self.edges(&bound, &reached)
        };
        self.number(bound, edges, has_entities)
    }

    /// Walks down all paths as far as they lead to nodes: the steps that do, and the variables
    /// that are bound at their places.
    fn walk(&mut self, stream: &str) -> (Vec<Reached>, Vec<(VariableId, usize)>) {
        let paths = self.paths;
        let (mut reached, mut ends): (Vec<Reached>, _) = (Vec::new(), Vec::new());
        // Steps with the places of those that they are under.
        let mut pending: Vec<(StepId, Option<usize>)> =
            paths.roots(stream).map(|root| (root, None)).collect();
        while let Some((id, above)) = pending.pop() {
            let from = above.map_or(&[0][..], |above| &reached[above].1);
            let Some(step) = paths.step(id) else {
                continue;
            };
            self.memory.steps_taken += 1;
            let nodes = self.steps(step, from);
            if !nodes.is_empty() {
                let place = reached.len();
                reached.push((id, nodes));
                let below = paths.below(id);
                ends.extend(below.variables.iter().map(|&variable| (variable, place)));
                self.follow(id, place, &below.steps, &mut pending);
            }
        }
        (reached, ends)
    }

    /// Lists the steps under a step whose tests some node of the document passes: by the steps
    /// or by the tests, whichever are fewer.
    fn follow(
        &self,
        id: StepId,
        place: usize,
        steps: &[StepId],
        pending: &mut Vec<(StepId, Option<usize>)>,
    ) {
        if steps.len() <= self.memory.test_count() {
            let is_passed = |step: &&StepId| {
                let step = self.paths.step(**step);
                step.is_some_and(|step| self.memory.is_passed(step.1))
            };
            let steps = steps.iter().filter(is_passed);
            pending.extend(steps.map(|&step| (step, Some(place))));
        } else {
            for test in self.memory.tests() {
                let steps = self.paths.tested(id, test).iter();
                pending.extend(steps.map(|&step| (step, Some(place))));
            }
        }
    }

    fn edges(&mut self, bound: &[(VariableId, Vec<NodeId>)], reached: &[Reached]) -> Vec<[u32; 4]> {
        let paths = self.paths;
        let nodes_at: FxHashMap<StepId, &[NodeId]> = reached
            .iter()
            .map(|(step, nodes)| (*step, nodes.as_slice()))
            .collect();
        let mut edges = Vec::new();
        for &(variable, _) in bound {
            for edge in paths.edges_to(variable) {
                let pair = |above: NodeId, below: NodeId| [edge.upper.0, variable.0, above, below];
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
                        for &step in &way {
                            nodes = self.steps(step, &nodes);
                        }
                        edges.extend(nodes.iter().map(|&far| pair(node, far)));
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
        &self,
        bound: Vec<(VariableId, Vec<NodeId>)>,
        edges: Vec<[u32; 4]>,
        has_entities: bool,
    ) -> Witness {
        let mut needs: Vec<(NodeId, bool, bool)> = Vec::new();
        for (variable, nodes) in &bound {
            let (is_valued, is_selected) = self.paths.needs(*variable);
            needs.extend(nodes.iter().map(|&node| (node, is_valued, is_selected)));
        }
        needs.sort_unstable();
        let mut merged: Vec<(NodeId, bool, bool)> = Vec::with_capacity(needs.len());
        for (node, is_valued, is_selected) in needs {
            match merged.last_mut() {
                Some(last) if last.0 == node => {
                    *last = (node, last.1 || is_valued, last.2 || is_selected);
                }
                _ => merged.push((node, is_valued, is_selected)),
            }
        }
        let place = |node: NodeId| merged.partition_point(|one| one.0 < node) as u32;
        let bindings = bound
            .iter()
            .flat_map(|(variable, nodes)| nodes.iter().map(move |&node| (*variable, node)))
            .map(|(variable, node)| (variable.0, place(node)))
            .collect();
        let edges = edges
            .iter()
            .map(|&[one, two, above, below]| [one, two, place(above), place(below)]);
        // A document that began before somebody asked for texts has no source to take them from.
        let has_texts = self.tree.keeps_source;
        let nodes = merged
            .iter()
            .map(|&(node, is_valued, is_selected)| WitnessNode {
                span: self.tree.nodes[node as usize].span,
                value: is_valued.then(|| self.tree.value(node).to_vec()),
                text: (is_selected && has_texts).then(|| selected(self.tree, node, has_entities)),
            });
        Witness {
            edges: edges.collect(),
            bindings,
            nodes: nodes.collect(),
        }
    }
}
