"""The one intermediate representation of all query languages.

A query is a set of blocks (twigs over one stream each), a join graph over their variables, an
output template and a table of constants. XPath uses one block and no joins; XQuery and XSCL use
the rest. Everything is a frozen dataclass: equal queries compare equal and hash alike, and
constants sit in slots apart from the structure, so queries of one shape differ in slots only.
"""

from penstock.twigs.expressions import (
    FALSE,
    TRUE,
    And,
    AtRoot,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    NameOf,
    Not,
    Or,
    Selection,
    Slot,
    StringOf,
    TwigNode,
    ValueType,
    type_of,
)
from penstock.twigs.joins import Comparison, Join, JoinKind, Operand, PathTerm
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.outputs import (
    Aggregate,
    Element,
    Event,
    Fragments,
    Group,
    Insert,
    Literal,
    Message,
    Output,
    Value,
)
from penstock.twigs.queries import Block, Query

__all__ = [
    "FALSE",
    "TRUE",
    "Aggregate",
    "And",
    "AtRoot",
    "Axis",
    "Block",
    "Branch",
    "Call",
    "Compare",
    "Comparison",
    "Condition",
    "Constant",
    "Element",
    "Event",
    "Exists",
    "Fragments",
    "Group",
    "Insert",
    "Join",
    "JoinKind",
    "Literal",
    "Message",
    "NameOf",
    "NodeKind",
    "NodeTest",
    "Not",
    "Operand",
    "Or",
    "Output",
    "PathTerm",
    "Query",
    "Selection",
    "Slot",
    "StringOf",
    "TwigNode",
    "Value",
    "ValueType",
    "type_of",
]
