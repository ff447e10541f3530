"""Every difference that docs/notes/differences.md lists is there, and is as it says.

The table is read from the page: expression, document, and the answers of Penstock, lxml and Saxon.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from lxml import etree
from saxonche import PySaxonApiError

from penstock_testing.peers import Libxml2, Saxon
from penstock_testing.tree import parse
from tests.engines import ENGINES, identical

PAGE = Path(__file__).resolve().parents[2] / "docs" / "notes" / "differences.md"
ROW = re.compile(
    r"^\| `(?P<query>.*?)` \| `(?P<document>.*?)` \| (?P<answers>.*) \|$", re.MULTILINE
)
NUMBERS = {"NaN": math.nan, "Infinity": math.inf}


def rows() -> list[tuple[str, str, list[str]]]:
    found = ROW.finditer(PAGE.read_text("utf-8"))
    return [
        (row["query"], row["document"], [cell.strip("`") for cell in row["answers"].split(" | ")])
        for row in found
    ]


def read(cell: str) -> object:
    """Return the answer that a cell states: a number, a truth value, a string, or a node count."""
    if cell.endswith((" node", " nodes")):
        return [()] * int(cell.split()[0])
    if cell.startswith("'"):
        return cell[1:-1]
    if cell in ("true", "false"):
        return cell == "true"
    return cell if cell == "error" else NUMBERS.get(cell) or float(cell)


def is_stated(answer: object, cell: str) -> bool:
    stated = read(cell)
    if isinstance(answer, list) and isinstance(stated, list):
        return len(answer) == len(stated)
    return identical(answer, stated)


def test_the_page_lists_differences() -> None:
    assert len(rows()) > 20


@pytest.mark.parametrize(("query", "document", "answers"), rows())
def test_a_listed_difference_is_as_stated(
    query: str, document: str, answers: list[str], saxon: Saxon
) -> None:
    source = document.encode()
    ours, lxml, saxons = answers
    for ask in ENGINES.values():
        assert is_stated(ask(query, source, {}), ours)
    try:
        assert is_stated(Libxml2(parse(source)).ask(query, {}), lxml)
    except etree.XMLSyntaxError:
        assert lxml == "error"
    try:
        assert is_stated(saxon.ask(query, source, {}), saxons)
    except PySaxonApiError:
        assert saxons == "error"
