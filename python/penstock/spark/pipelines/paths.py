"""Paths of a pipeline's file: from its folder, unless they are absolute or name a file system."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from penstock.definitions.nodes import Node
from penstock.storage import disk_path

HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def path_reader(folder: Path) -> Callable[[Node], str]:
    """Return what reads a path in a file that lies in a folder."""

    def read(node: Node) -> str:
        text = node.text()
        return text if HAS_SCHEME.match(text) else str(folder / text)

    return read


def disk_reader(folder: Path) -> Callable[[Node], str]:
    """Return what reads a path that has to lie on a disk."""
    read = path_reader(folder)

    def read_on_disk(node: Node) -> str:
        path = disk_path(read(node))
        if path is None:
            message = "this has to lie on a disk: object stores have no renames that are atomic"
            raise node.error("PC0005", message, "give a folder that the hosts share")
        return str(path)

    return read_on_disk


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    path, folder = _plain(path), _plain(folder)
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _plain(path: str) -> str:
    return path.rstrip("/") if HAS_SCHEME.match(path) else os.path.realpath(path)
