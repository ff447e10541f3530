//! Joins with what they ask documents for: subscriptions come as programs and go again.
//!
//! A program is one compiled query: the variables with their paths, what is needed of their nodes,
//! the edges between them, and the rows. Equal variables of different queries are one variable. A
//! program is read forward, after what every program begins with: everything is a varint but the
//! bytes of strings; a string is its length and its bytes.
//!
//! ```text
//! publishes: 0, or 1 and the stream that results are published on
//! output:    a string, for whoever makes something of the results
//! variables: count, each: stream (0, or 1 and a string), key, paths (patterns, or nothing),
//!            needs (1 the value, 2 the text)
//! edges:     count, each: upper, lower, paths (nothing: those of the lower variable), places
//! templates: count, each: count, words
//! rows:      count, each: count, words as `program` reads them
//! ```

use crate::codes::Kind;
use crate::joins::{Joins, Options};
use crate::plan::{StageId, StreamId};
use crate::program::Row;
use penstock_kernel::counted::Counted;
use penstock_kernel::plan::{ProgramError, Read, Reader, Request, SubscriptionId};
use penstock_kernel::witness::{Paths, SharedPaths, VariableId};
use rustc_hash::FxHashMap;

const IS_VALUED: u32 = 1;
const IS_SELECTED: u32 = 2;

/// A stream, or every one of them, and what tells the variable from others there.
#[derive(Debug, PartialEq, Eq, Hash)]
struct VariableKey {
    stream: Option<Box<str>>,
    key: Box<[u8]>,
    /// The version from which on its subscriptions see documents, where that tells partial
    /// matches apart.
    since: u32,
}

/// What a subscription holds: variables with the needs of their nodes, edges, templates.
#[derive(Debug, Default)]
struct Held {
    variables: Vec<(u32, u32)>,
    edges: Vec<(u32, u32)>,
    templates: Vec<u32>,
}

/// The joins of all subscriptions, and the paths that they ask for.
pub struct Subscribed {
    /// What documents are asked for, by the sessions that read them.
    pub paths: SharedPaths,
    /// What becomes of their records.
    pub joins: Joins,
    variables: Counted<VariableKey>,
    streams: FxHashMap<Box<str>, StreamId>,
    templates: Counted<Box<[u32]>>,
    held: FxHashMap<SubscriptionId, Held>,
}

/// A query as it is written in a program.
struct Program<'a> {
    variables: Vec<VariableSpec<'a>>,
    edges: Vec<EdgeSpec<'a>>,
    templates: Vec<Box<[u32]>>,
    rows: Vec<Row>,
}

struct VariableSpec<'a> {
    stream: Option<&'a str>,
    key: &'a [u8],
    paths: &'a [u8],
    needs: u32,
}

struct EdgeSpec<'a> {
    upper: u32,
    lower: u32,
    paths: &'a [u8],
    places: Vec<u32>,
}

impl Subscribed {
    /// No subscriptions yet.
    pub fn new(options: Options) -> Self {
        Subscribed::of(Joins::new(options))
    }

    /// No subscriptions yet, of joins that have none.
    pub fn of(joins: Joins) -> Self {
        Subscribed {
            paths: SharedPaths::default(),
            joins,
            variables: Counted::default(),
            streams: FxHashMap::default(),
            templates: Counted::default(),
            held: FxHashMap::default(),
        }
    }

    /// The number of a stream.
    pub fn stream(&mut self, name: &str) -> StreamId {
        let next = StreamId(self.streams.len() as u32);
        *self.streams.entry(name.into()).or_insert(next)
    }

    /// The number of a variable, if somebody asks for it.
    pub fn variable(&self, stream: Option<&str>, key: &[u8]) -> Option<u32> {
        self.variables.id(&VariableKey {
            stream: stream.map(Box::from),
            key: key.into(),
            since: 0,
        })
    }

    /// How many distinct variables there are.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Adds a subscription, which sees documents from `version` on. A program that is refused
    /// leaves nothing behind.
    pub fn add(&mut self, subscription: SubscriptionId, version: u32, program: &[u8]) -> Read<()> {
        let program = Program::read(program)?;
        if self.held.contains_key(&subscription) {
            return Err(ProgramError("there is such a subscription already"));
        }
        let mut held = Held::default();
        let paths = self.paths.clone();
        let added = self.ask(&mut paths.write(), &program, version, &mut held);
        if added.is_ok() {
            self.add_rows(subscription, version, program, &mut held);
        }
        self.held.insert(subscription, held);
        if added.is_err() {
            self.remove(subscription);
        }
        added
    }

    /// Asks documents for what a program needs of them.
    fn ask(
        &mut self,
        paths: &mut Paths,
        program: &Program<'_>,
        version: u32,
        held: &mut Held,
    ) -> Read<()> {
        held.variables.reserve_exact(program.variables.len());
        let partials = program.partials_of_absences();
        for (place, spec) in (0..).zip(&program.variables) {
            let since = if partials.contains(&place) {
                version
            } else {
                0
            };
            let (number, is_new) = self.hold_variable(paths, spec, since);
            held.variables.push((number, spec.needs));
            let (is_valued, is_selected) = needs_of(spec.needs);
            let variable = VariableId(number);
            paths.need(variable, is_valued, is_selected);
            if is_new && !spec.paths.is_empty() {
                paths.lead(variable, spec.paths)?;
            }
        }
        held.edges.reserve_exact(program.edges.len());
        for spec in &program.edges {
            let number = |place: u32| held.variables[place as usize].0;
            let pair = (number(spec.upper), number(spec.lower));
            let program = match spec.paths {
                [] => program.variables[spec.lower as usize].paths,
                own => own,
            };
            let (upper, lower) = (VariableId(pair.0), VariableId(pair.1));
            paths.hold_edge(upper, lower, program, &spec.places)?;
            held.edges.push(pair);
        }
        Ok(())
    }

