"""``P/t[parent::n]`` is ``P/self::n/t``, and ``P//t[parent::n]`` is ``P//n/t``."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths

PATHS = {
    "//a[parent::n[b]]": ["/descendant::n[child::b]/child::a"],
    "/r/a[parent::r]": ["/child::r/child::a"],
    "/r/a[parent::x]": [],
    "//a[..]": ["/descendant::a"],
    "//@k[../@j]": ["/descendant-or-self::node()[attribute::j]/attribute::k"],
    "/r/descendant-or-self::a[parent::r]": ["/child::r/descendant-or-self::r/child::a"],
    "//a[../../b]": ["/descendant-or-self::node()[child::b]/child::node()/child::a"],
    "//a/self::a[parent::b]": ["/descendant::b/child::a"],
    "//a[.//b[parent::c]]": ["/descendant::a[descendant::c[child::b]]"],
    "/self::node()[..]": [],
    "//a[parent::n/parent::m]/b": ["/descendant::m/child::n/child::a/child::b"],
}


@pytest.mark.parametrize("text", PATHS)
def test_a_condition_on_the_parent_is_a_step_before(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)
