"""Small generated documents, good and broken, and subscriptions that some of them match."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path
from random import Random

import penstock
from penstock.limits import Limits

DOCUMENTS = 2000
_CATEGORIES = ("river", "lake", "weir", "gate")
_OPTIONS = ("namespaces", "variables", "select", "context")
_CORPUS = Path(__file__).resolve().parents[3] / "corpus"
_ENTITIES = [f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in pairwise("abcdefgh")]
_BOMB = f"<!DOCTYPE item [<!ENTITY a '{'x' * 1000}'>{''.join(_ENTITIES)}]>".encode()


def item(random: Random, number: int) -> bytes:
    """Return one feed item."""
    tags = "".join(f"<tag>{random.choice(_CATEGORIES)}</tag>" for _ in range(random.randrange(4)))
    text = (
        f'<item xmlns:m="urn:media" id="i{number}"><title>Item &amp; {number} é</title>'
        f"<price>{random.randrange(1000) / 10}</price>{tags}<m:image url='{number}.png'/></item>"
    )
    return text.encode()


def broken_item(random: Random, number: int) -> tuple[bytes, str, int]:
    """Return a document that fails, the code of its error and the byte where it is found.

    Some are malformed, some hostile: entities that grow without end, elements that nest so.
    """
    data = item(random, number)
    match random.randrange(5):
        case 0:
            cut = data[: data.index(b"<price>")]
            return cut, "PD0026", len(cut)
        case 1:
            at = data.index(b"</title>")
            return data.replace(b"</title>", b"</tytle>"), "PD0007", at
        case 2:
            return data + b"<more/>", "PD0025", len(data)
        case 3:
            bomb = _BOMB + data.replace(b"</title>", b"&h;</title>")
            return bomb, "PL0008", bomb.index(b"&h;<")
        case _:
            depth = Limits().depth_max
            return b"<a>" * (depth + 1) + b"</a>" * (depth + 1), "PL0001", 3 * depth


def item_registry() -> penstock.Registry:
    """Return a dozen subscriptions over the items, all kinds of results among them."""
    registry = penstock.Registry()
    for category in _CATEGORIES:
        registry.add(f"in {category}", f"/item[tag = '{category}']/title")
        registry.add(f"has {category}", f"//tag[. = '{category}']", mode="filter")
    registry.add("cheap", "//item[price < 20]/@id")
    registry.add("text", "/item/title/text()")
    registry.add("count", "count(//tag)")
    registry.add("image", penstock.xpath("//m:image", namespaces={"m": "urn:media"}))
    registry.add("untagged", "/item[not(tag)]")
    return registry


def corpus() -> tuple[penstock.Registry, list[penstock.Document]]:
    """Return all queries of the corpus that are evaluated, and all its documents."""
    registry, documents = penstock.Registry(), []
    for path in sorted(_CORPUS.glob("*.toml")):
        for case in tomllib.loads(path.read_text("utf-8"))["case"]:
            documents.append(penstock.Document(case["document"].encode(), id=case["name"]))
            if case.get("error", "document") == "document":
                options = {name: case[name] for name in _OPTIONS if name in case}
                registry.add(case["name"], penstock.xpath(case["query"], **options))
    assert len(documents) > 50
    return registry, documents
