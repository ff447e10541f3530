"""Node-sets become unions of forward paths wherever they stand."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths

PATHS = {
    "//a[not(.//b/parent::c)]": ["/descendant::a[not(descendant::c[child::b])]"],
    "//a[not(b/..)]": ["/descendant::a[not(child::b)]"],
    "count(//a/..)": ["/descendant-or-self::node()[child::a]"],
    "string(//a/..)": ["string(descendant-or-self::node()[child::a])"],
    "//a/.. = 'x'": ["descendant-or-self::node()[child::a][string(.) = 'x']"],
    "(//a/..)[b]": ["/descendant-or-self::node()[child::a][child::b]"],
    "(//a | //b)/..": [
        "/descendant-or-self::node()[child::a]",
        "/descendant-or-self::node()[child::b]",
    ],
    "(//a)[../b]": ["/descendant-or-self::node()[child::b]/child::a"],
    "//a[(../b)[c]/d]": ["/descendant-or-self::node()[child::b[child::c][child::d]]/child::a"],
    "boolean(//a[ancestor::n])": ["descendant::n[descendant::a]"],
    "//a[/b/.. and c]": ["[child::b]/descendant::a[child::c]"],
}


@pytest.mark.parametrize("text", PATHS)
def test_a_path_looks_forward_inside_values_too(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)
