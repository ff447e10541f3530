"""What reading records costs in a store, beside a disk: ``python -m tests.spark.places.measure``.

One process plans and reads, as Spark's do; core time is its own, without that of the servers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from penstock.sources.stores import LOCAL, Stores
from penstock.spark.sources.options import XmlOptions
from penstock.spark.sources.xml import XmlReader
from tests.spark.helpers import store_servers
from tests.spark.places.conftest import CACHE

RECORDS = 400_000
FILES = 2_000
ROUNDS = 3


def main() -> None:
    """Print core time and time by the clock for one large file and for many small ones."""
    large = _document()
    small = [b"<a n='%d'>%s</a>" % (n, b"x" * 200) for n in range(FILES)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places: list[tuple[str, str, Stores]] = [("disk", str(folder / "files"), LOCAL)]
        (folder / "files" / "small").mkdir(parents=True)
        (folder / "files" / "large.xml").write_bytes(large)
        for number, content in enumerate(small):
            (folder / "files" / "small" / f"{number}.xml").write_bytes(content)
        with (
            store_servers.s3(CACHE, folder / "s3") as s3,
            store_servers.hdfs(CACHE, folder / "hdfs") as hdfs,
        ):
            for place in (s3, hdfs):
                place.put("large.xml", large)
                for number, content in enumerate(small):
                    place.put(f"small/{number}.xml", content)
                places.append((place.root[:4], place.root, Stores(place.settings)))
            for _ in range(ROUNDS):
                for kind, root, stores in places:
                    options = {"recordPath": "//Ntry", "maxPartitionBytes": "8m"}
                    _measure(f"{kind} large", f"{root}/large.xml", options, stores)
                    _measure(f"{kind} small", f"{root}/small", {}, stores)


def _measure(what: str, path: str, more: dict[str, str], stores: Stores) -> None:
    options = XmlOptions.of({"path": path, **more})
    reader = XmlReader(replace(options, stores=stores, columns=("id", "xml")))
    with _told(f"{what}: plan"):
        partitions = reader.partitions()
    with _told(f"{what}: read"):
        count = sum(batch.num_rows for one in partitions for batch in reader.read(one))
    print(f"{what}: {count} rows of {len(partitions)} partitions")


@contextmanager
def _told(what: str) -> Iterator[None]:
    core, clock = time.process_time(), time.monotonic()
    yield
    core, clock = time.process_time() - core, time.monotonic() - clock
    print(f"{what}: {core:.2f} s on a core, {clock:.2f} s by the clock")


def _document() -> bytes:
    records = "".join(
        f"<Ntry><Id>{n}</Id><Amt Ccy='EUR'>{n % 977}.50</Amt><Nm>name {n % 31}</Nm></Ntry>\n"
        for n in range(RECORDS)
    )
    return f"<Document><Stmt>{records}</Stmt></Document>".encode()


if __name__ == "__main__":
    main()
