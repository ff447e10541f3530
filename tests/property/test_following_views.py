"""Servers and routers follow their registries: after any changes they decide as fresh ones do."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

import penstock
from penstock import routing
from penstock.errors import RegistryError
from penstock.registry.changeable import ChangeableRegistry
from penstock.routing import Configuration, Router, Server

SEEDS = 30
CHANGES = 25
CONFIGURATION = Configuration(["/r/a", "/r/b", routing.View("/r/s", parts=True)])
TEXTS = [
    "/r/a",
    "/r/b",
    "/r/a = 1",
    "/r/b < 2",
    "/r/s/t = 'x'",
    "/r[a = 1 and b = 2]",
    "count(//a) > 1",
    "//p:c",
]
DOCUMENTS = [
    b"<r><a>1</a><b>2</b></r>",
    b"<r><b>1</b><s><t>x</t></s></r>",
    b"<r><a>1</a><a>2</a></r>",
    b"<r xmlns:p='urn:p'><p:c/></r>",
]
HEADERS = [routing.stamp(document, CONFIGURATION) for document in DOCUMENTS]


class UndoneError(Exception):
    """Undoes a block of changes."""


def change(registry: ChangeableRegistry, draw: random.Random) -> None:
    """Make one random change, or a block of them, which may be undone."""
    names = [subscription.name for subscription in registry]
    name, text = f"q{draw.randrange(8)}", draw.choice(TEXTS)
    kind = draw.choice(["add", "add", "remove", "replace", "block", "undone"])
    if kind in ("block", "undone"):
        with suppress(UndoneError), registry.changes():
            for _ in range(draw.randrange(1, 4)):
                change(registry, draw)
            if kind == "undone":
                raise UndoneError
    elif name not in names:
        registry.add(name, text, "filter", namespaces={"p": "urn:p"})
    elif kind == "remove":
        registry.remove(name)
    else:
        registry.replace(name, text, "filter", namespaces={"p": "urn:p"})


def made(kind: str, folder: Path) -> ChangeableRegistry:
    """Return an empty registry in memory, or a durable one."""
    return penstock.Registry() if kind == "memory" else penstock.Registry.open(folder, flush=False)


@pytest.mark.parametrize("kind", ["memory", "durable"])
def test_after_any_changes_decisions_are_those_of_a_fresh_server(kind: str, tmp_path: Path) -> None:
    for seed in range(SEEDS):
        draw = random.Random(seed)
        one, two = (made(kind, tmp_path / f"{seed}-{number}") for number in (1, 2))
        fixed = {"b": "/r/b", "many": "count(//a) > 1"}
        server = Server(one, [CONFIGURATION])
        router = Router({"one": one, "two": server, "three": two, "four": fixed}, [CONFIGURATION])
        for step in range(CHANGES):
            change(draw.choice([one, two]), draw)
            number = draw.randrange(len(DOCUMENTS))
            header = draw.choice([HEADERS[number], None])
            document = DOCUMENTS[number]
            fresh = Server(one, [CONFIGURATION]).decide(header, document)
            assert server.decide(header, document) == fresh, (seed, step)
            sources = {"one": one, "two": one, "three": two, "four": fixed}
            routed = Router(sources, [CONFIGURATION]).route(header, document)
            assert router.route(header, document) == routed, (seed, step)
        assert server.counts.documents == CHANGES


def test_another_process_changes_the_registry(tmp_path: Path) -> None:
    ours, theirs = penstock.Registry.open(tmp_path), penstock.Registry.open(tmp_path)
    server = Server(ours, [CONFIGURATION])
    assert server.decide(HEADERS[0], DOCUMENTS[0]).matches == ()
    theirs.add("a", "/r/a", mode="filter")
    assert server.decide(HEADERS[0], DOCUMENTS[0]).matches == ("a",)


def test_a_block_that_was_undone_leaves_nothing_behind() -> None:
    registry = penstock.Registry()
    server = Server(registry, [CONFIGURATION])
    with suppress(UndoneError), registry.changes():
        registry.add("a", "/r/a", mode="filter")
        assert server.decide(HEADERS[0], DOCUMENTS[0]).matches == ("a",)
        raise UndoneError
    registry.add("b", "/r/b", mode="filter")  # has the number of the version that was undone
    assert server.decide(HEADERS[0], DOCUMENTS[0]).matches == ("b",)


def test_a_subscription_that_is_no_filter_is_refused_until_it_is_gone() -> None:
    registry = penstock.Registry()
    registry.add("a", "/r/a", mode="filter")
    server = Server(registry, [CONFIGURATION])
    registry.add("rows", "/r/b")
    for _ in range(2):
        with pytest.raises(RegistryError, match="`rows` is no filter of documents"):
            server.decide(HEADERS[0], DOCUMENTS[0])
    registry.remove("rows")
    assert server.decide(HEADERS[0], DOCUMENTS[0]).matches == ("a",)
