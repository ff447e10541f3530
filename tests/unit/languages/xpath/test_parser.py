"""The grammar of XPath 1.0: abbreviations, precedence, errors at the token that does not fit."""

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import parse
from penstock.languages.xpath.parser import NESTING_MAX, STEPS_MAX
from penstock.languages.xpath.syntax import (
    Binary,
    Expression,
    Filter,
    FunctionCall,
    KindTest,
    Literal,
    Logical,
    NameTest,
    Negate,
    Number,
    Path,
    Union,
    Variable,
)
from penstock.twigs import Axis


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("a", "child::a"),
        ("@a", "attribute::a"),
        (".", "self::node()"),
        ("..", "parent::node()"),
        ("//a", "/descendant-or-self::node()/child::a"),
        ("a//b", "child::a/descendant-or-self::node()/child::b"),
        (".//@b", "self::node()/descendant-or-self::node()/attribute::b"),
        ("a[b][@c]", "child::a[child::b][attribute::c]"),
        ("(a)", "child::a"),
        (" / a [ 1 ] ", "/child::a[1]"),
    ],
)
def test_an_abbreviation_is_what_it_abbreviates(short: str, long: str) -> None:
    assert parse(short) == parse(long)


def outline(expression: Expression) -> str:
    """Return how an expression groups."""
    match expression:
        case Binary(operator=operator, left=left, right=right):
            return f"({outline(left)} {operator} {outline(right)})"
        case Logical(operator=operator, parts=parts):
            return "(" + f" {operator} ".join(map(outline, parts)) + ")"
        case Union(parts=parts):
            return "(" + " | ".join(map(outline, parts)) + ")"
        case Negate(operand=operand):
            return f"-{outline(operand)}"
        case Path(steps=steps):
            return "/".join(str(getattr(step.test, "local", "?")) for step in steps)
        case Number(value=value):
            return f"{value:g}"
        case _:
            return type(expression).__name__


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 * 2 + 3", "((1 * 2) + 3)"),
        ("a or b and c or d", "(a or (b and c) or d)"),
        ("1 < 2 = 3 > 4", "((1 < 2) = (3 > 4))"),
        ("1 = 2 = 3", "((1 = 2) = 3)"),
        ("-a | b", "-(a | b)"),
        ("- -1", "--1"),
        ("-1 * -2", "(-1 * -2)"),
        ("a | b | c", "(a | b | c)"),
        ("1 div 2 mod 3", "((1 div 2) mod 3)"),
        ("(1 + 2) * 3", "((1 + 2) * 3)"),
        ("a and b = c + 1", "(a and (b = (c + 1)))"),
    ],
)
def test_operators_bind_as_the_grammar_says(text: str, grouped: str) -> None:
    assert outline(parse(text)) == grouped


@pytest.mark.parametrize("axis", list(Axis))
def test_every_axis_is_parsed(axis: Axis) -> None:
    expression = parse(f"{axis.value}::a")
    assert isinstance(expression, Path)
    assert expression.steps[0].axis is axis


@pytest.mark.parametrize("kind", ["node", "text", "comment", "processing-instruction"])
def test_every_node_type_is_parsed(kind: str) -> None:
    expression = parse(f"{kind} ()")
    assert isinstance(expression, Path)
    test = expression.steps[0].test
    assert isinstance(test, KindTest)
    assert (test.kind, test.target) == (kind, None)


def test_an_instruction_may_name_its_target() -> None:
    expression = parse("processing-instruction('x')")
    assert isinstance(expression, Path)
    assert expression.steps[0].test == KindTest("processing-instruction", "x", (0, 0))


def test_a_node_type_without_parentheses_is_a_name() -> None:
    expression = parse("text")
    assert isinstance(expression, Path)
    assert expression.steps[0].test == NameTest(None, "text", (0, 0))


@pytest.mark.parametrize(
    ("text", "prefix", "local"),
    [("*", None, None), ("p:*", "p", None), ("p:a", "p", "a"), ("a", None, "a")],
)
def test_name_tests_keep_prefix_and_local_name(
    text: str, prefix: str | None, local: str | None
) -> None:
    expression = parse(text)
    assert isinstance(expression, Path)
    assert expression.steps[0].test == NameTest(prefix, local, (0, 0))