    fn add_rows(
        &mut self,
        subscription: SubscriptionId,
        version: u32,
        program: Program<'_>,
        held: &mut Held,
    ) {
        held.templates.reserve_exact(program.templates.len());
        for words in program.templates {
            held.templates.push(self.templates.hold(words).0);
        }
        for mut row in program.rows {
            row.template = held.templates[row.template as usize];
            for variable in row.variables.iter_mut().chain(&mut row.output) {
                *variable = held.variables[*variable as usize].0;
            }
            self.joins.add(subscription, version, row);
        }
    }

    fn hold_variable(
        &mut self,
        paths: &mut Paths,
        spec: &VariableSpec<'_>,
        since: u32,
    ) -> (u32, bool) {
        let (number, is_new) = self.variables.hold(VariableKey {
            stream: spec.stream.map(Box::from),
            key: spec.key.into(),
            since,
        });
        if is_new {
            paths.admit(VariableId(number), spec.stream);
            let stream = self.stream(spec.stream.unwrap_or(""));
            self.joins.admit_variable(number, stream);
        }
        (number, is_new)
    }

    /// The numbers of a subscription's variables and rows, in the order of its program.
    pub fn numbers_of(&self, subscription: SubscriptionId) -> (Vec<u32>, Vec<StageId>) {
        let held = self.held.get(&subscription);
        let variables = held.map(|held| held.variables.iter().map(|one| one.0).collect());
        let rows = self.joins.plan.stages_of(subscription);
        (variables.unwrap_or_default(), rows.to_vec())
    }

    /// The numbers that new variables and new rows get, the last one first.
    pub fn vacant(&self) -> (Vec<u32>, Vec<StageId>) {
        let rows = self.joins.plan.vacant();
        (self.variables.vacant().to_vec(), rows.to_vec())
    }

    /// Says which numbers new variables and new rows get, the last one first.
    pub fn vacate(&mut self, variables: &[u32], rows: &[StageId]) {
        self.variables.vacate(variables);
        self.joins.plan.vacate(rows);
    }

    /// Removes a subscription, and with it everything that nobody else asks for.
    pub fn remove(&mut self, subscription: SubscriptionId) {
        self.joins.remove(subscription);
        let Some(held) = self.held.remove(&subscription) else {
            return;
        };
        let mut paths = self.paths.write();
        for &(upper, lower) in &held.edges {
            paths.release_edge(VariableId(upper), VariableId(lower));
        }
        for &(variable, needs) in &held.variables {
            let (is_valued, is_selected) = needs_of(needs);
            paths.need_no_more(VariableId(variable), is_valued, is_selected);
            if self.variables.release(variable).is_some() {
                paths.dismiss(VariableId(variable));
            }
        }
        for &template in &held.templates {
            self.templates.release(template);
        }
    }
}

fn needs_of(needs: u32) -> (bool, bool) {
    (needs & IS_VALUED != 0, needs & IS_SELECTED != 0)
}

impl<'a> Program<'a> {
    fn read(bytes: &'a [u8]) -> Read<Program<'a>> {
        let (Request::Records, mut r) = Request::of(bytes)? else {
            return Err(ProgramError("it requests no records"));
        };
        // What becomes of results is not decided here.
        stream(&mut r)?;
        r.bytes()?;
        let variables = r.many(|r, _| {
            Ok(VariableSpec {
                stream: stream(r)?,
                key: r.bytes()?,
                paths: r.bytes()?,
                needs: r.word()?,
            })
        })?;
        let count = variables.len();
        let edges = r.many(|r, _| {
            Ok(EdgeSpec {
                upper: r.below(count)?,
                lower: r.below(count)?,
                paths: r.bytes()?,
                places: words(r)?,
            })
        })?;
        let templates: Vec<Box<[u32]>> = r.many(|r, _| Ok(words(r)?.into()))?;
        let rows = r.many(|r, _| Row::read(&words(r)?, count, templates.len()))?;
        r.end()?;
        Ok(Program {
            variables,
            edges,
            templates,
            rows,
        })
    }
}

impl Program<'_> {
    /// The variables of partial matches, if the query is a chain with an absence. What has no
    /// partner depends on the documents that somebody has seen, so those who came at different
    /// times share no partial matches.
    fn partials_of_absences(&self) -> Vec<u32> {
        let is_absence = |row: &Row| row.shape.kind == Some(Kind::NotFollowedBy);
        if !self.rows.iter().any(is_absence) {
            return Vec::new();
        }
        let outputs = self.rows.iter().flat_map(|row| row.output.iter());
        outputs.copied().collect()
    }
}

fn stream<'a>(r: &mut Reader<'a>) -> Read<Option<&'a str>> {
    match r.word()? {
        0 => Ok(None),
        _ => r.text().map(Some),
    }
}

fn words(r: &mut Reader<'_>) -> Read<Vec<u32>> {
    r.many(|r, _| r.word())
}
