"""A job in a process of its own: documents in batch and as a stream, its rows as JSON.

`python -m tests.spark.helpers.job SESSION FOLDER`, where SESSION is `sc://…` for a Connect server
and a master otherwise.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import penstock
from penstock.registry.changeable import ChangeableRegistry
from penstock.spark import join, match
from penstock.spark.plans import EMBEDDED_BYTES_MAX, ship
from tests.spark.helpers.items import item, item_registry

DOCUMENTS = 400
SUBSCRIPTIONS = 4000
"""So many have a tier that a host keeps in its folder, and a plan that travels as a file."""
_SCHEMA = "id long, xml binary"


def documents() -> list[tuple[int, bytes]]:
    """Return the documents of the job; one in twenty has no end."""
    random = Random(11)
    made = [item(random, number) for number in range(DOCUMENTS)]
    return [(number, data[:-1] if number % 20 == 0 else data) for number, data in enumerate(made)]


def registries(folder: Path) -> dict[str, ChangeableRegistry]:
    """Return registries whose plans travel in the function, as a file, and by their folders."""
    large = penstock.Registry()
    for number in range(SUBSCRIPTIONS):
        large.add(f"q{number}", f"/item[@id = 'i{number}']/title")
    made: dict[str, ChangeableRegistry] = {"small": item_registry(), "large": large}
    for name in ("small", "large"):
        live = penstock.Registry.open(registry_folder(folder, name))
        with live.changes():
            for one in made[name]:
                if one.name not in live:
                    live.add(one.name, one.query, one.mode)
        made[f"{name}_live"] = live
    return made


def registry_folder(folder: Path, name: str) -> Path:
    """Return the folder of a registry that streams follow, the small or the large one."""
    return folder / "registries" / name


def joining() -> penstock.Registry:
    """Return a registry that joins items: a pair, a chain over what is published, an absence."""
    registry = penstock.Registry()
    for name, text in (
        ("same", "SELECT x, y FROM S/item->x[tag->p] FOLLOWED BY{p = q, 2} S/item->y[tag->q]"),
        (
            "told",
            "SELECT <told p='{p}'/> FROM S/item->x[tag->p] JOIN{p = q, 1} S/item->y[tag->q]"
            " PUBLISH T",
        ),
        ("again", "SELECT t, z FROM T/told->t[@p->k] FOLLOWED BY{k = r, 1} S/item->z[tag->r]"),
        ("never", "S/item->x[tag->p] NOT FOLLOWED BY{p = q, 3} S/item->y[tag->q]"),
    ):
        registry.add(name, penstock.xscl(text))
    return registry


def identity(row: Any) -> list[Any]:
    """Return what tells a row from another, and its value."""
    names = ("document", "subscription", "ordinal", "kind", "value")
    return [str(row[name]) for name in names]


def main(session: str, folder: Path) -> None:
    """Run the job and print its rows."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if session.startswith("sc://"):
        builder = builder.remote(session)
    else:
        builder = builder.master(session)
        for key, value in (
            ("spark.ui.enabled", "false"),
            ("spark.driver.host", "127.0.0.1"),
            ("spark.executor.memory", "512m"),
            # Both workers of the cluster are there before the first task is given out.
            ("spark.cores.max", "2"),
            ("spark.scheduler.minRegisteredResourcesRatio", "1.0"),
            ("spark.scheduler.maxRegisteredResourcesWaitingTime", "600s"),
        ):
            builder = builder.config(key, value)
    spark = builder.getOrCreate()
    table = spark.createDataFrame(documents(), _SCHEMA).repartition(4)
    source = str(folder / "in")
    table.write.parquet(source)
    found: dict[str, Any] = {}
    for name, registry in registries(folder).items():
        reference = ship(registry, table)
        assert (reference.data is None) == name.startswith("large"), EMBEDDED_BYTES_MAX
        found[f"{name} batch"] = [identity(row) for row in match(table, registry).collect()]
        stream = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 2).parquet(source)
        sink = str(folder / name)
        writer = match(stream, registry).writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(folder / f"{name}.checkpoint"))
        query = writer.trigger(availableNow=True).start(sink)
        query.awaitTermination()
        found[f"{name} stream"] = [identity(row) for row in spark.read.parquet(sink).collect()]
    timed = table.selectExpr("*", "timestamp_seconds(id) AS ts", "'S' AS stream")
    joined = join(timed, joining(), time="ts", stream="stream")
    found["joins"] = [identity(row) for row in joined.collect()]
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
