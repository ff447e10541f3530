"""Random pipelines from seeds: any sinks, modes, triggers, encodings, damage and changes."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from tests.spark.random_pipelines.cases import (
    MISSING,
    MISSPELT,
    Content,
    PipelineCase,
    QueryCase,
    SinkCase,
    SourceCase,
    StepCase,
    Table,
)

TRIGGERS = ("batch", "batch", "batch", "available_now", "once", "processing_time")
QUERIES = {
    "items": QueryCase("//item", owner="ann"),
    "ids": QueryCase("//@id", owner="bob"),
    "orders": QueryCase("/order", mode="filter"),
    "text": QueryCase("//item/text()", owner="ann"),
    "large": QueryCase("//*[item > 3]/@id"),
    "count": QueryCase("count(//item)"),
    "none": QueryCase("/nothing", owner="bob"),
    "told": QueryCase("for $i in //item[. > 2] return <i>{$i/text()}</i>", "xquery", owner="ann"),
}
JOINS = {
    "join pairs": "s0//order->x[item->y] JOIN{y = z, INF} s0//order->w[item->z]",
    "join after": "s0//order->x[item->y] FOLLOWED BY{y = z, 1000} s0//order->w[item->z]",
    "join both": "s0//order->x[item->y] FOLLOWED BY{y = z, INF} s1//order->w[item->z]",
    "join alone": "s0//order->x[item->y]",
    "join made": "SELECT <p k='{y}'/> FROM s0//order[item->y] JOIN{y = z, 900} s0//order[item->z] "
    "PUBLISH P",
    "join read": "P//p->p[@k->y] JOIN{y = z, INF} s0//order[item->z]",
}
MODES = {
    "sqlite": ("upsert", "append", "overwrite", "fail"),
    "files": ("append", "overwrite", "fail"),
}
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "iso-8859-1", "utf-16", "windows-1252")
RUNS_MAX = 3
FILES = (0, 1, 2, 5)
JOINED_FILES = (0, 3, 5, 7)
"""So many files are added before a run; what is joined takes some."""


def random_case(seed: int) -> PipelineCase:
    """Return the pipeline of a seed."""
    random = Random(seed)
    trigger = random.choice(TRIGGERS)
    sources = tuple(
        _source(random, number, trigger != "batch") for number in range(random.choice((1, 1, 1, 2)))
    )
    queries = _queries(random, sources)
    sinks = tuple(_choosing(random, sink, queries) for sink in _sinks(random))
    steps: list[StepCase] = []
    present: dict[tuple[str, str], Content] = {}
    stream = 0
    for _ in range(random.randint(1, RUNS_MAX)):
        counts = JOINED_FILES if queries.keys() & JOINS.keys() else FILES
        changes = _changes(random, sources, present, trigger != "batch", counts)
        present |= changes
        stream += steps != [] and random.random() < 0.2
        steps.append(StepCase(changes, stream))
    included = random.choice((0, 0, 0, 1, 2))
    return PipelineCase(seed, trigger, queries, sources, sinks, tuple(steps), included)


def _queries(random: Random, sources: tuple[SourceCase, ...]) -> dict[str, QueryCase]:
    names = random.sample(sorted(QUERIES), random.randint(1, 3))
    queries = {name: QUERIES[name] for name in names}
    # Records of one file are of one time, and rows of tables of none: what comes of joining them
    # depends on which is read first.
    if all(source.kind == "files" for source in sources) and random.random() < 0.6:
        for name in random.sample(sorted(JOINS), random.randint(1, 3)):
            owner = random.choice((None, "ann"))
            queries[name] = QueryCase(JOINS[name], "xscl", owner=owner)
    return queries


def _choosing(random: Random, sink: SinkCase, queries: Mapping[str, QueryCase]) -> SinkCase:
    """Return a sink that may choose some of the subscriptions."""
    choice: dict[str, tuple[str, ...]] = {}
    if sink.rows != "quarantine" and random.random() < 0.3:
        name = random.choice(sorted(queries))
        choice["subscriptions"] = (random.choice((name, f"{name[:2]}*", f"?{name[1:]}")),)
    owners = sorted({one.owner for one in queries.values() if one.owner is not None})
    if sink.rows != "quarantine" and owners and random.random() < 0.2:
        choice["owner"] = (random.choice(owners),)
    return replace(sink, choice=choice)


def _source(random: Random, number: int, is_streaming: bool) -> SourceCase:
    kind = random.choice(("files", "files", "records", "text", "binary"))
    folder = f"in{number}"
    options: dict[str, str] = {}
    place = folder
    if kind in ("files", "records"):
        place = random.choice((folder, folder, f"{folder}/*.xml", f"{folder}/**/*"))
        if is_streaming and random.random() < 0.5:
            options["maxFilesPerTrigger"] = str(random.randint(1, 3))
        if kind == "records" and random.random() < 0.5:
            options["maxPartitionBytes"] = random.choice(("20", "60", "1k"))
        match random.randrange(30):
            case 0:
                place = f"{folder}/{MISSING}"
            case 1:
                options[MISSPELT] = "1"
    return SourceCase(kind, folder, place, f"s{number}", options)


def _sinks(random: Random) -> tuple[SinkCase, ...]:
    sinks: list[SinkCase] = []
    for number in range(random.randint(1, 3)):
        kind = random.choice(("parquet", "json", "sqlite", "sqlite", "console"))
        rows = random.choice(("results", "quarantine", "all", "all"))
        if kind == "console":
            sinks.append(SinkCase(kind, "", rows, None))
            continue
        modes = MODES["sqlite" if kind == "sqlite" else "files"]
        write = random.choice((None, *modes))
        # Two tables may share a file.
        path = "out/rows.db" if kind == "sqlite" else f"out/{kind}{number}"
        sinks.append(SinkCase(kind, path, rows, write, f"table{number}"))
    if len(sinks) > 1 and sinks[0].kind != "console" and random.random() < 0.05:
        # Two sinks in one place: this must be refused.
        sinks[1] = replace(sinks[0], rows=random.choice(("results", "quarantine", "all")))
    return tuple(sinks)


def _changes(
    random: Random,
    sources: tuple[SourceCase, ...],
    present: dict[tuple[str, str], Content],
    is_streaming: bool,
    counts: tuple[int, ...],
) -> dict[tuple[str, str], Content]:
    """Return which files are added, changed and removed before a run; perhaps none at all."""
    changes: dict[tuple[str, str], Content] = {}
    for source in sources:
        there = [
            key for key, data in present.items() if key[0] == source.folder and data is not None
        ]
        if not is_streaming:
            # A stream reads a file once, so only a batch sees that it changed.
            for key in there:
                match random.randrange(6):
                    case 0:
                        changes[key] = None
                    case 1:
                        changes[key] = _content(random, source)
        for _ in range(random.choice(counts)):
            name = f"{len(present) + len(changes):03}.xml"
            changes[source.folder, name] = _content(random, source)
    return changes


def _content(random: Random, source: SourceCase) -> Content:
    match source.kind:
        case "files":
            return _file(random, _order(random))
        case "records":
            records = "".join(
                f"<r id='{number}'>{_items(random)}</r>" for number in range(random.randrange(6))
            )
            # Some files are larger than a partition, with and without records.
            filler = random.choice(("", "", f"<pad>{'p' * 200}</pad>"))
            return _file(random, f"<list>é{filler}{records}</list>")
        case kind:
            return _table(random, kind)


def _table(random: Random, kind: str) -> Table:
    rows: list[tuple[str | None, str | bytes | None]] = []
    for _ in range(random.randrange(4)):
        name = None if random.random() < 0.1 else f"d{random.randrange(100)}"
        text = _damaged(random, _order(random))
        if kind == "text":
            declared = random.choice(("", "", "ISO-8859-1", "UTF-16", "UTF-8"))
            head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else ""
            data: str | bytes | None = head + text
        else:
            data = _encoded(random, text)
        rows.append((name, None if random.random() < 0.1 else data))
    return tuple(rows)


def _file(random: Random, text: str) -> bytes:
    data = _encoded(random, _damaged(random, text))
    return gzip.compress(data, mtime=0) if random.random() < 0.1 else data


def _order(random: Random) -> str:
    return f"<order id='{random.randrange(50)}'>é{_items(random)}</order>"


def _items(random: Random) -> str:
    return "".join(f"<item>{random.randrange(6)}</item>" for _ in range(random.randrange(4)))


def _damaged(random: Random, text: str) -> str:
    """Return a document, most of the time as it is."""
    match random.randrange(12):
        case 0:
            return text[: random.randrange(len(text))]
        case 1:
            return text.replace("</", "<", 1)
        case 2:
            return ""
        case 3:
            return f"{text}<more/>"
        case _:
            return text


def _encoded(random: Random, text: str) -> bytes:
    encoding = random.choice(ENCODINGS)
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    if declared == "utf-8" or not text:
        return text.encode(encoding) if text else b""
    return f"<?xml version='1.0' encoding='{declared}'?>{text}".encode(encoding)
