//! The paths of all variables, each distinct step once.

use crate::plan::{Axis, Builder, Plan, ProgramError, Step};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The number of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// The number of a step.
pub type StepId = u32;

/// A step of some path, under the step before it.
#[derive(Clone, Copy, Debug)]
pub struct PathStep {
    /// The step before; None at the document node.
    pub above: Option<StepId>,
    /// The way from there, the test and the condition.
    pub step: Step,
}

/// What is asked about a variable.
#[derive(Clone, Debug, Default)]
pub struct VariableSpec {
    /// The ends of its paths.
    pub ends: Vec<StepId>,
    /// Whether its string value is needed.
    pub is_valued: bool,
    /// Whether its text is needed.
    pub is_selected: bool,
}

/// Two variables, one above the other on the same path.
#[derive(Clone, Debug)]
pub struct EdgeSpec {
    /// The one above.
    pub upper: VariableId,
    /// The one below.
    pub lower: VariableId,
    /// The steps that they are bound at, on each of the paths.
    pub ends: Vec<(StepId, StepId)>,
}

/// What is asked of the documents of one stream, steps before those below them.
#[derive(Clone, Debug, Default)]
pub struct StreamSpec {
    pub steps: Vec<StepId>,
    pub variables: Vec<VariableId>,
    pub edges: Vec<u32>,
}

/// Collects paths.
#[derive(Default)]
pub struct Paths {
    builder: Builder,
    steps: Vec<PathStep>,
    step_ids: FxHashMap<(Option<StepId>, Step), StepId>,
    variables: Vec<VariableSpec>,
    streams: Vec<Option<Box<str>>>,
    edges: Vec<EdgeSpec>,
    edge_ids: FxHashMap<(VariableId, VariableId), u32>,
}

/// The paths as documents are read by them.
pub struct FrozenPaths {
    pub plan: Arc<Plan>,
    pub operand_steps: FxHashMap<u32, Vec<Step>>,
    pub steps: Vec<PathStep>,
    pub variables: Vec<VariableSpec>,
    pub edges: Vec<EdgeSpec>,
    streams: FxHashMap<Box<str>, StreamSpec>,
    every_stream: StreamSpec,
}

impl Paths {
    /// Admits a variable of a stream, or of every stream; no path leads to it yet.
    pub fn variable(&mut self, stream: Option<&str>) -> VariableId {
        self.variables.push(VariableSpec::default());
        self.streams.push(stream.map(Box::from));
        VariableId(self.variables.len() as u32 - 1)
    }

    /// Gives a variable its paths: those of a program.
    pub fn lead(&mut self, variable: VariableId, program: &[u8]) -> Result<(), ProgramError> {
        for (root, steps) in self.builder.add_paths(program)? {
            let end = self.steps_of(root, &steps).last().copied();
            self.variables[variable.0 as usize].ends.extend(end);
        }
        Ok(())
    }

    /// Says what is needed of a variable's nodes.
    pub fn need(&mut self, variable: VariableId, is_valued: bool, is_selected: bool) {
        let spec = &mut self.variables[variable.0 as usize];
        spec.is_valued |= is_valued;
        spec.is_selected |= is_selected;
    }

    /// Asks for the pairs of two variables. The lower one is at the end of the program's paths,
    /// the upper one after so many steps of each.
    pub fn edge(
        &mut self,
        upper: VariableId,
        lower: VariableId,
        program: &[u8],
        places: &[u32],
    ) -> Result<(), ProgramError> {
        if self.edge_ids.contains_key(&(upper, lower)) {
            return Ok(());
        }
        let mut ends = Vec::new();
        for ((root, steps), &place) in self.builder.add_paths(program)?.into_iter().zip(places) {
            let way = self.steps_of(root, &steps);
            let at = way
                .get(place as usize)
                .ok_or(ProgramError("an edge has no upper end"))?;
            ends.push((*at, way[way.len() - 1]));
        }
        self.edge_ids
            .insert((upper, lower), self.edges.len() as u32);
        self.edges.push(EdgeSpec { upper, lower, ends });
        Ok(())
    }

    /// The steps of a path, the one at the document node first.
    fn steps_of(&mut self, root: u32, steps: &[Step]) -> Vec<StepId> {
        let mut above = None;
        let mut way = Vec::with_capacity(steps.len() + 1);
        // The first test of every builder is the document node's.
        for &step in std::iter::once(&(Axis::Itself, 0, root)).chain(steps) {
            let next = self.steps.len() as StepId;
            let id = *self.step_ids.entry((above, step)).or_insert(next);
            if id == next {
                self.steps.push(PathStep { above, step });
            }
            way.push(id);
            above = Some(id);
        }
        way
    }

    /// The paths as they are now.
    pub fn freeze(&self) -> FrozenPaths {
        let named: Vec<&str> = self
            .streams
            .iter()
            .flatten()
            .map(|stream| &**stream)
            .collect();
        let streams = named
            .into_iter()
            .map(|stream| (stream.into(), self.stream(Some(stream))));
        FrozenPaths {
            plan: Arc::new(self.builder.freeze()),
            operand_steps: self.builder.operand_steps(),
            steps: self.steps.clone(),
            variables: self.variables.clone(),
            edges: self.edges.clone(),
            streams: streams.collect(),
            every_stream: self.stream(None),
        }
    }

    /// What is asked of the documents of a stream; None: of one that nobody names.
    fn stream(&self, stream: Option<&str>) -> StreamSpec {
        let asks = |variable: VariableId| {
            let own = self.streams[variable.0 as usize].as_deref();
            own.is_none() || own == stream
        };
        let mut needed = vec![false; self.steps.len()];
        let variables: Vec<VariableId> = (0..self.variables.len() as u32)
            .map(VariableId)
            .filter(|&variable| {
                asks(variable) && !self.variables[variable.0 as usize].ends.is_empty()
            })
            .collect();
        let edges: Vec<u32> = (0..self.edges.len() as u32)
            .filter(|&edge| asks(self.edges[edge as usize].lower))
            .collect();
        for variable in &variables {
            for &end in &self.variables[variable.0 as usize].ends {
                needed[end as usize] = true;
            }
        }
        for &edge in &edges {
            for &(upper, lower) in &self.edges[edge as usize].ends {
                needed[upper as usize] = true;
                needed[lower as usize] = true;
            }
        }
        // Steps come after those above them.
        for step in (0..self.steps.len()).rev() {
            if needed[step]
                && let Some(above) = self.steps[step].above
            {
                needed[above as usize] = true;
            }
        }
        let steps = (0..self.steps.len() as StepId).filter(|&step| needed[step as usize]);
        StreamSpec {
            steps: steps.collect(),
            variables,
            edges,
        }
    }
}

impl FrozenPaths {
    /// What is asked of the documents of a stream.
    pub fn stream(&self, name: &str) -> &StreamSpec {
        self.streams.get(name).unwrap_or(&self.every_stream)
    }
}
