"""What Spark needs from the machine, and one sentence when it is not there."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path


def missing() -> str | None:
    """Return why no Spark session can be started here, or None.

    A session on a Connect server (``SPARK_REMOTE``) needs no Java.
    """
    if find_spec("pyspark") is None:
        return "pyspark is not installed; pip install 'penstock-xml[spark]' does that"
    if os.environ.get("SPARK_REMOTE") or _java() is not None:
        return None
    return "Spark needs Java 17 or newer; install one and set JAVA_HOME, or put java on the PATH"


def require() -> None:
    """Return if a Spark session can be started here.

    Raises:
        RuntimeError: Something is missing; the message says what and where to get it.
    """
    reason = missing()
    if reason is not None:
        raise RuntimeError(reason)


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        return shutil.which("java", path=str(Path(home, "bin")))
    return shutil.which("java")
