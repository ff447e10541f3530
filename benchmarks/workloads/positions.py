"""Queries for output latency, after figures 4.18 to 4.21 of the XSQ thesis.

A path, a predicate whose text arrives after the result, a predicate decided at the end of a
record, and one element at chosen places. ``record`` and ``accepts`` are the same question for a
loop over finished records: the element that is awaited and the condition in Python.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LatencyQuery:
    """A query and its hand-written form over finished record elements."""

    name: str
    text: str
    record: str
    accepts: Callable[[Any], bool]


def single(name: str, number: int) -> LatencyQuery:
    """Return the query for one item, by the number in its id."""
    key = f"item{number}"
    return LatencyQuery(
        name,
        f"/site/regions/*/item[@id = '{key}']/name",
        "item",
        lambda item: item.get("id") == key,
    )


def queries(item_count: int) -> tuple[LatencyQuery, ...]:
    """Return the latency queries for a document with this many items."""
    return (
        LatencyQuery(
            "path",
            "/site/regions/europe/item/name",
            "item",
            lambda item: item.getparent().tag == "europe",
        ),
        LatencyQuery(
            "text",
            "/site/regions/*/item[contains(payment, 'Cash')]/name",
            "item",
            lambda item: "Cash" in item.findtext("payment"),
        ),
        LatencyQuery(
            "absent",
            "/site/people/person[not(homepage)]/name",
            "person",
            lambda person: person.find("homepage") is None,
        ),
        *(single(f"one@{percent}%", item_count * percent // 100) for percent in (10, 50, 90)),
    )
