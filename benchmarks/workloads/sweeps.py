"""Queries that differ in one thing at a time: sections 4.4.5, 4.4.6, 6.5 of the XSQ thesis.

Element order and result size have documents of their own, generated like the thesis's. The other
sweeps were made for the NASA data set; here they ask the same of auction documents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.workloads.queries import Query

SEED = 20240229
RECORDS = 128
FOO_MAX = 10_000
BYTES = 10_000_000


@dataclass(frozen=True)
class Sweep:
    """Queries over one document. ``document`` is None for the auction document."""

    name: str
    title: str
    queries: tuple[Query, ...]
    document: Callable[[], Iterator[bytes]] | None = None


def ordered() -> Iterator[bytes]:
    """Yield records that say early and late in their content why they are no results."""
    random = Random(SEED)
    foo = b"<foo> 1 </foo>\n"
    yield b"<root>\n"
    for number in range(1, RECORDS + 1):
        count = random.randint(1, FOO_MAX)
        yield b'<A id="%d">\n<prior> 1 </prior>\n' % number
        yield foo * count
        yield b"<posterior> 1 </posterior>\n</A>\n"
    yield b"</root>\n"


def coloured() -> Iterator[bytes]:
    """Yield small elements of three names in the proportions 1 : 3 : 6."""
    random = Random(SEED)
    names = (b"red",) * 1 + (b"green",) * 3 + (b"blue",) * 6
    written = 0
    yield b"<a>\n"
    while written < BYTES:
        piece = b"".join(
            b"<%b>%d</%b>\n" % (name, random.randrange(10), name)
            for name in random.choices(names, k=1000)
        )
        written += len(piece)
        yield piece
    yield b"</a>\n"


def cached(folder: Path, sweep: Sweep) -> Path:
    """Return the path of a sweep's own document; write it if it is not there."""
    assert sweep.document is not None
    path = folder / f"{sweep.name}-s{SEED}.xml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        with draft.open("wb") as out:
            out.writelines(sweep.document())
        os.replace(draft, path)
    return path


def _closures() -> Iterator[Query]:
    """Yield one path with closures at the steps that its name lists."""
    names = ("site", "open_auctions", "open_auction", "bidder", "date")
    for places in ("0", "1", "2", "3", "4", "5", "12", "123", "1234", "12345"):
        steps = (f"{'//' if str(at) in places else '/'}{name}" for at, name in enumerate(names, 1))
        yield Query(f"Q{places}", "".join(steps), "nodes")


def _predicates() -> Iterator[Query]:
    """Yield one path with predicates of several kinds and places; the last three are empty."""
    for number, (outer, inner) in enumerate(
        (
            ("@id", ""),
            ("starts-with(@id, 'open')", ""),
            ("initial", ""),
            ("initial > 0", ""),
            ("", "date"),
            ("initial > 0", "date"),
            ("seller", ""),
            ("annotation/happiness > 0", "date"),
            ("@id = 'none'", ""),
            ("initial = 'none'", "date"),
            ("", "none"),
        ),
        1,
    ):
        steps = [f"[{part}]" if part else "" for part in (outer, inner)]
        text = f"/site/open_auctions/open_auction{steps[0]}/bidder{steps[1]}/increase"
        yield Query(f"Q{number}", text, "nodes")


def _numbered(*texts: str) -> tuple[Query, ...]:
    return tuple(Query(f"Q{number}", text, "count") for number, text in enumerate(texts, 1))


SWEEPS = (
    Sweep(
        "order",
        "element order: what decides comes early, late or in the tag",
        _numbered("/root/A[prior=0]", "/root/A[posterior=0]", "/root/A[@id=0]"),
        ordered,
    ),
    Sweep("size", "result size", _numbered("/a/red", "/a/green", "/a/blue"), coloured),
    Sweep("closures", "closures, at the steps named", tuple(_closures())),
    Sweep("predicates", "predicates", tuple(_predicates())),
    Sweep(
        "and",
        "conjunctions",
        _numbered(
            "//item[.//from]//description[parlist//listitem]//text",
            "//item[.//from and .//quantity>=1]//text",
            "//item[.//from and .//quantity>=1]//description[parlist//listitem]//text",
            "//item[.//from and .//mail[date]]"
            "//description[parlist//listitem and .//keyword]//text",
            "//item[.//from and .//mail[date]]"
            "//description[parlist//listitem and not(.//listitem//listitem)]//text",
            "//item[.//from and .//quantity>=1]"
            "//description[parlist//listitem and .//listitem//listitem]//text",
        ),
    ),
    Sweep(
        "not",
        "negations",
        _numbered(
            "/site[not(regions)]//text",
            "/site[.//from and .//quantity>=1]//text",
            "/site[.//from and .//quantity>=1 and not(regions)]//text",
        ),
    ),
    Sweep(
        "or",
        "disjunctions",
        _numbered(
            "//item[.//from]//description[parlist//listitem]//text",
            "//item[.//from or .//quantity>=1]//description[parlist//listitem or .//keyword]//text",
            "//item[.//from or .//quantity>=1 or .//payment]"
            "//description[parlist//listitem or .//keyword or .//bold]//text",
            "//item[.//from or dummy]//description[parlist//listitem]//text",
            "//item[.//from]//description[parlist//listitem or .//listitem//listitem]//text",
        ),
    ),
)
