"""Jars from Maven's central repository, kept in a folder."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from pathlib import Path

_ABSENT_SECONDS = 3600
"""What a repository does not have is not asked for again so soon."""


class UnavailableError(Exception):
    """Something cannot be had here; the message says why."""


def resolve(coordinates: list[str], cache: Path, is_transitive: bool) -> list[Path]:
    """Return jars, with all that they depend on or without it.

    Raises:
        UnavailableError: They cannot be had.
    """
    pom = _pom(coordinates, is_transitive)
    folder = cache / hashlib.blake2b(pom.encode(), digest_size=8).hexdigest()
    done, absent = folder / "done", folder / "absent"
    if absent.exists() and time.time() - absent.stat().st_mtime < _ABSENT_SECONDS:
        raise UnavailableError(absent.read_text("utf-8"))
    if not done.exists():
        maven = shutil.which("mvn")
        if maven is None:
            raise UnavailableError("there is no mvn to fetch jars with")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(pom, "utf-8")
        goal = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"
        target = f"-DoutputDirectory={folder / 'jars'}"
        try:
            run([maven, "-q", "-B", goal, target, "-DincludeScope=runtime"], folder, 900)
        except UnavailableError as error:
            if "not be resolved" in str(error) or "not find artifact" in str(error):
                absent.write_text(str(error), "utf-8")
            raise
        done.touch()
    return sorted((folder / "jars").glob("*.jar"))


def _pom(coordinates: list[str], is_transitive: bool) -> str:
    # Poms of Spark name repositories of their own, which need not be reachable: without what
    # the artifacts depend on, Maven never asks there.
    everything = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
    nothing = f"<exclusions>{everything}</exclusions>"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>{'' if is_transitive else nothing}</dependency>"
        for group, artifact, version in (one.split(":") for one in coordinates)
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>penstock</groupId><artifactId>tests</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def run(command: list[str], folder: Path, seconds: float) -> None:
    """Run a command to its end.

    Raises:
        UnavailableError: It fails, or takes too long.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{Path(command[0]).name} took more than {seconds:g} s") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        first = said[0].partition("] ")[2] if said else f"exit code {done.returncode}"
        raise UnavailableError(f"{Path(command[0]).name}: {first[:300]}")
