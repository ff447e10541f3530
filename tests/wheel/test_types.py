"""A program of a user sees the types of the installed package: mypy --strict passes on it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.wheel.wheels import ROOT, site_of

HERE = Path(__file__).parent


def check(environment: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Run mypy on programs, with the packages of an environment."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    command += ["--cache-dir", str(environment / "cache"), "--config-file", ""]
    command += ["--python-executable", str(environment / "bin" / "python")]
    # Where nothing of the sources is around: types come from the environment alone.
    return subprocess.run(
        [*command, *files], cwd=environment, capture_output=True, text=True, check=False
    )


def installed(environment: Path) -> None:
    """Put the Python part of the package where installing a wheel puts it."""
    source = ROOT / "python" / "penstock"
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(source, site_of(environment) / "penstock", ignore=ignored)


def test_mypy_sees_the_types_of_the_installed_package(tmp_path: Path) -> None:
    installed(tmp_path)
    done = check(tmp_path, str(HERE / "program.py"))
    assert done.returncode == 0, done.stdout
    done = check(tmp_path, str(HERE / "mistakes.py"))
    found = {int(line) for line in re.findall(r"mistakes\.py:(\d+): error", done.stdout)}
    lines = (HERE / "mistakes.py").read_text().splitlines()
    assert found == {n for n, line in enumerate(lines, 1) if line.endswith("# mistake")}


@pytest.mark.slow
def test_mypy_sees_the_types_of_the_wheel(built: Path, tmp_path: Path) -> None:
    site = site_of(tmp_path / "environment")
    with ZipFile(built) as archive:
        assert {"penstock/py.typed", "penstock/_native.pyi"} <= set(archive.namelist())
        archive.extractall(site)
    done = check(tmp_path / "environment", str(HERE / "program.py"))
    assert done.returncode == 0, done.stdout
