"""Record paths: which elements of a document are its records, and what each takes from around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import QueryError
from penstock.kernel import Plan
from penstock.languages.xpath import xpath
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.planning.compile import compile_query
from penstock.twigs import Query, Selection
from penstock.twigs.expressions import Expression, Filter, Identified, Step, Union
from penstock.twigs.nodetests import Axis, NodeKind

WHOLE = 1
"""The document among the subscriptions of the plans for records; 0 are the records themselves.

One plan gives the records with their text, the other where they are.
"""


class RecordPath:
    """An XPath whose elements are records, and the paths of values that go with each record.

    ``ancestors`` maps a name to an XPath, as in ``{"message": "/Document/*/GrpHdr/MsgId"}``. A
    record gets the string value of the last match, in document order, among those that are
    complete and decided where the record ends; so values of elements around and before the
    record, and of elements inside it, but never of what follows. A name without a match yet is
    left out.

    Pickles as its texts; workers compile it again.

    Raises:
        QueryError: A path is no query that is evaluated, or the record path selects something
            else than elements.
    """

    def __init__(
        self,
        text: str,
        namespaces: NamespaceMap | None = None,
        ancestors: Mapping[str, str] | None = None,
    ) -> None:
        self.text = text
        self.namespaces = dict(namespaces or {})
        self.ancestors = dict(ancestors or {})
        query = xpath(text, namespaces=self.namespaces)
        _require_elements(query)
        self.names, self.depth = _names_and_depth(query)
        whole = compile_query(xpath("/"), is_spans=True)
        self.plan = Plan.build([compile_query(query), whole])
        self.span_plan = Plan.build([compile_query(query, is_spans=True), whole])
        self.ancestor_names = tuple(self.ancestors)
        programs = [
            compile_query(xpath(path, namespaces=self.namespaces))
            for path in self.ancestors.values()
        ]
        self.ancestor_plan = Plan.build(programs) if programs else None

    def __reduce__(self) -> tuple[type[RecordPath], tuple[object, ...]]:
        return RecordPath, (self.text, self.namespaces, self.ancestors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordPath) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"RecordPath({self.text!r}, {self.namespaces!r}, {self.ancestors!r})"


def _names_and_depth(query: Query) -> tuple[list[str] | None, int | None]:
    """Return the local names of records, and how deep they stand; None where any may be.

    The root element is at 1.
    """
    names: set[str | None] = set()
    depths: set[int | None] = set()
    for block in query.blocks:
        for node in block.alternatives:
            depth: int | None = 0
            while node.branches:
                node = node.branches[0].node
                depth = None if depth is None or node.axis is not Axis.CHILD else depth + 1
            names.add(node.test.local)
            depths.add(depth)
    if isinstance(query.output, Selection):
        names.update(_names(query.output.expression))
        depths.add(None)
    known = None if None in names else sorted(name for name in names if name is not None)
    return known, depths.pop() if len(depths) == 1 else None


def _names(expression: Expression) -> Iterator[str | None]:
    match expression:
        case Step(test=test):
            yield test.local
        case Filter(base=base):
            yield from _names(base)
        case Union(parts=parts):
            for part in parts:
                yield from _names(part)
        case _:
            yield None


def _require_elements(query: Query) -> None:
    if query.selects_nodes and all(kind is NodeKind.ELEMENT for kind in _selected(query)):
        return
    message = "a record path selects elements, and this one does not"
    way_out = "end the path with the name of an element, as in //item"
    raise QueryError("PQ0119", message, (0, len(query.text)), way_out, query.text)


def _selected(query: Query) -> Iterator[NodeKind]:
    """Yield the kinds of nodes that the paths of a query end at."""
    if isinstance(query.output, Selection):
        yield from _ends(query.output.expression)
    for block in query.blocks:
        for node in block.alternatives:
            while node.branches:
                node = node.branches[0].node
            yield node.test.kind


def _ends(expression: Expression) -> Iterator[NodeKind]:
    match expression:
        case Step(test=test):
            yield test.kind
        case Filter(base=base):
            yield from _ends(base)
        case Union(parts=parts):
            for part in parts:
                yield from _ends(part)
        case Identified():
            yield NodeKind.ELEMENT
        case _:
            yield NodeKind.ANY
