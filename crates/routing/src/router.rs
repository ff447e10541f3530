//! Answers queries of servers from a header: true, false, or unknown.
//!
//! A query is a formula over views. It is evaluated in three-valued logic, in the order of its
//! parts: a false part decides a conjunction, whatever the others are. A server whose queries are all
//! decided is a hit; its document is not parsed.

use crate::header::{ConfigurationId, Entry, Header, Refusal};
use crate::operators::Test;
use crate::values::string_value;
use std::borrow::Cow;

/// Place of a view in its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewId(pub u32);

/// Place of a node among the nodes of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(pub u32);

/// What is known of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Truth {
    /// It does not hold.
    False = 0,
    /// It holds.
    True = 1,
    /// The header does not tell.
    Unknown = 2,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

/// A part of a formula; it refers to earlier nodes only.
#[derive(Clone, Debug)]
pub enum Node {
    /// True, false or unknown, whatever the document is.
    Constant(Truth),
    /// All of them hold.
    And(Box<[NodeId]>),
    /// One of them holds.
    Or(Box<[NodeId]>),
    /// It does not hold.
    Not(NodeId),
    /// The view has a node.
    Exists(ViewId),
    /// Something that is false if the view has no node, and unknown otherwise.
    Beyond(ViewId),
    /// The node of a view passes a test. If it is absent, nothing passes, or the empty string is
    /// tested instead.
    Passes {
        /// Whose node.
        view: ViewId,
        /// Place of the test.
        test: u32,
        /// Whether an absent node counts as an empty string.
        is_empty_if_absent: bool,
    },
    /// A fact about the parts of the node of a view, which the caller has to find out.
    Part {
        /// Whose node.
        view: ViewId,
        /// Place of the fact.
        fact: u32,
        /// What is known if the node is absent.
        if_absent: Truth,
    },
}

/// The queries of servers, for headers of one configuration.
pub struct Router {
    configuration: ConfigurationId,
    view_count: usize,
    tests: Vec<Test>,
    nodes: Vec<Node>,
    /// By server: its queries.
    servers: Vec<Box<[NodeId]>>,
}

/// How headers are used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Whether the whole document is compared with the checksum in its header.
    pub is_full: bool,
    /// Whether every server reads header and document for itself, as on a machine of its own.
    pub is_alone: bool,
    /// What the caller found out about parts, by fact.
    pub facts: &'a [Truth],
}

/// The answers to all queries of all servers.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// By query, one server's after the other's.
    pub queries: Vec<Truth>,
    /// Bytes of the document that were looked at.
    pub bytes_touched: u64,
}

/// The value of a view, when it was looked at.
enum Seen<'a> {
    Not,
    Value(Cow<'a, [u8]>),
    Unreadable,
}

/// One document under way.
struct Reading<'a> {
    header: &'a Header,
    document: &'a [u8],
    facts: &'a [Truth],
    values: Vec<Seen<'a>>,
    /// By node: what is known, if it was evaluated.
    known: &'a mut [Option<Truth>],
    /// Nodes that were evaluated.
    visited: &'a mut Vec<NodeId>,
    bytes_touched: u64,
    refusal: Option<Refusal>,
}

impl Router {
    /// A router; None if a node refers to a view, test or node that there is not.
    pub fn new(
        configuration: ConfigurationId,
        view_count: usize,
        tests: Vec<Test>,
        nodes: Vec<Node>,
        servers: Vec<Box<[NodeId]>>,
    ) -> Option<Router> {
        let has_view = |view: &ViewId| (view.0 as usize) < view_count;
        let is_valid = |(place, node): (usize, &Node)| {
            let is_earlier = |node: &NodeId| (node.0 as usize) < place;
            match node {
                Node::Constant(_) => true,
                Node::And(parts) | Node::Or(parts) => parts.iter().all(is_earlier),
                Node::Not(part) => is_earlier(part),
                Node::Exists(view) | Node::Beyond(view) => has_view(view),
                Node::Passes { view, test, .. } => has_view(view) && (*test as usize) < tests.len(),
                Node::Part { view, .. } => has_view(view),
            }
        };
        let mut queries = servers.iter().flatten();
        let are_valid = nodes.iter().enumerate().all(is_valid)
            && queries.all(|query| (query.0 as usize) < nodes.len());
        are_valid.then_some(Router {
            configuration,
            view_count,
            tests,
            nodes,
            servers,
        })
    }

