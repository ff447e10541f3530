"""Small generated documents, good and broken, and subscriptions that some of them match."""

from __future__ import annotations

from random import Random

import penstock

DOCUMENTS = 2000
_CATEGORIES = ("river", "lake", "weir", "gate")


def item(random: Random, number: int) -> bytes:
    """Return one feed item."""
    tags = "".join(f"<tag>{random.choice(_CATEGORIES)}</tag>" for _ in range(random.randrange(4)))
    text = (
        f'<item xmlns:m="urn:media" id="i{number}"><title>Item &amp; {number} é</title>'
        f"<price>{random.randrange(1000) / 10}</price>{tags}<m:image url='{number}.png'/></item>"
    )
    return text.encode()


def broken_item(random: Random, number: int) -> tuple[bytes, str, int]:
    """Return a document that fails, the code of its error and the byte where it is found."""
    data = item(random, number)
    match random.randrange(3):
        case 0:
            cut = data[: data.index(b"<price>")]
            return cut, "PD0026", len(cut)
        case 1:
            at = data.index(b"</title>")
            return data.replace(b"</title>", b"</tytle>"), "PD0007", at
        case _:
            return data + b"<more/>", "PD0025", len(data)


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
