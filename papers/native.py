"""The extension of the papers' algorithms: built on demand, never part of a wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CRATE = Path(__file__).parent / "crate"
LIBRARY = "PENSTOCK_PAPERS_LIBRARY"
"""The variable that names an extension which is built already."""
_SUFFIX = {"darwin": ".dylib"}.get(sys.platform, ".so")
_NAME = "penstock_papers"


def path() -> Path:
    """Return where the extension is, or will be."""
    if given := os.environ.get(LIBRARY):
        return Path(given)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / f"lib{_NAME}{_SUFFIX}"


@cache
def missing() -> str | None:
    """Build the extension, and say why that cannot be done, or return None."""
    if LIBRARY in os.environ:
        return None if path().exists() else f"{LIBRARY} names {path()}, which does not exist"
    if not shutil.which("cargo"):
        return "the algorithms of the papers need cargo, which is not here"
    done = subprocess.run(
        ["cargo", "build", "--release", "--locked", "--quiet"],
        cwd=CRATE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = lines[0] if lines else "cargo failed"
        return f"the algorithms of the papers cannot be built: {reason}"
    return None


@cache
def load() -> Any:
    """Return the extension module.

    Raises:
        RuntimeError: It cannot be built.
    """
    if reason := missing():
        raise RuntimeError(reason)
    loader = ExtensionFileLoader(_NAME, str(path()))
    spec = spec_from_loader(_NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
