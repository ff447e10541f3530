"""What a worker imports as `penstock` when the package was shipped with the session.

Spark puts the archive on the path of a worker, and nothing loads a native module from an archive.
So this file, the package's `__init__` there, unpacks the package once per host into a private
folder that is named by its content, and takes it from there. It runs with any Python 3.

A call of ``take_over`` stands below this text there, with what the package was built for.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

PAYLOAD = "payload/"
FOLDER = "penstock-packages-"


def require_platform(built: Mapping[str, Any]) -> None:
    """Return if the native module can be loaded here."""
    here = (sys.platform, platform.machine())
    python = platform.python_version()
    if sys.version_info[:2] < tuple(built["python"]):
        needed = ".".join(map(str, built["python"]))
        reason = f"has Python {python}, and penstock needs {needed} or newer; set PYSPARK_PYTHON"
    elif here != tuple(built["platform"]):
        theirs, ours = "-".join(built["platform"]), "-".join(here)
        reason = f"is {ours}, and the shipped package is for {theirs}; install penstock there"
    else:
        return
    raise ImportError(f"PV0004: a worker ({sys.executable} on {platform.node()}) {reason}")


def unpacked(archive: str, digest: str) -> str:
    """Return the folder with the package; the first process of a host that needs it makes it."""
    failures = []
    for base in _bases():
        try:
            folder = _private(os.path.join(base, FOLDER + str(os.getuid())))
            target = os.path.join(folder, digest)
            if not os.path.isdir(target):
                _unpack(archive, folder, target)
            return target
        except OSError as error:
            failures.append(f"{base}: {error.strerror or error}")
    reason = "; ".join(failures) or "there is no folder for temporary files"
    raise ImportError(
        f"PV0005: a worker ({sys.executable} on {platform.node()}) cannot unpack penstock "
        f"({reason}); give its user a folder that it can write, by TMPDIR"
    )


def _bases() -> Iterator[str]:
    with contextlib.suppress(OSError):
        yield tempfile.gettempdir()
    yield os.getcwd()


def _private(folder: str) -> str:
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022 or found.st_uid != os.getuid():
        raise OSError(f"{folder} belongs to somebody else or is open to others; remove it")
    return folder


def _unpack(archive: str, folder: str, target: str) -> None:
    unfinished = tempfile.mkdtemp(dir=folder)
    try:
        with zipfile.ZipFile(archive) as packed:
            names = [name for name in packed.namelist() if name.startswith(PAYLOAD)]
            packed.extractall(unfinished, names)
        try:
            os.rename(os.path.join(unfinished, PAYLOAD), target)
        except OSError:
            if not os.path.isdir(target):  # otherwise somebody else was faster
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def take_over(module: dict[str, Any], built: Mapping[str, Any]) -> None:
    """Make a module of an archive the package that lies there."""
    require_platform(built)
    root = unpacked(module["__loader__"].archive, built["digest"])
    path = os.path.join(root, "penstock")
    module["__path__"][:] = [path]
    module["__file__"] = os.path.join(path, "__init__.py")
    with open(module["__file__"], "rb") as source:
        exec(compile(source.read(), module["__file__"], "exec", dont_inherit=True), module)
