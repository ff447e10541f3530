"""``/descendant::t/ancestor::n`` is ``//n[.//t]``; longer paths give unions."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths

PATHS = {
    "//a/ancestor::n": ["/descendant::n[descendant::a]"],
    "//a[b]/ancestor::n[c]": ["/descendant::n[child::c][descendant::a[child::b]]"],
    "/r/a/b/ancestor::*": ["/child::r/child::a[child::b]", "/child::r[child::a[child::b]]"],
    "/r//a/ancestor::n": ["/child::r/descendant::n[descendant::a]"],
    "//a/b/ancestor::n": ["/descendant::n[descendant::a[child::b]]"],
    "//a//b/ancestor-or-self::n": [
        "/descendant::a/descendant::n[descendant::b]",
        "/descendant::n[descendant::a[descendant::b]]",
    ],
    "/r/ancestor::node()": ["[child::r]"],
    "/ancestor::node()": [],
    "/ancestor-or-self::node()": [""],
    "//@k/ancestor::a": [
        "/descendant::a[attribute::k]",
        "/descendant::a[descendant::node()[attribute::k]]",
    ],
    "//a/ancestor::m/ancestor::n//b": [
        "/descendant::n[descendant::m[descendant::a]]/descendant::b"
    ],
}


@pytest.mark.parametrize("text", PATHS)
def test_a_step_to_ancestors_is_a_condition_on_them(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)
