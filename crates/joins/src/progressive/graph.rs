//! Which streams join, and on what: the equalities that drive the search, and further comparisons.

use std::fmt;

/// So many streams join at most.
pub const STREAMS_MAX: usize = 8;

/// A stream of bindings, by its place in the join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Its place in lists of streams.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A list of values that each binding of a stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attribute {
    /// The stream.
    pub stream: StreamId,
    /// Which of the stream's attributes.
    pub number: u32,
}

/// Two attributes have a value in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equality {
    /// One side.
    pub left: Attribute,
    /// The other side, of another stream.
    pub right: Attribute,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// They differ.
    NotEqual,
    /// The left one is less.
    Less,
    /// The left one is not greater.
    LessOrEqual,
    /// The left one is greater.
    Greater,
    /// The left one is not less.
    GreaterOrEqual,
}

/// What values are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Strings, by code points.
    Text,
    /// Numbers; what is no number compares with nothing.
    Number,
}

/// Some value of one attribute and some value of the other one compare like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The left side.
    pub left: Attribute,
    /// How.
    pub operator: Operator,
    /// The right side, of another stream.
    pub right: Attribute,
    /// As what.
    pub kind: ValueKind,
}

/// Why streams cannot be joined like this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphFault {
    /// Too few or too many streams.
    StreamCount(usize),
    /// There is no such attribute.
    NoAttribute(Attribute),
    /// Both sides are of one stream.
    OneStream(StreamId),
    /// No chain of equalities leads from the first stream to this one.
    CrossProduct(StreamId),
}

impl fmt::Display for GraphFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphFault::StreamCount(count) => {
                write!(f, "a join has 2 to {STREAMS_MAX} streams, not {count}")
            }
            GraphFault::NoAttribute(attribute) => write!(
                f,
                "stream {} has no attribute {}",
                attribute.stream.0, attribute.number
            ),
            GraphFault::OneStream(stream) => {
                write!(f, "both sides are of stream {}: filter it before", stream.0)
            }
            GraphFault::CrossProduct(stream) => write!(
                f,
                "stream {} is joined by no equality: a cross product grows without bound; \
                 add an equality with one of the other streams",
                stream.0
            ),
        }
    }
}

impl std::error::Error for GraphFault {}

/// The streams of a join and the conditions between them.
#[derive(Clone, Debug)]
pub struct JoinGraph {
    attribute_counts: Vec<u32>,
    comparisons: Vec<Comparison>,
    /// For each ordered pair of streams the attributes that have a value in common.
    edges: Vec<Vec<(u32, u32)>>,
    /// How far apart the event times of a tuple's parts may be.
    within: Option<i64>,
}

impl JoinGraph {
    /// A graph over streams with so many attributes each.
    ///
    /// # Errors
    /// A side does not exist, or some streams would give a cross product.
    pub fn new(
        attribute_counts: Vec<u32>,
        equalities: &[Equality],
        comparisons: Vec<Comparison>,
        within: Option<i64>,
    ) -> Result<Self, GraphFault> {
        let count = attribute_counts.len();
        if !(2..=STREAMS_MAX).contains(&count) {
            return Err(GraphFault::StreamCount(count));
        }
        let sides = equalities.iter().map(|edge| (edge.left, edge.right));
        let further = comparisons.iter().map(|edge| (edge.left, edge.right));
        for (left, right) in sides.chain(further) {
            for side in [left, right] {
                let known = attribute_counts.get(side.stream.index());
                if known.is_none_or(|&attributes| side.number >= attributes) {
                    return Err(GraphFault::NoAttribute(side));
                }
            }
            if left.stream == right.stream {
                return Err(GraphFault::OneStream(left.stream));
            }
        }
        let mut graph = JoinGraph {
            attribute_counts,
            comparisons,
            edges: vec![Vec::new(); count * count],
            within,
        };
        for edge in equalities {
            for (from, to) in [(edge.left, edge.right), (edge.right, edge.left)] {
                let at = from.stream.index() * count + to.stream.index();
                graph.edges[at].push((from.number, to.number));
            }
        }
        let order = graph.connected_order(StreamId(0), |stream| stream.index() as u64);
        match graph.streams().find(|stream| !order.contains(stream)) {
            Some(stream) => Err(GraphFault::CrossProduct(stream)),
            None => Ok(graph),
        }
    }

    /// All streams.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + use<> {
        (0..self.attribute_counts.len() as u8).map(StreamId)
    }

    /// How many streams there are.
    pub fn stream_count(&self) -> usize {
        self.attribute_counts.len()
    }

    /// How many attributes a stream has.
    pub fn attribute_count(&self, stream: StreamId) -> u32 {
        self.attribute_counts[stream.index()]
    }

    /// The attributes of one stream and of the other one that have a value in common.
    pub fn edges(&self, from: StreamId, to: StreamId) -> &[(u32, u32)] {
        &self.edges[from.index() * self.stream_count() + to.index()]
    }

    /// The further comparisons.
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// How far apart event times may be.
    pub fn within(&self) -> Option<i64> {
        self.within
    }

    /// Streams from one on, each joined with one before it; of several those of the least weight.
    /// Streams that no equality leads to are left out.
    pub fn connected_order(
        &self,
        first: StreamId,
        weight: impl Fn(StreamId) -> u64,
    ) -> Vec<StreamId> {
        let mut order = vec![first];
        loop {
            let next = self
                .streams()
                .filter(|&to| !order.contains(&to))
                .filter(|&to| order.iter().any(|&from| !self.edges(from, to).is_empty()))
                .min_by_key(|&to| weight(to));
            match next {
                Some(stream) => order.push(stream),
                None => return order,
            }
        }
    }
}
