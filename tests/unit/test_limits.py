"""Limits: at the bound a document passes, one past it fails, and the next one is unharmed."""

from dataclasses import fields

import pytest

import penstock
from penstock.errors import LimitError

ENTITY = "<!DOCTYPE a [<!ENTITY e 'xxxx'>]><a>{}</a>"
NESTED = "<!DOCTYPE a [<!ENTITY e1 'x'><!ENTITY e2 '&e1;'><!ENTITY e3 '&e2;'>]><a>&e{};</a>"
DOCTYPE = "<!DOCTYPE a [<!--{}-->]><a/>"


SIBLINGS = "<r>{}</r>"
PAIRS = "//a/following-sibling::a[position() mod 3 = 0]"


def error_of(document: str, query: str, limits: penstock.Limits) -> str | None:
    """Return the limit that a document passes; the one after it must never suffer."""
    registry = penstock.Registry()
    registry.add("q", query)
    registry.add("next", "/next")
    rows = list(penstock.Engine(registry, limits).run([document, "<next/>"]))
    assert rows[-1].value == "<next/>"
    errors = [row.error for row in rows if row.error is not None]
    return errors[0].code if errors else None


# limit, its value, a document at the bound, one past it, the query that needs what is limited
CASES = [
    ("depth_max", 3, "<a><b><c/></b></a>", "<a><b><c><d/></c></b></a>", "/a"),
    ("name_bytes_max", 4, "<abcd/>", "<abcde/>", "/a"),
    ("attributes_max", 2, "<a b='' c=''/>", "<a b='' c='' d=''/>", "/a"),
    ("attribute_bytes_max", 4, "<a b='1234'/>", "<a b='12345'/>", "//@b"),
    ("text_bytes_max", 8, "<a>12345678</a>", "<a>123456789</a>", "//a[. = '1']"),
    ("candidates_max", 2, "<a><b/><b/></a>", "<a><b/><b/><b/></a>", "/a[c]/b"),
    ("entity_bytes_max", 8, ENTITY.format("&e;&e;"), ENTITY.format("&e;&e;&e;"), "/a"),
    ("entity_depth_max", 2, NESTED.format(2), NESTED.format(3), "/a"),
    ("pairs_max", 1, SIBLINGS.format("<a/>" * 65), SIBLINGS.format("<a/>" * 66), PAIRS),
    ("document_bytes_max", 8, "<a>1</a>", "<a>12</a>", "/a"),
]


@pytest.mark.parametrize(("name", "bound", "within", "past", "query"), CASES)
def test_a_limit_holds_at_the_bound_and_one_past_it(
    name: str, bound: int, within: str, past: str, query: str
) -> None:
    limits = penstock.Limits(**{name: bound})
    assert error_of(within, query, limits) is None
    code = error_of(past, query, limits)
    assert code is not None
    assert code.startswith("PL")


def test_the_doctype_is_limited() -> None:
    bound = len("<!DOCTYPE a [<!---->]>") + 100
    limits = penstock.Limits(doctype_bytes_max=bound)
    assert error_of(DOCTYPE.format("x" * 90), "/a", limits) is None
    assert error_of(DOCTYPE.format("x" * 200), "/a", limits) == "PL0010"


def test_held_input_is_limited() -> None:
    # Each <b> waits for a <z/> that may still come; 1000 of them are just below the bound.
    limits = penstock.Limits(buffer_bytes_max=1 << 20)
    item = "<b>" + "x" * 1000 + "</b>"
    assert error_of(f"<a>{item * 1000}</a>", "/a[z]/b", limits) is None
    code = error_of(f"<a>{item * 2000}</a>", "/a[z]/b", limits)
    assert code is not None
    assert code.startswith("PL")


def test_a_limit_error_names_the_limit() -> None:
    registry = penstock.Registry()
    registry.add("q", "//a")
    document = penstock.Engine(registry, penstock.Limits(depth_max=1)).open()
    with pytest.raises(LimitError) as caught:
        document.feed(b"<a><b/></a>")
    assert caught.value.limit == "depth_max"


INTEGERS = [field.name for field in fields(penstock.Limits) if field.name != "seconds_max"]


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "8", None, 1 << 63])
def test_a_limit_is_a_positive_integer(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        penstock.Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1.5, True, "8", float("inf"), float("nan")])
def test_seconds_are_a_positive_number(value: object) -> None:
    with pytest.raises(ValueError, match="seconds_max"):
        penstock.Limits(seconds_max=value)  # type: ignore[arg-type]
