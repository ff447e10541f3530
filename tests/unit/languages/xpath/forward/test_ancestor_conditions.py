"""``P//t[ancestor::n]`` is ``P//n//t``, or P itself has such an ancestor."""

import pytest

from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths

PATHS = {
    "//a[ancestor::n[b]]": ["/descendant::n[child::b]/descendant::a"],
    "/r/a/b[ancestor::n]": [],
    "/r/a/b[ancestor::r[k]]": ["/child::r[child::k]/child::a/child::b"],
    "/r//a[ancestor::n]": ["/child::r/descendant::n/descendant::a"],
    "//a//b[ancestor::n]": [
        "/descendant::a/descendant::n/descendant::b",
        "/descendant::n/descendant::a/descendant::b",
    ],
    "//a[ancestor-or-self::n]": ["/descendant::n/descendant::a"],
    "//@k[ancestor::n]": [
        "/descendant::n/attribute::k",
        "/descendant::n/descendant::node()/attribute::k",
    ],
    "//a[ancestor::n/b]": ["/descendant::n[child::b]/descendant::a"],
    "//a[ancestor::n/ancestor::m]": ["/descendant::m/descendant::n/descendant::a"],
    "//a[.//b[ancestor::n]]": [
        "/descendant::a[descendant::n[descendant::b]]",
        "/descendant::n/descendant::a[descendant::b]",
    ],
    "/self::node()[ancestor::node()]": [],
}


@pytest.mark.parametrize("text", PATHS)
def test_a_condition_on_ancestors_is_a_step_between_or_before(text: str) -> None:
    assert forward_paths(text) == PATHS[text]


def test_results_are_kept() -> None:
    assert_kept(*PATHS)
