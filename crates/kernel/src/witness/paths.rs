//! The paths of all variables as a trie of steps, each distinct step once in each stream.
//!
//! Whoever asks holds what he asks for, and what nobody holds any more is gone: a change costs what
//! its paths cost, whatever else there is.

use super::formulas::{Formulas, Step, Tables};
use super::nodetests::{NodeTest, TestId};
use crate::counted::Counted;
use crate::plan::{Axis, Patterns, ProgramError};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// The number of a step.
pub type StepId = u32;

/// What a step is under: another step, or the document node of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Above {
    Stream(u32),
    Step(StepId),
}

/// What hangs on a step.
#[derive(Clone, Debug, Default)]
pub struct Below {
    /// The steps under it.
    pub steps: Vec<StepId>,
    /// The variables that are bound there.
    pub variables: SmallVec<[VariableId; 1]>,
    /// Its place among the steps beside it.
    place: u32,
}

/// What is asked about a variable.
#[derive(Clone, Debug, Default)]
struct VariableSpec {
    stream: u32,
    /// The ends of its paths.
    ends: SmallVec<[StepId; 1]>,
    /// How many need its string value.
    valued: u32,
    /// How many need its text.
    selected: u32,
    /// The edges whose lower variable it is.
    edges: SmallVec<[u32; 1]>,
}

/// Two variables, one above the other on the same path.
#[derive(Clone, Debug)]
pub struct EdgeSpec {
    /// The one above.
    pub upper: VariableId,
    /// The steps that they are bound at, on each of the paths.
    pub ends: SmallVec<[(StepId, StepId); 1]>,
}

/// The paths of one stream, or of those that nobody names.
#[derive(Clone, Debug, Default)]
struct StreamSpec {
    roots: Vec<StepId>,
    /// Variables whose texts are needed.
    selected: u32,
}

/// How much there is, for whoever watches that nothing is left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSizes {
    /// Distinct steps.
    pub steps: usize,
    /// Distinct conditions.
    pub formulas: usize,
    /// Distinct node tests.
    pub tests: usize,
    /// Edges between variables.
    pub edges: usize,
    /// Streams, and those of no name as one.
    pub streams: usize,
}

/// The paths that somebody asks for.
#[derive(Default)]
pub struct Paths {
    pub(super) formulas: Formulas,
    steps: Counted<(Above, Step)>,
    below: Vec<Below>,
    /// The steps under a step that have a test.
    tested: FxHashMap<(StepId, TestId), SmallVec<[StepId; 1]>>,
    variables: Vec<VariableSpec>,
    streams: Counted<Option<Box<str>>>,
    stream_specs: Vec<StreamSpec>,
    edges: Counted<(VariableId, VariableId)>,
    edge_specs: Vec<EdgeSpec>,
}

impl Paths {
    /// Admits a variable of a stream, or of every stream; no path leads to it yet.
    pub fn admit(&mut self, variable: VariableId, stream: Option<&str>) {
        let (stream, _) = self.streams.hold(stream.map(Box::from));
        grow(&mut self.stream_specs, stream);
        grow(&mut self.variables, variable.0);
        self.variables[variable.0 as usize].stream = stream;
    }

    /// Gives a variable its paths: those of patterns.
    pub fn lead(&mut self, variable: VariableId, patterns: &[u8]) -> Result<(), ProgramError> {
        let patterns = Patterns::read(patterns)?;
        let tables = self.formulas.hold(&patterns)?;
        for path in &patterns.paths {
            let way = self.hold_way(variable, &tables, path.root, &path.steps);
            if let Some(&end) = way.last() {
                self.below[end as usize].variables.push(variable);
                self.variables[variable.0 as usize].ends.push(end);
            }
        }
        self.formulas.release(&tables);
        Ok(())
    }

    /// Dismisses a variable: its paths are gone. Its needs and edges were given up before.
    pub fn dismiss(&mut self, variable: VariableId) {
        let spec = std::mem::take(&mut self.variables[variable.0 as usize]);
        for end in spec.ends {
            self.below[end as usize]
                .variables
                .retain(|one| *one != variable);
            self.release_way(end);
        }
        self.streams.release(spec.stream);
    }

