//! Expressions of XPath 1.0, as the program of a table has them.

use crate::plan::{PartSpec, Patterns, ProgramError, Read, TestSpec};
use crate::vocabulary::{Axis, Comparison, NamePart, NodeKind, Op, PartKind};
use penstock_sequences::names::Names;
use penstock_sequences::tree::{self, Kind, NameTest, Test, UriTest};

crate::ids::ids! {
    /// An expression.
    ExprId,
}

/// An expression: a set of nodes, or an atom.
#[derive(Debug)]
pub enum Expr {
    Here,
    Root,
    Step {
        base: ExprId,
        axis: tree::Axis,
        test: Test,
        predicates: Box<[ExprId]>,
    },
    Filter(ExprId, Box<[ExprId]>),
    Union(Box<[ExprId]>),
    Text(Box<str>),
    Number(f64),
    Boolean(bool),
    Call(Op, Box<[ExprId]>),
    And(Box<[ExprId]>),
    Or(Box<[ExprId]>),
    Not(ExprId),
    Position,
    Last,
    Exists(ExprId),
    ComparePairs(Comparison, ExprId, ExprId),
    CompareSome {
        operator: Comparison,
        nodes: ExprId,
        value: ExprId,
        is_number: bool,
    },
    Count(ExprId),
    Sum(ExprId),
    String(ExprId),
    Name(NamePart, ExprId),
}

const UNKNOWN: ProgramError = ProgramError("an expression that tables do not have");

/// The expressions of patterns; names of tests go into a table.
pub fn expressions(patterns: &Patterns, names: &mut Names) -> Read<Vec<Expr>> {
    let tests: Vec<Test> = patterns
        .tests
        .iter()
        .map(|test| read_test(test, patterns, names))
        .collect::<Read<_>>()?;
    let parts = patterns.parts.iter();
    parts
        .map(|part| read_part(part, patterns, &tests))
        .collect()
}

fn read_part(part: &PartSpec, patterns: &Patterns, tests: &[Test]) -> Read<Expr> {
    let words = &part.words;
    let id = |place: usize| ExprId(words[place]);
    let ids = |from: usize| words[from..].iter().map(|&word| ExprId(word)).collect();
    let comparison = |word| Comparison::from_code(word).ok_or(UNKNOWN);
    Ok(match part.kind {
        PartKind::Text => {
            let text = &patterns.strings[words[0] as usize];
            Expr::Text(String::from_utf8_lossy(text).into())
        }
        PartKind::Number => Expr::Number(patterns.numbers[words[0] as usize]),
        PartKind::Boolean => Expr::Boolean(words[0] == 1),
        PartKind::Call => Expr::Call(Op::from_code(words[0]).ok_or(UNKNOWN)?, ids(1)),
        PartKind::And => Expr::And(ids(0)),
        PartKind::Or => Expr::Or(ids(0)),
        PartKind::Not => Expr::Not(id(0)),
        PartKind::Position => Expr::Position,
        PartKind::Last => Expr::Last,
        PartKind::Exists => Expr::Exists(id(0)),
        PartKind::ComparePairs => Expr::ComparePairs(comparison(words[0])?, id(1), id(2)),
        PartKind::CompareSome => Expr::CompareSome {
            operator: comparison(words[0])?,
            nodes: id(1),
            value: id(2),
            is_number: words[3] == 1,
        },
        PartKind::Count => Expr::Count(id(0)),
        PartKind::Sum => Expr::Sum(id(0)),
        PartKind::String => Expr::String(id(0)),
        PartKind::Name => Expr::Name(NamePart::from_code(words[0]).ok_or(UNKNOWN)?, id(1)),
        PartKind::Here => Expr::Here,
        PartKind::Root => Expr::Root,
        PartKind::Step => Expr::Step {
            base: id(0),
            axis: Axis::from_code(words[1]).and_then(axis_of).ok_or(UNKNOWN)?,
            test: tests[words[2] as usize].clone(),
            predicates: ids(3),
        },
        PartKind::Filter => Expr::Filter(id(0), ids(1)),
        PartKind::Union => Expr::Union(ids(0)),
        PartKind::Strings
        | PartKind::List
        | PartKind::Identified
        | PartKind::Beside
        | PartKind::Above => {
            return Err(UNKNOWN);
        }
    })
}

fn axis_of(axis: Axis) -> Option<tree::Axis> {
    Some(match axis {
        Axis::Itself => tree::Axis::SelfNode,
        Axis::Child => tree::Axis::Child,
        Axis::Descendant => tree::Axis::Descendant,
        Axis::DescendantOrSelf => tree::Axis::DescendantOrSelf,
        Axis::Attribute => tree::Axis::Attribute,
        Axis::Parent => tree::Axis::Parent,
        Axis::Ancestor => tree::Axis::Ancestor,
        Axis::AncestorOrSelf => tree::Axis::AncestorOrSelf,
        Axis::FollowingSibling => tree::Axis::FollowingSibling,
        Axis::PrecedingSibling => tree::Axis::PrecedingSibling,
        Axis::Following => tree::Axis::Following,
        Axis::Preceding => tree::Axis::Preceding,
        Axis::Namespace => return None,
    })
}

fn read_test(test: &TestSpec, patterns: &Patterns, names: &mut Names) -> Read<Test> {
    let kind = match test.kind {
        NodeKind::Any => None,
        NodeKind::Document => Some(Kind::Document),
        NodeKind::Element => Some(Kind::Element),
        NodeKind::Attribute => Some(Kind::Attribute),
        NodeKind::Text => Some(Kind::Text),
        NodeKind::Comment => Some(Kind::Comment),
        NodeKind::Instruction => Some(Kind::Instruction),
        NodeKind::Namespace => return Err(UNKNOWN),
    };
    let text = |place: u32| String::from_utf8_lossy(&patterns.strings[place as usize]);
    let local = test.local.map(|place| names.string(&text(place)));
    let uri_test = |names: &mut Names, place: u32| match text(place) {
        uri if uri.contains('*') => UriTest::Glob(uri.into()),
        uri => UriTest::Is(names.string(&uri)),
    };
    let uris = test.uris.as_ref().map(|uris| {
        let tests = uris.iter().map(|&place| uri_test(names, place));
        tests.collect::<Box<[UriTest]>>()
    });
    let name = match (local, uris) {
        (None, None) => NameTest::Any,
        (Some(local), None) => NameTest::Local(local),
        (Some(local), Some(uris)) => match &*uris {
            [UriTest::Is(uri)] => NameTest::Is(names.expanded(*uri, local)),
            _ => NameTest::Within(Some(local), uris),
        },
        (None, Some(uris)) => NameTest::Within(None, uris),
    };
    Ok(Test {
        kind,
        name,
        element: None,
    })
}
