"""Wheels and the environments that they are installed in, without a network."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {"__pycache__", "penstock_testing"}

Files = dict[str, bytes]


def packages() -> Files:
    """Return the files of our packages, as the wheel has them."""
    python = ROOT / "python"
    files = (path for path in sorted(python.rglob("*")) if path.is_file())
    return {
        path.relative_to(python).as_posix(): path.read_bytes()
        for path in files
        if LEFT_OUT.isdisjoint(path.parts)
    }


def commands() -> bytes:
    """Return our commands, as metadata of a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (f"{name} = {place}" for name, place in project["scripts"].items())
    return "\n".join(["[console_scripts]", *lines, ""]).encode()


def write_wheel(folder: Path, name: str, files: Files, scripts: bytes = b"") -> Path:
    """Write a wheel of a distribution and return it."""
    module = name.replace("-", "_")
    info = f"{module}-0.1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": scripts,
    }
    files[f"{info}/RECORD"] = "".join(f"{one},,\n" for one in [*files, f"{info}/RECORD"]).encode()
    path = folder / f"{module}-0.1.0-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for one, content in files.items():
            archive.writestr(one, content)
    return path


def build_wheel(folder: Path) -> Path:
    """Build our wheel as `make build` does, and return it."""
    build = [sys.executable, "-m", "maturin", "build", "--release", "--locked"]
    build += ["--interpreter", sys.executable, "--out", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def site_of(folder: Path) -> Path:
    """Return where a new environment without anything in it installs packages."""
    venv.create(folder, with_pip=False)
    return Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))


def pip(environment: Path, *arguments: str) -> None:
    """Run pip on an environment."""
    command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    command += ["--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def install(environment: Path, *wheels: Path) -> None:
    """Install wheels one after the other."""
    for wheel in wheels:
        pip(environment, "install", "--no-index", "--no-deps", str(wheel))
