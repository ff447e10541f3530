"""Sentences that verdicts on twigs and on expressions share."""

from __future__ import annotations

from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.twigs import NodeKind
from penstock.twigs.nodetests import Axis, NodeTest

COSTS = {
    Cost.FLAT: "flat: every record costs the same",
    Cost.KEPT: "kept: something is kept for each record; time follows the input",
    Cost.PAIRS: "pairs: a node meets every member of its set, within `Limits.pairs_max`",
    Cost.POWERS: "powers: the members of a node's set lead on to sets of their own, within "
    "`Limits.pairs_max`",
}
EVENTS = {
    NodeKind.ATTRIBUTE: "at the start tag that carries it",
    NodeKind.NAMESPACE: "at the start tag that carries it",
    NodeKind.TEXT: "at the end of the text",
    NodeKind.COMMENT: "at the comment",
    NodeKind.INSTRUCTION: "at the instruction",
}
"""When a node is there that is no element."""

NOTHING = Verdict(
    Decided.BEFORE,
    ("before the document: nothing can match",),
    ("nothing",),
    "constant",
    Cost.FLAT,
    True,
    "yes",
)
"""The verdict on a query without results."""

VALUES = {
    False: Verdict(
        Decided.BEFORE,
        ("before the first element: the value is constant",),
        ("nothing",),
        "constant",
        Cost.FLAT,
        True,
        "yes",
    ),
    True: Verdict(
        Decided.DOCUMENT,
        ("at the end of the document at the latest, earlier once it is certain",),
        ("the strings that the value is made of",),
        "constant beside the depth of the document and those strings",
        Cost.FLAT,
        False,
        "no: some values are certain only at the end of the document",
    ),
}
"""The verdicts on one value, by whether it needs the document."""

ENDLESS_SCOPE = "no: {} may be the element that never ends"
ENDLESS_RESULT = "no: the element that never ends may be a result"
NO_SUMMARY = "no: the value comes at the end of the document; a running one comes earlier"


def aggregate_time(function: str, is_running: bool) -> str:
    """Return when an aggregate is reported."""
    moment = "after every node that counts" if is_running else "at the end of the document"
    return f"{function}: {moment}"


_NAMED = (NodeKind.ELEMENT, NodeKind.ATTRIBUTE)


def step_text(axis: Axis, test: NodeTest) -> str:
    """Return a step as it is written."""
    name = test.local or "*"
    if test.kind not in _NAMED:
        name = f"{test.kind.value}({test.local or ''})"
    match axis:
        case Axis.CHILD:
            return f"/{name}"
        case Axis.DESCENDANT:
            return f"//{name}"
        case Axis.ATTRIBUTE:
            return f"/@{name}"
        case _:
            return f"/{axis.value}::{name}"
