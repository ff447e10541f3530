"""A predicate by cases: what must be above the node, and what at it."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths
from tests.unit.languages.xpath.lowered import has_no_twig

PATHS = {
    "//a[b or ancestor::n]": ["/descendant::a[child::b]", "/descendant::n/descendant::a"],
    "//a[(b or ancestor::n) and (c or parent::m)]": [
        "/descendant::a[child::b][child::c]",
        "/descendant::m/child::a[child::b]",
        "/descendant::n/descendant::a[child::c]",
        "/descendant::n/descendant::m/child::a",
    ],
    "//a[ancestor::n = 'x']": ["/descendant::n[string(.) = 'x']/descendant::a"],
    "//a[1 < ../@k]": ["/descendant-or-self::node()[attribute::k[number(string(.)) > 1]]/child::a"],
    "//a[../@k = -1]": [
        "/descendant-or-self::node()[attribute::k[number(string(.)) = -1]]/child::a"
    ],
    "//a[boolean(..)]": ["/descendant::a"],
    "//a[../b | ../c]": [
        "/descendant-or-self::node()[child::b]/child::a",
        "/descendant-or-self::node()[child::c]/child::a",
    ],
    "//a[.//b[parent::a or ancestor::c or d]]": [
        "/descendant::a[descendant-or-self::a[child::b] or descendant::b[child::d]"
        " or descendant::c[descendant::b]]",
        "/descendant::c/descendant::a[descendant::b]",
    ],
    "//a[../self::b or true()]": ["/descendant::a", "/descendant::b/child::a"],
}


@pytest.mark.parametrize("text", PATHS)
def test_what_a_predicate_asserts_is_split_by_cases(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)


@pytest.mark.parametrize(
    "predicate",
    ["not(ancestor::n)", "../@k = .", ".. = true()", "contains(.., 'x')", "count(ancestor::n)"],
)
def test_what_is_not_asserted_has_no_twig(predicate: str) -> None:
    assert has_no_twig(f"//a[{predicate}]")
