"""Absolute paths in predicates become conditions on the document node."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.absolute_paths import hoist_absolute_paths
from penstock.twigs.queries import NoTwigError
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("/*/a[/r/b and b]/b", ["[child::r[child::b]]/child::*/child::a[child::b]/child::b"]),
    ("/*[/r]", ["[child::r]/child::*"]),
    ("/*[not(/r)]", ["[not(child::r)]/child::*"]),
    ("/*[/r or a]", ["[child::r]/child::*", "/child::*[child::a]"]),
    ("/*[not(/r) or a]", ["/child::*[child::a]", "[not(child::r)]/child::*"]),
    (
        "/*[/r and a or not(/r) and b]",
        [
            "[child::r]/child::*[child::a]",
            "[not(child::r)]/child::*[child::b]",
            "/child::*[child::a][child::b]",
        ],
    ),
    ("/*[/r[/r/b]]", ["[child::r[child::b]][child::r]/child::*"]),
    ("/*[/]", ["/child::*"]),
    ("/r[/r]/a[/r]", ["[child::r]/child::r/child::a"]),
    ("/*/a[contains(/r/b, 'x')]", None),
    ("/r[string(a[/r/b]) = 'x']", None),
    ("boolean(/*[/r])", ["child::r and child::*"]),
    ("boolean(/*[/r or a])", ["child::r and child::* or child::*[child::a]"]),
    ("string(/*[/r])", ["string(self::document()[child::r]/child::*)"]),
    ("concat(/*[/r], 'x')", ["concat(string(self::document()[child::r]/child::*), 'x')"]),
    ("count(//a[/r/b = 1 or b])", None),
]


@pytest.mark.parametrize(("expression", "shape"), [e for e in EXPRESSIONS if e[1]])
def test_an_absolute_path_guards_the_document_node(expression: str, shape: list[str]) -> None:
    assert sorted(rewritten(hoist_absolute_paths, expression)) == sorted(shape)


def test_nothing_waits_for_an_absence_that_no_result_needs() -> None:
    assert not any("not(" in shape for shape in rewritten(hoist_absolute_paths, "/*[/r or a]"))


def test_a_query_without_absolute_conditions_is_the_same_object() -> None:
    query = xpath("//a[b]")
    assert hoist_absolute_paths(query) is query


def test_the_number_of_cases_is_bounded() -> None:
    def cases(count: int) -> str:
        return "//x[" + " or ".join(f"/a{i} and b{i}" for i in range(count)) + "]"

    assert len(rewritten(hoist_absolute_paths, cases(3))) == 8 - 1
    with pytest.raises(NoTwigError):
        hoist_absolute_paths(xpath(cases(4)))
    with pytest.raises(NoTwigError):
        hoist_absolute_paths(xpath(f"boolean({cases(5)})"))


def test_a_union_may_have_more_alternatives_of_its_own() -> None:
    text = " | ".join(f"//a{i}[/r]" for i in range(20))
    assert len(rewritten(hoist_absolute_paths, text)) == 20


def test_a_value_whose_node_depends_on_cases_has_no_twig() -> None:
    with pytest.raises(NoTwigError):
        hoist_absolute_paths(xpath("string(//a[/b or c])"))


def test_results_are_kept() -> None:
    assert_results_kept(hoist_absolute_paths, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(hoist_absolute_paths, seed=6)
