"""When a query in XQuery gives its items, and what of a document it keeps until then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.planning.broker import Brokered, as_brokered
from penstock.planning.sequences.gathering import Gather, Gathering
from penstock.planning.sequences.normal import normalise
from penstock.planning.sequences.projection import BYTES, TREE, VALUE, Place, Projection
from penstock.planning.sequences.streams import CURRENT, read_current, streams_of
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.planning.words import step_text
from penstock.twigs import sequences as q

_NEEDS = ((TREE, "everything inside"), (BYTES, "source"), (VALUE, "string value"))
_FOLDS = {"items": "items", "avg": "the average", "min": "the least", "max": "the greatest"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a document is read for a query: which parts gather, and which nodes are kept."""

    body: object
    gathers: list[Gather]
    root: Place
    has_trees: bool

    @property
    def is_direct(self) -> bool:
        """Whether items are rows as soon as their binding is complete."""
        return self.body == q.Gathered(0) and self.gathers[0].fold == "items"

    @property
    def is_prompt(self) -> bool:
        """Whether there is a message for each region of a document without an end."""
        is_message = isinstance(self.body, q.NewElement | q.NewDocument)
        return is_message and [gather.fold for gather in self.gathers] == ["items"]


def reading_of(query: q.Sequences) -> Reading:
    """Return how the current document is read."""
    normal = normalise(read_current(query))
    gathering = Gathering(normal)
    body = gathering.cut(normal.body)
    projection = Projection(normal, body, gathering.gathers, [CURRENT])
    root = projection.roots[CURRENT]
    return Reading(body, gathering.gathers, root, projection.has_trees)


def sequence_verdict(query: q.Sequences) -> Verdict:
    """Return the verdict on a query in XQuery."""
    reading = reading_of(query)
    kept = [*_kept(reading.root, "")]
    held = [f"each binding of {_path(gather)}, until it is complete" for gather in reading.gathers]
    held += [f"{path}, until the document ends" for path in kept]
    is_flat = not kept and (
        reading.is_direct or all(one.fold != "items" for one in reading.gathers)
    )
    if reading.is_direct:
        when = "every item when its outermost binding is complete"
    else:
        when = "when the document ends"
    memory = "one binding at a time" if is_flat else "what is kept grows with the document"
    if reading.is_direct and not kept:
        endless = "yes: bindings come and go"
    elif reading.is_prompt and not kept:
        endless = "yes: with live=True there is a message for each binding"
    else:
        endless = "no: the answer needs the end of the document"
    return Verdict(
        decided=Decided.END if reading.is_direct else Decided.DOCUMENT,
        when=(when,),
        held=tuple(held),
        memory=memory,
        cost=Cost.FLAT if is_flat else Cost.KEPT,
        suits_endless=(reading.is_direct or reading.is_prompt) and not kept,
        endless=endless,
    )


def brokered_of(query: q.Sequences) -> Brokered | None:
    """Return a query as the broker asks it of small documents, if it does."""
    brokered = as_brokered(normalise(read_current(query)))
    return None if reading_of(query).has_trees else brokered


def explain_sequences(query: q.Sequences) -> list[tuple[str, list[str]]]:
    """Return sections on what is read, and when it is evaluated."""
    reading = reading_of(query)
    gathers = [
        f"{_path(gather)}: {_FOLDS.get(gather.fold, gather.fold)}"
        + (", counted at the start tag" if gather.is_counted else "")
        for gather in reading.gathers
    ]
    return [
        ("streams", streams_of(query) or ["the current document of any stream"]),
        ("small documents", ["asked together with other queries"] if brokered_of(query) else []),
        ("evaluated for each binding", gathers),
        ("kept for each binding", [*_needed(reading.root, "", of_regions=True)]),
        ("kept until the document ends", [*_needed(reading.root, "", of_regions=False)]),
    ]


def _path(gather: Gather) -> str:
    return "".join([step_text(step.axis, step.test) for step in gather.steps])


def _kept(place: Place, path: str) -> Iterator[str]:
    if place.kept:
        yield path or "the whole document"
    for child in place.children.values():
        yield from _kept(child, path + step_text(child.axis, child.test))


def _needed(place: Place, path: str, *, of_regions: bool) -> Iterator[str]:
    marks = place.marks if of_regions else place.kept
    if marks:
        needs = [words for mark, words in _NEEDS if marks & mark]
        yield f"{path or '/'}: {', '.join(needs) or 'that it exists'}"
    for child in place.children.values():
        yield from _needed(child, path + step_text(child.axis, child.test), of_regions=of_regions)
