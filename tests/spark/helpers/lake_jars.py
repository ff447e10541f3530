"""The jars of Delta and Iceberg that the sinks name, and the releases of Spark they are for.

``python -m tests.spark.helpers.lake_jars python 4.2`` prints a Python with that release.
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.sinks import DeltaSink, IcebergSink
from tests.spark.helpers.maven import UnavailableError, resolve, run
from tests.spark.helpers.servers import ROOT

RELEASES = {"4.1": "4.1.4", "4.2": "4.2.1"}
_MORE = {"4.1": ["pyiceberg==0.12.0"], "4.2": []}
"""What reads tables without Spark; those of Delta need nothing."""
_CACHE = ROOT / "out" / "lake"


def delta_jars() -> list[Path]:
    """Return Delta for Spark.

    Raises:
        UnavailableError: It cannot be had.
    """
    version = DeltaSink.library.rpartition(":")[2]
    return resolve([DeltaSink.library, f"io.delta:delta-storage:{version}"], _CACHE, False)


def iceberg_jars() -> list[Path]:
    """Return Iceberg for Spark.

    Raises:
        UnavailableError: It cannot be had.
    """
    return resolve([IcebergSink.library], _CACHE, False)


def python_with(release: str) -> str:
    """Return a Python that has a release of Spark, and what this one has besides.

    Raises:
        UnavailableError: It cannot be had.
    """
    folder = ROOT / "out" / "spark" / RELEASES[release]
    python = folder / "bin" / "python"
    done = folder / "done"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "venv", str(folder)], folder.parent, 300)
        package = f"pyspark=={RELEASES[release]}"
        run([str(python), "-m", "pip", "install", "-q", "--no-deps", package], folder, 1800)
        (own,) = folder.glob("lib/python3*/site-packages")
        others = [place for place in sys.path if place.endswith("site-packages")]
        # Its own packages come first, so its pyspark wins.
        (own / "zz_others.pth").write_text("\n".join(others) + "\n", "utf-8")
        for more in _MORE[release]:
            run([str(python), "-m", "pip", "install", "-q", more], folder, 1800)
        done.touch()
    return str(python)


if __name__ == "__main__":
    try:
        print(python_with(sys.argv[2]))
    except UnavailableError as error:
        sys.exit(f"Spark {sys.argv[2]} cannot be had: {error}")
