"""What the wheel holds, and what it says of itself."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.wheel.wheels import ROOT

WHEEL_BYTES_MAX = 5_000_000
EXTRAS = {"arrow", "routing", "schemas", "spark", "zstd"}
_INSTALLED = re.compile(r"penstock-xml\[(\w+)\]")
_LOADED = re.compile(r"\bload\(\"[\w.]+\", \"(\w+)\"\)")


def check_metadata(said: Message) -> None:
    """Check what a distribution says of itself."""
    assert said["Name"] == "penstock-xml"
    assert said["License-Expression"] == "Apache-2.0"
    assert said.get_all("License-File") == ["LICENSE"]
    assert said["Requires-Python"] == ">=3.11"
    assert set(said.get_all("Provides-Extra") or ()) == EXTRAS
    classifiers = set(said.get_all("Classifier") or ())
    assert {"Typing :: Typed", "Operating System :: POSIX :: Linux"} <= classifiers
    assert str(said.get_payload()).startswith("# Penstock\n")


def sections(library: bytes) -> set[str]:
    """Return the names of the sections of a library for Linux (ELF, 64 bits)."""
    (start,) = struct.unpack_from("<Q", library, 0x28)
    size, count, named = struct.unpack_from("<HHH", library, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", library, start + size * n) for n in range(count)]
    *_, offset, length = headers[named]
    names = library[offset : offset + length]
    return {names[at : names.index(b"\0", at)].decode() for at, *_ in headers}


def test_the_metadata_is_complete(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "pep517", "write-dist-info"]
    command += ["--metadata-directory", str(tmp_path), "--interpreter", sys.executable]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (info,) = tmp_path.iterdir()
    check_metadata(Parser().parsestr((info / "METADATA").read_text("utf-8")))
    assert (info / "licenses/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == EXTRAS
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    sources = [*(ROOT / "python/penstock").rglob("*.py"), *pages]
    named = {
        name
        for path in sources
        for pattern in (_INSTALLED, _LOADED)
        for name in pattern.findall(path.read_text("utf-8"))
    }
    assert named == EXTRAS


@pytest.mark.slow
def test_the_wheel_holds_the_product_and_is_small(built: Path) -> None:
    assert built.stat().st_size <= WHEEL_BYTES_MAX
    with ZipFile(built) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        check_metadata(Parser().parsestr(archive.read(metadata).decode()))
        library = archive.read("penstock/_native.abi3.so")
    assert not {".debug_info", ".symtab"} & sections(library)
    assert {"penstock/py.typed", "penstock/_native.pyi", "penstock_xml/__init__.py"} <= set(names)
    folders = {name.partition("/")[0] for name in names}
    assert {name for name in folders if not name.endswith(".dist-info")} == {
        "penstock",
        "penstock_xml",
    }
    assert not any("__pycache__" in name for name in names)
