"""What the files of a revision hold, and what a program of any revision answers with them.

All of this uses the public interface alone, so that other revisions can run it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import penstock
from penstock import routing
from penstock.registry.durable import DurableRegistry

Answer = list[Any]

LINES: list[dict[str, Any]] = [
    {"name": "titles", "query": "//book/title", "owner": "ann", "delivery": {"to": "mail"}},
    {"name": "cheap", "query": "//book[price < $top]", "mode": "filter", "variables": {"top": 11}},
    {"name": "sum", "query": "sum(//price)", "mode": "running"},
    {"name": "named", "query": "//s:note", "namespaces": {"s": ["urn:s", "urn:t"]}},
    {"name": "beside", "query": "//price", "select": {"id": "../@id", "title": "../title"}},
    {"name": "pairs", "query": "//book[title = following::book/title]"},
    {"name": "old", "query": "/shop//book[price]", "dialect": "xsq"},
    {
        "name": "message",
        "language": "xquery",
        "query": "<m>{for $b in //book where $b/price > 10 return $b/title}</m>",
    },
    {
        "name": "function",
        "language": "xquery",
        "query": "declare function local:f($n) { $n + 1 }; <n>{local:f(count(//book))}</n>",
    },
    {
        "name": "joined",
        "language": "xscl",
        "query": "shops//book->b/@id->x JOIN{x = y, 1 h} orders//order->o/@book->y",
    },
]
"""Subscriptions as `penstock registry load` reads them; numbers in ``variables`` are numbers."""

WITHIN = 'for $b in stream("shops")//book, $o in stream("orders")//order '
WITHIN += "where $b/@id = $o/@book return <sold>{$b/title}</sold>"

SHOP = (
    '<shop xmlns:s="urn:s"><book id="1"><title>Rivers</title><price>9.50</price></book>'
    '<book id="2"><title>Dams &amp; gates</title><price>24</price></book>'
    '<book id="3"><title>Rivers</title></book><s:note at="ü">n</s:note></shop>'
)
ORDERS = '<orders><order book="1"/><order book="3"/><order book="9"/></orders>'
SECOND = SHOP.replace('id="2"', 'id="9"')
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

VIEWS = ["/shop/book[1]/title", "/shop/book[2]", "//s:note/@at", "/shop/book/price"]
SERVERS = {"first": "/shop/book[1]/title[. = 'Rivers']", "none": "//s:note[@at = 'x']"}
NAMESPACES = {"s": "urn:s"}


def documents() -> list[penstock.Document]:
    """Return documents of two streams, one of them malformed."""
    given = [("shops", SHOP), ("orders", ORDERS), ("shops", "<shop><book>"), ("shops", SECOND)]
    return [
        penstock.Document(
            text, id=f"d{number}", stream=stream, time=NOON + timedelta(minutes=number)
        )
        for number, (stream, text) in enumerate(given)
    ]


def answers(registry: Any) -> list[Answer]:
    """Return the rows of all documents, in an order that says nothing about the engine."""
    rows = penstock.Engine(registry).run(documents())
    return in_order(
        [
            *(row.subscription, row.document, row.ordinal, row.kind, row.value, row.start, row.end),
            row.bindings and dict(row.bindings),
            row.error and row.error.code,
        ]
        for row in rows
    )


def in_order(rows: Iterable[Answer]) -> list[Answer]:
    """Return rows as JSON has them, sorted."""
    return [json.loads(line) for line in sorted(json.dumps(row) for row in rows)]


def write_lines(path: Path) -> None:
    """Write the subscriptions as lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in LINES))


def make_registry(folder: Path, lines: Path) -> DurableRegistry:
    """Make a registry with a history: loaded, changed, with all kinds of subscriptions."""
    registry = penstock.Registry.open(folder)
    report = registry.load(lines)
    assert report.added == len(LINES), report
    registry.add("gone", "//gone")
    registry.remove("gone")
    registry.replace("titles", "//book/title", owner="ann", delivery={"to": "mail"})
    registry.add("within", penstock.xquery(WITHIN, within="2 h"))
    columns: Mapping[str, Any] = {"id": ("@id", "integer"), "price": ("price", "decimal(8,2)")}
    registry.add("table", penstock.table("//book", columns))
    return registry


def configuration() -> routing.Configuration:
    """Return what a producer computes of documents."""
    return routing.Configuration(VIEWS, namespaces=NAMESPACES)


def decisions(config: routing.Configuration, header: bytes) -> Answer:
    """Return what servers decide from a header of the first document."""
    found = []
    for name, query in SERVERS.items():
        registry = penstock.Registry()
        registry.add(name, query, mode="filter", namespaces=NAMESPACES)
        decision = routing.Server(registry, [config]).decide(header, SHOP.encode())
        found.append([name, list(decision.matches), decision.is_hit])
    return found
