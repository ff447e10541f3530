"""What a worker checks before it runs anything of this package.

The check travels by value, so it runs where the package is missing, and says so in one sentence:
what failed comes back to the driver as the error of the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from penstock.versions import own_version

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Work = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def map_batches(frame: DataFrame, work: Work, schema: StructType | str) -> DataFrame:
    """Return what a function of this package makes of the record batches of a DataFrame.

    A task on a worker without the package, or with another version of it, fails with one sentence:
    PV0002 to PV0005.
    """
    return frame.mapInArrow(guarded(work), schema)


def guarded(work: Work) -> Work:
    """Return a function that checks the worker before it does the work."""
    from pyspark import cloudpickle

    dumps: Callable[[Work], bytes] = cloudpickle.dumps
    packed = dumps(work)
    ours = own_version()

    # Nothing of the package is a global here: all of it is looked up where it runs.
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle
        import platform
        import sys

        worker = f"a worker ({sys.executable} on {platform.node()})"
        try:
            import penstock.kernel  # noqa: F401  # it loads the native module
            from penstock.versions import own_version
        except ImportError as error:
            said = str(error)
            if said.startswith("PV00"):
                sentence = said
            elif (error.name or "").partition(".")[0] == "penstock" and "_native" not in said:
                sentence = (
                    f"PV0002: {worker} does not have penstock {ours}; call "
                    "penstock.spark.ship(spark) before, or install it there"
                )
            else:
                sentence = (
                    f"PV0004: {worker} cannot load penstock: {said}; install it there for "
                    f"{sys.platform}-{platform.machine()}"
                )
            raise RuntimeError(sentence) from None
        theirs = own_version()
        if theirs != ours:
            raise RuntimeError(
                f"PV0003: {worker} has penstock {theirs}, and the driver {ours}; install the same "
                "there, or call penstock.spark.ship(spark) first in a new session"
            )
        yield from pickle.loads(packed)(batches)

    return run
