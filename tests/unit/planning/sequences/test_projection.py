"""Which nodes a query needs, and what of them."""

import pytest

import penstock


def kept(text: str, title: str) -> list[str]:
    """Return the lines of a section of the explanation."""
    sections = str(penstock.explain(penstock.xquery(text))).split("\n\n")
    for section in sections:
        first, *lines = section.rstrip().splitlines()
        if first == title:
            return [line.strip() for line in lines]
    return []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for $b in //b where $b/c return 1", ["//b: that it exists", "//b/c: that it exists"]),
        ("for $b in //b return string($b/c)", ["//b: that it exists", "//b/c: string value"]),
        ("for $b in //b return <d>{$b/c}</d>", ["//b: that it exists", "//b/c: source"]),
        ("for $b in //b return name($b/c)", ["//b: that it exists", "//b/c: that it exists"]),
        (
            "for $b in //b return <d>{$b/c}</d>/c",
            ["//b: that it exists", "//b/c: everything inside"],
        ),
        (
            "declare function local:f($x) { $x/e }; for $b in //b return local:f($b/c)",
            ["//b: that it exists", "//b/c: everything inside"],
        ),
        (
            "declare function local:f($x as xs:string) { $x }; for $b in //b return local:f($b/c)",
            ["//b: that it exists", "//b/c: string value"],
        ),
    ],
)
def test_what_is_kept_for_a_binding(text: str, expected: list[str]) -> None:
    assert kept(text, "kept for each binding") == expected


def test_joins_keep_both_sides_until_the_end() -> None:
    text = "for $a in //a, $b in //b where $a/@x = $b/@y return $a/c"
    assert kept(text, "kept until the document ends") == [
        "//a: that it exists",
        "//a/@x: string value",
        "//a/c: source",
        "//b: that it exists",
        "//b/@y: string value",
    ]


def test_axes_that_look_around_keep_the_document() -> None:
    assert kept("//b/preceding::c", "kept until the document ends") == ["/: everything inside"]


def test_a_document_that_is_written_is_kept_as_nodes() -> None:
    assert kept("<a>{/}</a>", "kept until the document ends") == ["/: everything inside"]
