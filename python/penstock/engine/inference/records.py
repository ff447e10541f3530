"""Which elements are the records of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.engine.inference.names import local_of
from penstock.engine.inference.shapes import OTHERS, Shape

_RECORDS_SHARE_MIN = 0.25
"""Records hold at least this share of the values of documents; otherwise documents are records."""
_INSIDE_SHARE_MIN = 0.7
"""What repeats inside a record takes its place if it holds at least this share of its values."""

Path = tuple[str, ...]


def find_record(documents: Shape, is_repeated: Callable[[Shape, Shape], bool]) -> Path:
    """Return the path of the elements that hold most of the values, from the document on.

    From the document the way leads down, each time to the outermost element that repeats and has
    most of the values, as long as that is nearly all of them. No element inside another one of its
    name is a record.
    """
    path: Path = ()
    here = documents
    while True:
        candidates = [
            (names, shape)
            for names, shape in _elements(here, path)
            if is_repeated(shape, here) and _is_structured(shape)
        ]
        if not candidates:
            break
        names, shape = max(candidates, key=lambda pair: count_values(pair[1]))
        share_min = _INSIDE_SHARE_MIN if path else _RECORDS_SHARE_MIN
        if count_values(shape) < share_min * count_values(here):
            break
        path, here = (*path, *names), shape
    return path or _root(documents)


def find_named(documents: Shape, name: str) -> tuple[list[Path], Shape]:
    """Return where elements of a name are, and what all of them have.

    A name is local, or a path of local names: ``Ntry`` or ``Stmt/Ntry``.
    """
    wanted = tuple(part.rpartition(":")[2] for part in name.strip("/").split("/"))
    paths, whole = [], Shape()
    for path, shape in documents.paths():
        if not path[-1].startswith("@") and tuple(map(local_of, path[-len(wanted) :])) == wanted:
            paths.append(path)
            whole.add(_copy(shape))
    return paths, whole


def shape_at(documents: Shape, path: Path) -> Shape:
    """Return what is known of a path."""
    shape = documents
    for name in path:
        shape = shape.below[name]
    return shape


def has_elements(shape: Shape) -> bool:
    """Return whether elements have others inside."""
    return any(not name.startswith("@") for name in shape.below)


def count_values(shape: Shape) -> int:
    """Return how many attributes and elements without others inside there are."""
    below = sum(map(count_values, shape.below.values()))
    return below if has_elements(shape) else below + shape.count


def _elements(shape: Shape, around: Path) -> Iterator[tuple[Path, Shape]]:
    for path, below in shape.paths():
        is_element = not path[-1].startswith("@") and OTHERS not in path
        if is_element and len({*around, *path}) == len(around) + len(path):
            yield path, below


def _is_structured(shape: Shape) -> bool:
    """Whether there is more than one value in an element."""
    return len(shape.below) > 1 or has_elements(shape)


def _root(documents: Shape) -> Path:
    roots = [name for name in documents.below if name != OTHERS]
    return (max(roots, key=lambda name: documents.below[name].count),) if roots else ()


def _copy(shape: Shape) -> Shape:
    below = {name: _copy(one) for name, one in shape.below.items()}
    return Shape(shape.count, shape.documents, below, shape.most)