def test_a_path_may_follow_a_filter_expression() -> None:
    expression = parse("(a | b)[c]/d")
    assert isinstance(expression, Path)
    assert isinstance(expression.start, Filter)
    assert isinstance(expression.start.primary, Union)


def test_primary_expressions_are_parsed() -> None:
    assert parse("'x'") == Literal("x", (0, 0))
    assert parse("$p:v") == Variable("p:v", (0, 0))
    assert parse("f(1, 'a')") == FunctionCall(
        "f", (Number(1, (0, 0)), Literal("a", (0, 0))), (0, 0), (0, 0)
    )


def test_a_lone_slash_is_the_document_node() -> None:
    assert parse("/") == Path(True, (), (0, 0))
    assert outline(parse("/ = 1")) == "( = 1)"


@pytest.mark.parametrize("text", ["1e5", "1.5E3", "//a[1e0]", "1e", "2 * 1e-3"])
def test_a_number_has_no_exponent(text: str) -> None:
    with pytest.raises(QueryError, match="PQ0103") as raised:
        parse(text)
    assert "no exponents" in str(raised.value)


def test_spans_point_into_the_text() -> None:
    text = "//order[id('x')]/total"
    expression = parse(text)
    assert isinstance(expression, Path)
    step = expression.steps[1]
    call = step.predicates[0]
    assert text[slice(*step.span)] == "order[id('x')]"
    assert text[slice(*call.span)] == "id('x')"
    assert text[slice(*expression.span)] == text


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("", "PQ0104", (0, 0)),
        ("//", "PQ0104", (2, 2)),
        ("a[", "PQ0104", (2, 2)),
        ("a]", "PQ0103", (1, 2)),
        ("a b", "PQ0103", (2, 3)),
        ("a[]", "PQ0103", (2, 3)),
        ("f(1,)", "PQ0103", (4, 5)),
        ("(a", "PQ0104", (2, 2)),
        ("a/(b)", "PQ0103", (2, 3)),
        ("a = ", "PQ0104", (4, 4)),
        ("parents::a", "PQ0107", (0, 7)),
        ("child::f(1)", "PQ0103", (7, 8)),
        ("..[a]", "PQ0103", (2, 3)),
        ("@", "PQ0104", (1, 1)),
        ("/numbers numbers", "PQ0103", (9, 16)),
    ],
)
def test_what_does_not_fit_is_underlined(text: str, code: str, span: tuple[int, int]) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.span) == (code, span)
    assert caught.value.help


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("//a[b eq 1]", "XPath 1.0 writes = for eq"),
        ("//a[b == 1]", "XPath writes = once"),
        ("a union b", "XPath 1.0 writes | for union"),
        ("//a[b contains 'x']", "write contains(a, 'x'), or use the dialect xsq"),
        ("//a/.[b]", "write self::node()[…]"),
    ],
)
def test_what_other_languages_write_gets_a_translation(text: str, way_out: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.help == way_out


def test_a_close_axis_is_offered() -> None:
    with pytest.raises(QueryError, match="descendant-or-self"):
        parse("decendant-or-self::a")


@pytest.mark.parametrize("opening", ["(", "a[", "not(", "-"])
def test_nesting_is_bounded(opening: str) -> None:
    closing = {"(": ")", "a[": "]", "not(": ")", "-": ""}[opening]
    parse(opening * NESTING_MAX + "a" + closing * NESTING_MAX)
    with pytest.raises(QueryError, match="PQ0105"):
        parse(opening * (NESTING_MAX + 1) + "a" + closing * (NESTING_MAX + 1))


def test_ninety_thousand_brackets_are_no_stack_overflow() -> None:
    with pytest.raises(QueryError, match="PQ0105"):
        parse("(" * 90_000)


def test_long_conjunctions_are_flat_and_long_sums_bounded() -> None:
    expression = parse(" or ".join(["a"] * 5000))
    assert isinstance(expression, Logical)
    assert len(expression.parts) == 5000
    with pytest.raises(QueryError, match="PQ0105"):
        parse(" + ".join(["1"] * 5000))


def test_steps_are_bounded() -> None:
    parse("/".join(["a"] * STEPS_MAX))
    with pytest.raises(QueryError, match="PQ0105"):
        parse("/".join(["a"] * (STEPS_MAX + 1)))
