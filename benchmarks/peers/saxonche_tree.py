"""SaxonC-HE: Saxon compiled to native code, in its mode for XPath 1.0."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "saxonche"
TIMED = "decode, parse_xml(xml_text) and evaluate, an XDM value"
IS_SLOW = True


def missing() -> str | None:
    return absent("saxonche")


def _processor(query: Query) -> tuple[Any, Any]:
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    xpath = processor.new_xpath_processor()
    xpath.set_backwards_compatible(True)
    return processor, xpath


def prepare(query: Query) -> Callable[[bytes], Any]:
    processor, xpath = _processor(query)

    def run(data: bytes) -> Any:
        xpath.set_context(xdm_item=processor.parse_xml(xml_text=data.decode()))
        return xpath.evaluate(query.text)

    return run


def prepare_file(query: Query) -> Callable[[Path], Any]:
    processor, xpath = _processor(query)

    def run(path: Path) -> Any:
        xpath.set_context(xdm_item=processor.parse_xml(xml_file_name=str(path)))
        return xpath.evaluate(query.text)

    return run


def values(answer: Any) -> list[str]:
    if answer is None:
        return []
    return [item.string_value for item in answer]
