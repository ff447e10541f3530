"""A Python for workers that has pyspark and what it needs, and not this package."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ("dateutil", "numpy", "pandas", "py4j", "pyarrow", "pyspark", "pytz", "six")


def bare_python(home: Path) -> Path:
    """Return the Python of a new environment with links to Spark's own packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            place = Path(found.origin)
            place = place.parent if place.name == "__init__.py" else place
            (site / place.name).symlink_to(place)
            libraries = place.parent / f"{name}.libs"
            if libraries.exists():
                (site / libraries.name).symlink_to(libraries)
    python = home / "bin" / "python"
    has = subprocess.run(
        [str(python), "-I", "-c", "import penstock"], capture_output=True, check=False
    )
    assert has.returncode != 0, "the environment has the package"
    return python


def surroundings(python: Path, temporary: Path) -> dict[str, str]:
    """Return the environment of processes that have nothing but Spark and that Python."""
    left_out = ("PYTHONPATH", "SPARK_REMOTE", "SPARK_HOME", "VIRTUAL_ENV")
    inherited = {key: value for key, value in os.environ.items() if key not in left_out}
    return inherited | {
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYTHONWARNINGS": "ignore",
        "TMPDIR": str(temporary),
    }
