"""What a server has to answer, by the definitions: a reference evaluator, `re` and `datetime`."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne

from penstock.languages.xpath import xpath
from penstock.twigs import Query
from penstock_testing.adversary.views.cases import Asked, Part
from penstock_testing.generate.names import NAMESPACES
from penstock_testing.reference import evaluate
from penstock_testing.tree import Tree

_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


@lru_cache(maxsize=4096)
def _query(text: str) -> Query:
    return xpath(text, namespaces=NAMESPACES)


def holds(asked: Asked, tree: Tree) -> bool:
    """Return whether a query holds for a document."""
    truths = [_part_holds(part, tree) for part in asked.parts]
    return all(truths) if asked.is_and else any(truths)


def _part_holds(part: Part, tree: Tree) -> bool:
    if part.path is None:
        found = evaluate(_query(part.text), tree)
        if isinstance(found, float):
            return found != 0 and not math.isnan(found)
        return bool(found)
    nodes = evaluate(_query(part.path), tree)
    assert isinstance(nodes, list), "a path selects nodes"
    return any(_passes(part, node.string_value()) for node in nodes)


def _passes(part: Part, value: str) -> bool:
    if part.operator == "matches":
        # `$` of Python also stands before a line end at the end; `\Z` does not.
        pattern = part.constant.replace("$", r"\Z")
        return re.search(pattern, value) is not None
    left, right = instant(value), instant(part.constant)
    assert right is not None, "constants are dates"
    if left is None:
        return part.operator == "!="
    return bool(_COMPARE[part.operator](left, right))


def instant(text: str) -> datetime | None:
    """Return the time that a text denotes, in UTC where it names no zone."""
    found = _DATE.fullmatch(text.strip(" \t\r\n"))
    if found is None:
        return None
    date, time, fraction, zone = found.groups()
    zone = "+00:00" if zone in (None, "Z") else zone
    try:
        start = datetime.fromisoformat(f"{date}T{time or '00:00:00'}{zone}").astimezone(UTC)
    except ValueError:
        return None
    return start + timedelta(seconds=float(fraction or 0))
