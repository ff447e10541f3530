"""The bytes of expressions, entry by entry."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning import program as p
from penstock.planning.compile import compile_query
from penstock.twigs.queries import as_expression


def read(program: bytes) -> tuple[list[bytes], list[int]]:
    """Return the strings of a program without formulas, and the numbers from the nodes on."""
    assert p.request_of(program) is p.Request.ROWS
    place = len(p.Request.ROWS.head)

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = program[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    strings = []
    for _ in range(number()):
        length = number()
        strings.append(program[place : place + length])
        place += length
    numbers = number()
    place += 8 * numbers
    for _ in range(number()):  # the tests: kind, local name, namespaces
        number(), number()
        if number():
            for _ in range(number()):
                number()
    assert (number(), number()) == (0, 0), "expressions and formulas of twigs"
    rest = []
    while place < len(program):
        rest.append(number())
    return strings, rest


ROOT = (p.ROOT,)


@pytest.mark.parametrize(
    ("text", "count", "nodes", "output"),
    [
        (
            "/a/following::node()",
            3,
            (*ROOT, p.STEP, 0, 1, 0, 0, p.STEP, 1, 10, 1, 0),
            (p.SELECT, 2, 0, 0),
        ),
        ("id('x')", 2, (p.TEXT_NODE, 0, p.IDENTIFIED, 0), (p.SELECT, 1, 0, 0)),
        (
            "(/ | /a)[last()]",
            7,
            (
                *(*ROOT, p.STEP, 0, 1, 0, 0, p.UNION, 2, 0, 1, p.POSITION, p.LAST),
                *(p.CALL_NODE, p.OPERATORS["="], 2, 3, 4, p.FILTER_NODE, 2, 1, 5),
            ),
            (p.SELECT, 6, 0, 0),
        ),
        (
            "/a = /b",
            4,
            (*ROOT, p.STEP, 0, 1, 0, 0, p.STEP, 0, 1, 1, 0, p.COMPARE_PAIRS, 0, 1, 2),
            (p.SELECT_VALUE, 3, 2),
        ),
        (
            "not(/ > count(/))",
            4,
            (*ROOT, p.COUNT, 0, p.COMPARE_SOME, 4, 0, 1, 1, p.NOT_NODE, 2),
            (p.SELECT_VALUE, 3, 2),
        ),
        (
            "name(/ | ..) ",
            4,
            (*ROOT, p.STEP, 0, 5, 0, 0, p.UNION, 2, 0, 1, p.NAME, 1, 2),
            (p.SELECT_VALUE, 3, 0),
        ),
        ("sum(..) ", 2, (*ROOT, p.STEP, 0, 5, 0, 0), (p.SELECT_AGGREGATE, 1, 1, 0)),
        ("id(.)", 3, (*ROOT, p.STRINGS, 0, p.IDENTIFIED, 1), (p.SELECT, 2, 0, 0)),
    ],
)
def test_an_expression_is_a_table_of_nodes(
    text: str, count: int, nodes: tuple[int, ...], output: tuple[int, ...]
) -> None:
    _, found = read(compile_query(as_expression(xpath(text))))
    assert found == [count, *nodes, 0, *output]


def test_equal_parts_are_written_once() -> None:
    one, two = (
        compile_query(as_expression(xpath(f"//a[{predicate}]")))
        for predicate in (".. = b", ".. = b or .. = b")
    )
    assert len(two) - len(one) == len(p.varints(p.OR_NODE, 2, 0, 0))


def test_beside_a_result_are_names_and_sets() -> None:
    strings, found = read(compile_query(xpath("/a", select={"u": "..", "v": "."})))
    nodes = (*ROOT, p.STEP, 0, 1, 0, 0, p.HERE, p.STEP, 2, 5, 1, 0)
    u, v = strings.index(b"u"), strings.index(b"v")
    assert found == [4, *nodes, 0, p.SELECT, 1, 0, 2, u, 3, v, 2]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("/a/following::b", p.EXISTS),
        ("count(/a/following::b)", p.EXISTS),
        ("/a = /b", p.COMPARE_PAIRS),
        ("count(/a) + 1", p.CALL_NODE),
    ],
)
def test_a_filter_asks_for_a_truth(text: str, last: int) -> None:
    _, found = read(compile_query(as_expression(xpath(text)), is_filter=True))
    count, output = found[0], found[-2:]
    assert output == [p.SELECT_FILTER, count - 1]
    assert last in found[1:]


def test_spans_come_without_bytes() -> None:
    _, found = read(compile_query(as_expression(xpath("/a/following::b")), is_spans=True))
    assert found[-4:] == [p.SELECT, 2, 1, 0]
