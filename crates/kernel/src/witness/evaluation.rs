//! The bindings of all variables in one document, and the edges between them.

use super::conditions::Lookup;
use super::paths::{StepId, StreamSpec};
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

impl Lookup<'_> {
    /// The witnesses that the joins of a stream ask for.
    pub fn witness(&mut self, spec: &StreamSpec, has_entities: bool) -> Witness {
        let found = self.steps_of(spec);
        let mut bound: Vec<(u32, Vec<NodeId>)> = Vec::new();
        for &variable in &spec.variables {
            let ends = &self.paths.variables[variable.0 as usize].ends;
            let mut nodes: Vec<NodeId> = ends
                .iter()
                .filter_map(|end| found.get(end))
                .flatten()
                .copied()
                .collect();
            if ends.len() > 1 {
                nodes.sort_unstable();
                nodes.dedup();
            }
            if !nodes.is_empty() {
                bound.push((variable.0, nodes));
            }
        }
        let is_flat = bound.iter().all(|(_, nodes)| nodes.len() == 1);
        let edges = if is_flat {
            Vec::new()
        } else {
            self.edges(spec, &found)
        };
        self.number(bound, edges, has_entities)
    }

    /// The nodes at each step that some path reaches.
    fn steps_of(&mut self, spec: &StreamSpec) -> FxHashMap<StepId, Vec<NodeId>> {
        let mut found: FxHashMap<StepId, Vec<NodeId>> = FxHashMap::default();
        for &id in &spec.steps {
            let step = self.paths.steps[id as usize];
            let nodes = match step.above {
                None => self.steps(step.step, &[0]),
                Some(above) => match found.get(&above) {
                    Some(from) => self.steps(step.step, from),
                    None => continue,
                },
            };
            if !nodes.is_empty() {
                found.insert(id, nodes);
            }
        }
        found
    }

    fn edges(
        &mut self,
        spec: &StreamSpec,
        found: &FxHashMap<StepId, Vec<NodeId>>,
    ) -> Vec<[u32; 4]> {
        let mut edges = Vec::new();
        for &edge in &spec.edges {
            let edge = &self.paths.edges[edge as usize];
            for &(upper, lower) in &edge.ends {
                let (Some(above), Some(below)) = (found.get(&upper), found.get(&lower)) else {
                    continue;
                };
                // Whatever the path reaches it reaches through the only node there is.
                if let [only] = above[..] {
                    edges.extend(
                        below
                            .iter()
                            .map(|&node| [edge.upper.0, edge.lower.0, only, node]),
                    );
                    continue;
                }
                let way = self.way(upper, lower);
                for &node in above {
                    let mut nodes = vec![node];
                    for &step in &way {
                        nodes = self.steps(self.paths.steps[step as usize].step, &nodes);
                    }
                    edges.extend(
                        nodes
                            .iter()
                            .map(|&far| [edge.upper.0, edge.lower.0, node, far]),
                    );
                }
            }
        }
        edges
    }

    /// The steps after one down to another.
    fn way(&self, upper: StepId, lower: StepId) -> Vec<StepId> {
        let mut way = Vec::new();
        let mut at = Some(lower);
        while let Some(step) = at
            && step != upper
        {
            way.push(step);
            at = self.paths.steps[step as usize].above;
        }
        way.reverse();
        way
    }

    /// Numbers the bound nodes in document order and collects what is needed of them.
    fn number(
        &self,
        bound: Vec<(u32, Vec<NodeId>)>,
        edges: Vec<[u32; 4]>,
        has_entities: bool,
    ) -> Witness {
        let mut needs: Vec<(NodeId, bool, bool)> = Vec::new();
        for (variable, nodes) in &bound {
            let spec = &self.paths.variables[*variable as usize];
            needs.extend(
                nodes
                    .iter()
                    .map(|&node| (node, spec.is_valued, spec.is_selected)),
            );
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
            .map(|(variable, node)| (variable, place(node)))
            .collect();
        let edges = edges
            .iter()
            .map(|&[one, two, above, below]| [one, two, place(above), place(below)]);
        let nodes = merged
            .iter()
            .map(|&(node, is_valued, is_selected)| WitnessNode {
                span: self.tree.nodes[node as usize].span,
                value: is_valued.then(|| self.tree.value(node).to_vec()),
                text: is_selected.then(|| selected(self.tree, node, has_entities)),
            });
        Witness {
            edges: edges.collect(),
            bindings,
            nodes: nodes.collect(),
        }
    }
}