    /// Says what somebody needs of a variable's nodes.
    pub fn need(&mut self, variable: VariableId, is_valued: bool, is_selected: bool) {
        let spec = &mut self.variables[variable.0 as usize];
        spec.valued += u32::from(is_valued);
        spec.selected += u32::from(is_selected);
        self.stream_specs[spec.stream as usize].selected += u32::from(is_selected);
    }

    /// Takes back what `need` said.
    pub fn need_no_more(&mut self, variable: VariableId, is_valued: bool, is_selected: bool) {
        let spec = &mut self.variables[variable.0 as usize];
        spec.valued -= u32::from(is_valued);
        spec.selected -= u32::from(is_selected);
        self.stream_specs[spec.stream as usize].selected -= u32::from(is_selected);
    }

    /// Asks for the pairs of two variables once more. The lower one is at the end of the
    /// patterns' paths, the upper one after so many steps of each.
    pub fn hold_edge(
        &mut self,
        upper: VariableId,
        lower: VariableId,
        patterns: &[u8],
        places: &[u32],
    ) -> Result<(), ProgramError> {
        let (edge, is_new) = self.edges.hold((upper, lower));
        if !is_new {
            return Ok(());
        }
        let ends = self.edge_ends(lower, patterns, places);
        let ends = ends.inspect_err(|_| {
            self.edges.release(edge);
        })?;
        let spec = EdgeSpec { upper, ends };
        if edge as usize == self.edge_specs.len() {
            self.edge_specs.push(spec);
        } else {
            self.edge_specs[edge as usize] = spec;
        }
        self.variables[lower.0 as usize].edges.push(edge);
        Ok(())
    }

    fn edge_ends(
        &mut self,
        lower: VariableId,
        patterns: &[u8],
        places: &[u32],
    ) -> Result<SmallVec<[(StepId, StepId); 1]>, ProgramError> {
        let patterns = Patterns::read(patterns)?;
        let missing = ProgramError("an edge has no upper end");
        let paths = patterns.paths.iter().zip(places);
        if paths
            .clone()
            .any(|(path, &at)| at as usize > path.steps.len())
        {
            return Err(missing);
        }
        let tables = self.formulas.hold(&patterns)?;
        let mut ends = SmallVec::new();
        for (path, &place) in paths {
            let way = self.hold_way(lower, &tables, path.root, &path.steps);
            ends.push((way[place as usize], way[way.len() - 1]));
        }
        self.formulas.release(&tables);
        Ok(ends)
    }

    /// Asks for the pairs of two variables once less.
    pub fn release_edge(&mut self, upper: VariableId, lower: VariableId) {
        let Some(edge) = self.edges.id(&(upper, lower)) else {
            return;
        };
        if self.edges.release(edge).is_none() {
            return;
        }
        self.variables[lower.0 as usize]
            .edges
            .retain(|one| *one != edge);
        let ends = std::mem::take(&mut self.edge_specs[edge as usize].ends);
        for (_, end) in ends {
            self.release_way(end);
        }
    }

    /// Holds the steps of a path; returns them, the one at the document node first.
    fn hold_way(
        &mut self,
        variable: VariableId,
        tables: &Tables,
        root: u32,
        steps: &[(Axis, u32, u32)],
    ) -> Vec<StepId> {
        let document = self.formulas.tests.hold(NodeTest::DOCUMENT);
        let mut above = Above::Stream(self.variables[variable.0 as usize].stream);
        let mut way = Vec::with_capacity(steps.len() + 1);
        let first = (Axis::Itself, document, tables.formulas[root as usize]);
        let steps = steps.iter().map(|step| tables.step(step));
        for step in std::iter::once(first).chain(steps) {
            let (id, is_new) = self.steps.hold((above, step));
            if is_new {
                self.formulas.hold_step(step);
                grow(&mut self.below, id);
                self.put(above, step.1, id);
            } else if let Above::Step(above) = above {
                // A step holds the one above it once, however often it is held itself.
                self.steps.release(above);
            }
            way.push(id);
            above = Above::Step(id);
        }
        self.formulas.tests.release(document);
        way
    }

