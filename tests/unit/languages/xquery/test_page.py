"""The grammar page lists the functions and types that there are."""

import re
from pathlib import Path

from penstock.languages.xquery.functions import FUNCTIONS
from penstock.languages.xquery.types import ATOMIC_TYPES

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "xquery.md").read_text("utf-8")


def test_the_page_lists_every_function_with_its_numbers_of_arguments() -> None:
    _, _, section = PAGE.partition("## Functions")
    table = re.findall(r"`([\w-]+)` (\d+\+|\d+(?:/\d+)*)[ ,]", section.partition("## ")[0])
    listed = {
        name: "many" if "+" in numbers else tuple(map(int, numbers.split("/")))
        for name, numbers in table
    }
    assert listed == {
        name: "many" if isinstance(arities, range) else arities
        for name, arities in FUNCTIONS.items()
    }


def test_the_page_lists_every_type() -> None:
    _, _, rule = PAGE.partition('atomic      = "xs:" (')
    assert set(re.findall(r"\w+", rule.partition(")")[0])) == ATOMIC_TYPES