    /// What a header tells about all queries.
    pub fn decide(
        &self,
        header: &[u8],
        document: &[u8],
        options: Options<'_>,
    ) -> Result<Answers, Refusal> {
        let mut known = vec![None; self.nodes.len()];
        let mut visited = Vec::new();
        let mut answers = Answers::default();
        let group = if options.is_alone {
            1
        } else {
            self.servers.len().max(1)
        };
        for servers in self.servers.chunks(group) {
            let read = self.checked(header, document, options.is_full)?;
            let mut reading = Reading {
                header: &read,
                document,
                facts: options.facts,
                values: (0..self.view_count).map(|_| Seen::Not).collect(),
                known: &mut known,
                visited: &mut visited,
                bytes_touched: 0,
                refusal: None,
            };
            for &query in servers.iter().flatten() {
                answers.queries.push(reading.evaluate(self, query));
            }
            if let Some(refusal) = reading.refusal {
                return Err(refusal);
            }
            answers.bytes_touched += match options.is_full {
                true => document.len() as u64,
                false => reading.bytes_touched,
            };
            for node in visited.drain(..) {
                known[node.0 as usize] = None;
            }
        }
        Ok(answers)
    }

    fn checked(&self, header: &[u8], document: &[u8], is_full: bool) -> Result<Header, Refusal> {
        let header = Header::read(header)?;
        if header.configuration != self.configuration {
            return Err(Refusal::Configuration);
        }
        header.check(document, is_full)?;
        if header.entries.len() != self.view_count {
            return Err(Refusal::Configuration);
        }
        Ok(header)
    }
}

impl Reading<'_> {
    fn evaluate(&mut self, router: &Router, id: NodeId) -> Truth {
        if let Some(truth) = self.known[id.0 as usize] {
            return truth;
        }
        let truth = match &router.nodes[id.0 as usize] {
            Node::Constant(truth) => *truth,
            Node::And(parts) => self.combine(router, parts, Truth::False, Truth::True),
            Node::Or(parts) => self.combine(router, parts, Truth::True, Truth::False),
            Node::Not(part) => match self.evaluate(router, *part) {
                Truth::False => Truth::True,
                Truth::True => Truth::False,
                Truth::Unknown => Truth::Unknown,
            },
            Node::Exists(view) => match self.entry(*view) {
                Entry::Absent => Truth::False,
                Entry::One(_) | Entry::Many | Entry::Hidden => Truth::True,
            },
            Node::Beyond(view) => match self.entry(*view) {
                Entry::Absent => Truth::False,
                _ => Truth::Unknown,
            },
            Node::Passes {
                view,
                test,
                is_empty_if_absent,
            } => {
                let test = &router.tests[*test as usize];
                match self.entry(*view) {
                    Entry::Absent => Truth::from(*is_empty_if_absent && test.passes(b"")),
                    _ => self.test(*view, test),
                }
            }
            Node::Part {
                view,
                fact,
                if_absent,
            } => match self.entry(*view) {
                Entry::Absent => *if_absent,
                _ => self
                    .facts
                    .get(*fact as usize)
                    .copied()
                    .unwrap_or(Truth::Unknown),
            },
        };
        self.known[id.0 as usize] = Some(truth);
        self.visited.push(id);
        truth
    }

    /// A conjunction or a disjunction: the deciding truth as soon as a part has it.
    fn combine(
        &mut self,
        router: &Router,
        parts: &[NodeId],
        deciding: Truth,
        other: Truth,
    ) -> Truth {
        let mut truth = other;
        for &part in parts {
            match self.evaluate(router, part) {
                found if found == deciding => return deciding,
                Truth::Unknown => truth = Truth::Unknown,
                _ => {}
            }
        }
        truth
    }

    fn entry(&self, view: ViewId) -> Entry {
        self.header.entries[view.0 as usize]
    }

    /// Whether the node of a view, which is not absent, passes a test.
    fn test(&mut self, view: ViewId, test: &Test) -> Truth {
        let Entry::One(place) = self.entry(view) else {
            return Truth::Unknown;
        };
        let document = self.document;
        let seen = &mut self.values[view.0 as usize];
        if let Seen::Not = seen {
            *seen = match place.bytes_in(document) {
                Some(bytes) => {
                    self.bytes_touched += bytes.len() as u64;
                    string_value(place.kind, bytes).map_or(Seen::Unreadable, Seen::Value)
                }
                None => {
                    self.refusal = Some(Refusal::Range);
                    Seen::Unreadable
                }
            };
        }
        match seen {
            Seen::Value(value) => Truth::from(test.passes(value)),
            _ => Truth::Unknown,
        }
    }
}
