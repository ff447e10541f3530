"""The shape of documents: which paths they have and how often, found in one pass.

The kernel is asked for the elements of each depth, without their content, and reports each when
it ends. So when an element of some depth ends, the elements of the next depth that have ended
since are its children: what is kept is one tree of distinct names per open element, never the
document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from penstock.engine.diagnosis.samples import Beginning
from penstock.engine.follower import Fixed
from penstock.engine.reading import EACH_PIECE, Reader
from penstock.errors import DocumentError
from penstock.kernel import Batch, Plan, Session
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.sources import Input

DEPTH_MAX = 32
"""Elements deeper than this are counted, not told apart."""
NAMES_MAX = 1000
"""Children of one path with different names; further names are counted together."""
OTHERS = "…"
"""What stands for names that are not told apart."""


@dataclass(slots=True)
class Shape:
    """How often a path occurs, and what occurs below it, by name; attributes begin with ``@``.

    ``most`` is how many there are below one node at most.
    """

    count: int = 0
    documents: int = 0
    below: dict[str, Shape] = field(default_factory=dict)
    most: int = 0

    def add(self, other: Shape) -> None:
        """Take in a shape of the same path."""
        self.count += other.count
        self.documents += other.documents
        self.most = max(self.most, other.most)
        merge(self.below, other.below)

    def paths(self, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Shape]]:
        """Yield all paths below, each before those below it."""
        for name, shape in self.below.items():
            path = (*above, name)
            yield path, shape
            yield from shape.paths(path)

    def mark(self) -> None:
        """Note that everything here occurs in one document."""
        for shape in self.below.values():
            shape.documents = 1
            shape.mark()


def merge(into: dict[str, Shape], shapes: dict[str, Shape]) -> None:
    """Add shapes to those of the same names."""
    for name, shape in shapes.items():
        known = into.get(name)
        if known is None:
            if len(into) < NAMES_MAX:
                into[name] = shape
                continue
            known = into.setdefault(OTHERS, Shape())
            shape = Shape(shape.count, shape.documents, most=shape.most)
        known.add(shape)


def _close(below: dict[str, Shape]) -> dict[str, Shape]:
    """Return what is below a node that has ended: nothing will be added."""
    for shape in below.values():
        shape.most = shape.count
    return below


@dataclass(slots=True)
class Profile:
    """What is known of one document."""

    shape: Shape
    bytes: int
    depth: int
    failure: DocumentError | None = None
    is_cut: bool = False
    """Whether only its beginning was read."""


def read_shape(document: Input, bytes_max: int) -> Profile:
    """Return the shape of a document, or of as much of it as can be read.

    Of elements that are open where reading ends, only the names as written are known.
    """
    beginning = Beginning(document, bytes_max)
    levels = _Levels()
    failure = None
    for portion in Reader(Fixed(Session(_plan())), EACH_PIECE).run([beginning]):
        levels.add(portion.batch)
        for _, failure in portion.errors:
            levels.close(failure.path)
    if beginning.is_cut:
        failure = None
    return Profile(levels.root(), beginning.bytes, levels.depth, failure, beginning.is_cut)


class _Levels:
    """The shapes of what has ended, by depth, while the elements around it are open."""

    def __init__(self) -> None:
        self._ended: list[dict[str, Shape]] = [{} for _ in range(DEPTH_MAX + 3)]
        self._uri = ""
        self.depth = 0

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch."""
        ended = self._ended
        for number, _, _, name, value, *_ in batch.rows()[0]:
            if number >= _ROOT_URI:
                self._uri = value
                continue
            depth, is_attribute = divmod(number, 2)
            if is_attribute:
                # It belongs to the element that is open there, among that one's children.
                merge(ended[depth + 2], {f"@{name}": Shape(1)})
                continue
            self.depth = max(self.depth, depth + 1)
            below, ended[depth + 2] = _close(ended[depth + 2]), {}
            key = name if depth < DEPTH_MAX else OTHERS
            known = ended[depth + 1].get(key)
            if known is None:
                merge(ended[depth + 1], {key: Shape(1, 0, below)})
            else:
                known.count += 1
                merge(known.below, below)

    def close(self, path: str) -> None:
        """End the elements of a path that are still open."""
        names = [name.partition("[")[0] for name in path.split("/") if name][:DEPTH_MAX]
        self.depth = max(self.depth, len(names))
        prefixes = [name.rpartition(":")[0] for name in names]
        for depth in range(len(names), 0, -1):
            local = names[depth - 1].rpartition(":")[2]
            # The namespace of the root is known, and its prefix most likely means the same below.
            is_known = self._uri and prefixes[depth - 1] == prefixes[0]
            below, self._ended[depth + 1] = _close(self._ended[depth + 1]), {}
            name = f"{{{self._uri}}}{local}" if is_known else local
            merge(self._ended[depth], {name: Shape(1, 0, below)})

    def root(self) -> Shape:
        """Return the shape of the whole document."""
        whole = Shape(1, 1, _close(self._ended[1]))
        whole.mark()
        return whole


_ROOT_URI = 2 * (DEPTH_MAX + 1)


@cache
def _plan() -> Plan:
    """Return the plan that reports elements and attributes by their depth."""
    programs = []
    for depth in range(DEPTH_MAX):
        steps = "/*" * (depth + 1)
        programs += [compile_query(xpath(steps), is_spans=True)]
        programs += [compile_query(xpath(f"{steps}/@*"), is_spans=True)]
    deeper = "/*" * DEPTH_MAX + "//*"
    programs += [compile_query(xpath(deeper), is_spans=True)]
    programs += [compile_query(xpath(f"{deeper}/@*"), is_spans=True)]
    # Decided by the first tag, so known of a document whose end is never read.
    programs += [compile_query(xpath("namespace-uri(/*)"))]
    return Plan.build(programs)
