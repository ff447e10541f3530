"""When the rows of a table are decided, and what of a document is kept until then."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.planning.sequences.projection import BYTES, TREE, VALUE, Place
from penstock.planning.tables.projection import TableProjection
from penstock.planning.tables.regions import region_of
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.planning.words import step_text
from penstock.twigs.tables import Table

_NEEDS = ((TREE, "everything inside"), (BYTES, "source"), (VALUE, "string value"))


def table_verdict(table: Table) -> Verdict:
    """Return the verdict on a table."""
    region = region_of(table.record)
    root = TableProjection(table, region).root
    path = "".join([step_text(step.axis, step.test) for step in region.steps])
    held = [f"each {path}, until it is complete"] if region.steps else []
    held += [f"{line}, until the element around it ends" for line in _needed(root, "", "held")]
    kept = [*_needed(root, "", "kept")]
    held += [f"{line}, until the document ends" for line in kept]
    if not region.steps:
        when = "when the document ends"
    elif any(True for _ in _needed(root, "", "held")) or kept:
        when = "every row when its record is complete and what is around it is known"
    else:
        when = "every row when its record is complete"
    is_flat = bool(region.steps) and not kept
    return Verdict(
        decided=Decided.SCOPE if region.steps else Decided.DOCUMENT,
        when=(when,),
        held=tuple(held),
        memory="one record and what is around it"
        if is_flat
        else "what is kept grows with the document",
        cost=Cost.FLAT if is_flat else Cost.KEPT,
        suits_endless=is_flat,
        endless="yes: records come and go" if is_flat else "no: something is kept for each record",
    )


def explain_table(table: Table) -> list[tuple[str, list[str]]]:
    """Return sections on the records, and what is read for them."""
    region = region_of(table.record)
    root = TableProjection(table, region).root
    path = "".join([step_text(step.axis, step.test) for step in region.steps])
    return [
        ("evaluated for each", [path or "document"]),
        ("values that do not fit", [table.on_error]),
        ("kept for each record", [*_needed(root, "", "marks")]),
        ("kept while the element around it lasts", [*_needed(root, "", "held")]),
        ("kept until the document ends", [*_needed(root, "", "kept")]),
    ]


def _needed(place: Place, path: str, field: str) -> Iterator[str]:
    marks = getattr(place, field)
    if marks:
        needs = [words for mark, words in _NEEDS if marks & mark]
        yield f"{path or '/'}: {', '.join(needs) or 'that it exists'}"
    for child in place.children.values():
        yield from _needed(child, path + step_text(child.axis, child.test), field)
