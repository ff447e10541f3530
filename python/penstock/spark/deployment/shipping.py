"""The package as an archive that travels with a session."""

from __future__ import annotations

import atexit
import hashlib
import platform
import shutil
import sys
import tempfile
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from penstock.sinks.base import java_of
from penstock.spark.deployment import bootstrap
from penstock.spark.deployment.sessions import is_local
from penstock.versions import DISTRIBUTION, own_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_PYTHON = (3, 11)
"""The native module is built for this version of Python and all later ones."""
_LEFT_OUT = ("__pycache__", ".pyi")

_shipped: WeakSet[Any] = WeakSet()


def ship(session: SparkSession) -> None:
    """Send this package to the workers of a session.

    Call it before anything of the package runs there. Workers that come later get it, too. Each
    host unpacks it once, into a private folder for temporary files. It goes before a package that
    workers have installed. In local mode nothing is sent. It may be
    called again.

    Workers need pyspark and pyarrow, the driver's platform, and a Python with the driver's minor
    version.
    """
    java = java_of(session)
    key = session if java is None else session.sparkContext
    if key in _shipped or (java is not None and is_local(str(session.sparkContext.master))):
        return
    archive = package_archive()
    if java is None:
        session.addArtifacts(str(archive), pyfile=True)
    else:
        session.sparkContext.addPyFile(str(archive))
    _shipped.add(key)


@cache
def package_archive() -> Path:
    """Return the archive with this package, in a folder that lasts as long as this process."""
    import penstock

    package = Path(penstock.__file__).parent
    files = sorted(path for path in package.rglob("*") if _is_needed(path, package))
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(package)).encode() + b"\0")
        digest.update(path.read_bytes())
    name = digest.hexdigest()[:16]
    built = {
        "version": own_version(),
        "digest": name,
        "python": OLDEST_PYTHON,
        "platform": (sys.platform, platform.machine()),
    }
    folder = Path(tempfile.mkdtemp(prefix="penstock-shipped-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = folder / f"penstock-{own_version()}-{name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        start = Path(bootstrap.__file__).read_text("utf-8")
        packed.writestr("penstock/__init__.py", f"{start}\n\ntake_over(globals(), {built!r})\n")
        for path in files:
            packed.write(path, f"{bootstrap.PAYLOAD}penstock/{path.relative_to(package)}")
        _add_metadata(packed)
    return archive


def _is_needed(path: Path, package: Path) -> bool:
    parts = path.relative_to(package).parts
    return path.is_file() and not any(
        part == left_out or part.endswith(left_out) for part in parts for left_out in _LEFT_OUT
    )


def _add_metadata(packed: zipfile.ZipFile) -> None:
    """Add what tells a worker the version."""
    try:
        found = distribution(DISTRIBUTION).read_text("METADATA")
    except PackageNotFoundError:
        return
    packed.writestr(f"penstock_xml-{own_version()}.dist-info/METADATA", found or "")
