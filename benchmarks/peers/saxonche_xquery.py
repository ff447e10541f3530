"""SaxonC-HE with XQuery: it builds a tree, evaluates the query and serialises the result."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent

NAME = "SaxonC-HE"
TIMED = "parse_xml(file), run_query_to_string; the tree is timed apart as well"


def missing() -> str | None:
    return absent("saxonche")


def prepare(text: str) -> Callable[[Path], dict[str, Any]]:
    """Return a callable that gives the seconds of both parts, and the result."""
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    xquery = processor.new_xquery_processor()
    xquery.set_property("!omit-xml-declaration", "yes")
    xquery.set_property("!indent", "no")
    xquery.set_property("!item-separator", "\n")
    xquery.set_query_content(text)

    def run(path: Path) -> dict[str, Any]:
        start, cores = time.perf_counter(), time.process_time()
        xquery.set_context(xdm_item=processor.parse_xml(xml_file_name=str(path)))
        built = time.perf_counter()
        result = xquery.run_query_to_string() or ""
        end = time.perf_counter()
        return {
            "seconds": end - start,
            "core_seconds": time.process_time() - cores,
            "build_seconds": built - start,
            "result": result,
        }

    return run
