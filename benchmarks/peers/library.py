"""The published algorithms in the crate beside this file: built on demand, called in process."""

import ctypes
import shutil
import subprocess
import sys
from array import array
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from benchmarks.runner import ROOT

CRATE = Path(__file__).parent / "crate"
TARGET = ROOT / "out" / "peers"
KINDS = {"yfilter": 0, "xpass": 1, "xpass compressed": 2}
_SUFFIX = {"darwin": ".dylib"}.get(sys.platform, ".so")
_REASON_BYTES = 400


@cache
def missing() -> str | None:
    """Build the crate, and say why that cannot be done, or return None."""
    if not shutil.which("cargo"):
        return "the compiled peers need cargo, which is not here"
    done = subprocess.run(
        ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", TARGET],
        cwd=CRATE,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return f"the compiled peers cannot be built: {lines[0] if lines else 'cargo failed'}"
    return None


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(TARGET / "release" / f"libpenstock_peers{_SUFFIX}"))
    size, handle = ctypes.c_size_t, ctypes.c_void_p
    library.peer_open.argtypes = (ctypes.c_uint32, ctypes.c_bool, ctypes.c_char_p, size)
    library.peer_open.restype = handle
    library.peer_read.argtypes = (handle, ctypes.c_char_p, size, ctypes.POINTER(size))
    library.peer_read.restype = ctypes.POINTER(ctypes.c_uint32)
    library.peer_forget.argtypes = library.peer_close.argtypes = (handle,)
    library.peer_forget.restype = library.peer_close.restype = None
    library.peer_failure.argtypes = (ctypes.c_char_p, size)
    library.peer_failure.restype = size
    return library


class CompiledPeer:
    """Queries compiled by one of the algorithms."""

    def __init__(self, kind: str, queries: Iterable[str], mode: str) -> None:
        self._is_query = mode == "query"
        texts = "\n".join(queries).encode()
        opened = _library().peer_open(KINDS[kind], self._is_query, texts, len(texts))
        if not opened:
            raise ValueError(_failure())
        self._handle = opened

    def read(self, documents: Iterable[bytes]) -> None:
        """Evaluate documents; the numbers of what matches lie in memory after each of them."""
        for document in documents:
            self._read(document)

    def answer(self, document: bytes) -> list[int] | list[tuple[int, int]]:
        """Return what matches, sorted: queries, in query mode with the numbers of elements."""
        found, count = self._read(document)
        numbers = array("I", ctypes.string_at(found, 4 * count))
        if not self._is_query:
            return sorted(numbers)
        return sorted(zip(numbers[1::2], numbers[::2], strict=True))

    def forget(self) -> None:
        """Forget what was learnt from documents."""
        _library().peer_forget(self._handle)

    def _read(self, document: bytes) -> tuple[object, int]:
        count = ctypes.c_size_t()
        found = _library().peer_read(self._handle, document, len(document), ctypes.byref(count))
        if not found:
            raise ValueError(_failure())
        return found, count.value

    def __del__(self) -> None:
        if handle := getattr(self, "_handle", None):
            _library().peer_close(handle)


def _failure() -> str:
    buffer = ctypes.create_string_buffer(_REASON_BYTES)
    length = _library().peer_failure(buffer, _REASON_BYTES)
    return buffer.raw[:length].decode(errors="replace")
