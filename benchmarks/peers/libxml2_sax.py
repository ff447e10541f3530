"""libxml2's SAX parser without handlers, called in the system's shared library.

An empty handler table is the least work libxml2 can do for a document, so the comparison
favours it: no event crosses into Python.
"""

import ctypes
import ctypes.util
from collections.abc import Callable

from benchmarks.workloads.queries import Query

NAME = "libxml2 SAX, no handlers"
TIMED = "xmlSAXUserParseMemory with an empty SAX2 handler table"
PARSES_ONLY = True

# struct _xmlSAXHandler: 27 pointers, `initialized`, then 4 more pointers; 32 words suffice.
HANDLER_WORDS = 32
INITIALIZED_WORD = 27
SAX2_MAGIC = 0xDEEDBEAF


def missing() -> str | None:
    return None if ctypes.util.find_library("xml2") else "the shared library libxml2 is not here"


def prepare(_query: Query | None) -> Callable[[bytes], object]:
    library = ctypes.CDLL(ctypes.util.find_library("xml2"))
    library.xmlInitParser()
    parse = library.xmlSAXUserParseMemory
    parse.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
    handlers = (ctypes.c_uint64 * HANDLER_WORDS)()
    handlers[INITIALIZED_WORD] = SAX2_MAGIC

    def run(data: bytes) -> None:
        code = parse(ctypes.byref(handlers), None, data, len(data))
        if code:
            raise ValueError(f"libxml2 refused the document with code {code}")

    return run
