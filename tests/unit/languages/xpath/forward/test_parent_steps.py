"""``P/t/parent::n`` is ``P/self::n[t]``, and ``P//t/parent::n`` is ``P//n[t]``."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths

PATHS = {
    "/r/a/parent::r": ["/child::r[child::a]"],
    "/r/a/parent::x": [],
    "/r/a/../b": ["/child::r[child::a]/child::b"],
    "//a/parent::n": ["/descendant::n[child::a]"],
    "//a[b]/parent::n[c]": ["/descendant::n[child::a[child::b]][child::c]"],
    "//a/..": ["/descendant-or-self::node()[child::a]"],
    "//a/../..": ["/descendant-or-self::node()[child::node()[child::a]]"],
    "//@k/..": ["/descendant-or-self::node()[attribute::k]"],
    "/r//a/b/parent::a": ["/child::r/descendant::a[child::b]"],
    "//b/self::b/..": ["/descendant-or-self::node()[child::b]"],
    "/r/descendant-or-self::r/..": ["/child::r/descendant-or-self::node()[child::r]", "[child::r]"],
    "/..": [],
    "//a/../@k": ["/descendant-or-self::node()[child::a]/attribute::k"],
}


@pytest.mark.parametrize("text", PATHS)
def test_a_step_to_the_parent_is_a_condition_on_it(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)