    /// Puts a new step among those beside it.
    fn put(&mut self, above: Above, test: TestId, step: StepId) {
        let beside = match above {
            Above::Stream(stream) => &mut self.stream_specs[stream as usize].roots,
            Above::Step(above) => {
                self.tested.entry((above, test)).or_default().push(step);
                &mut self.below[above as usize].steps
            }
        };
        beside.push(step);
        let place = beside.len() as u32 - 1;
        self.below[step as usize].place = place;
    }

    /// Gives up a step once; where nobody holds it, the one above it as well.
    fn release_way(&mut self, end: StepId) {
        let mut at = end;
        while let Some(gone) = self.steps.release(at) {
            let (above, step) = *gone;
            self.formulas.release_step(step);
            let place = std::mem::take(&mut self.below[at as usize]).place as usize;
            let beside = match above {
                Above::Stream(stream) => &mut self.stream_specs[stream as usize].roots,
                Above::Step(above) => &mut self.below[above as usize].steps,
            };
            beside.swap_remove(place);
            if let Some(&moved) = beside.get(place) {
                self.below[moved as usize].place = place as u32;
            }
            let Above::Step(above) = above else {
                return;
            };
            let key = (above, step.1);
            if let Some(same) = self.tested.get_mut(&key) {
                same.retain(|one| *one != at);
                if same.is_empty() {
                    self.tested.remove(&key);
                }
            }
            at = above;
        }
    }

    /// How much there is.
    pub fn sizes(&self) -> PathSizes {
        PathSizes {
            steps: self.steps.len(),
            formulas: self.formulas.len(),
            tests: self.formulas.tests.len(),
            edges: self.edges.len(),
            streams: self.streams.len(),
        }
    }

    /// The first steps of the paths that concern a stream.
    pub(super) fn roots(&self, stream: &str) -> impl Iterator<Item = StepId> + '_ {
        let specs = self.stream_specs(stream);
        specs.flat_map(|spec| spec.roots.iter().copied())
    }

    /// Whether somebody needs texts of nodes of a stream.
    pub(super) fn is_selected_from(&self, stream: &str) -> bool {
        self.stream_specs(stream).any(|spec| spec.selected > 0)
    }

    fn stream_specs(&self, stream: &str) -> impl Iterator<Item = &StreamSpec> + '_ {
        let named = self.streams.id(&Some(stream.into()));
        let ids = named.into_iter().chain(self.streams.id(&None));
        ids.map(|id| &self.stream_specs[id as usize])
    }

    /// The way of a step from the one above it.
    pub(super) fn step(&self, step: StepId) -> Option<Step> {
        self.steps.get(step).map(|one| one.1)
    }

    /// The step above a step.
    pub(super) fn above(&self, step: StepId) -> Option<StepId> {
        match self.steps.get(step)?.0 {
            Above::Step(above) => Some(above),
            Above::Stream(_) => None,
        }
    }

    /// What hangs on a step.
    #[inline]
    pub(super) fn below(&self, step: StepId) -> &Below {
        &self.below[step as usize]
    }

    /// The steps under a step that have a test.
    pub(super) fn tested(&self, step: StepId, test: TestId) -> &[StepId] {
        let steps = self.tested.get(&(step, test));
        steps.map_or(&[], |steps| steps.as_slice())
    }

    /// Whether the string value and the text of a variable's nodes are needed.
    pub(super) fn needs(&self, variable: VariableId) -> (bool, bool) {
        let spec = &self.variables[variable.0 as usize];
        (spec.valued > 0, spec.selected > 0)
    }

    /// The edges whose lower variable this is.
    pub(super) fn edges_to(&self, variable: VariableId) -> impl Iterator<Item = &EdgeSpec> + '_ {
        let edges = self.variables[variable.0 as usize].edges.iter();
        edges.map(|&edge| &self.edge_specs[edge as usize])
    }
}

/// Makes room for a number.
fn grow<T: Default + Clone>(table: &mut Vec<T>, number: u32) {
    if table.len() <= number as usize {
        table.resize(number as usize + 1, T::default());
    }
}
