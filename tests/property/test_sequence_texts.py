"""Texts in XQuery whose shape is known get the programs that they would be compiled to alone."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest

from penstock.errors import QueryError
from penstock.languages.xquery import xquery
from penstock.languages.xquery.skeletons import split
from penstock.planning.programs import compile_program
from penstock.planning.sequences.texts import SequenceTexts

# Some are words of the language, names of functions and types, or strings that programs have.
NAMES = (
    "book price title a b for if text count string integer element-x x.y é div and return item "
    "exists Name _ element id w"
).split()
CONSTANTS = {
    '"': ["x", "price", "integer", "5", "9.5", "it's", "a/b", "x > 5", "[b = 2]", "é", " ", ""],
    "'": ["x", "count", "string", "b", "7", "{a}", "&amp;", "title", "/a/b", "=", "y", "z z"],
    "integer": ["0", "1", "2", "5", "007", "7", "12345", "123456789012345678"],
    "decimal": ["9.5", "9.50", "5.0", "05.10", "0.1", "1e3", "12345.5"],
}
OPERATORS = ["=", "!=", "<", " <= ", ">", ">=", " eq ", " lt ", "  ge "]
# N is a name, O an operator, C a constant, T a text.
FORMS = [
    "<N>{ for $b in /N/N where $b/N O C return <N>{$b/N}</N> }</N>",
    "<N>{for $b in //N[N O C]/N return <N id='i' of='{$b/@N}'>{$b//N}{$b/N}</N>}</N>",
    "<N>{ for $n in //N let $p := $n/N where $p O C and $n/@N O C return <N>{$p, 'x'}</N> }</N>",
    "<N>{ for $n in //N where count($n/N) > 1 or $n/N = 'T' return <N>{count($n/N)}</N> }</N>",
    "<N>{ for $n in //N let $c := count($n/N) where $c O C order by $n/N return $n }</N>",
    "<N>{ //N[N O C and @N][@N O C] }</N>",
    "<N>{ for $b in //N return <N>{ for $c in $b/N where $c/N O C return $c/N }</N> }</N>",
    "<N>{ for $b in /N/N/N where not($b/N O C) return if ($b/N O C) then $b/N else () }</N>",
    " <N>{ for $b in /N/text/N where exists($b/child::z) return <N>{$b/* , $b/@N}</N> }</N>",
]
# Not for the broker, or names and constants in them are more than that.
WITHOUT_SHAPE = [
    "<N>{ for $b in /N/N where $b/N/text() = C return <N>/N = C N {$b/N} &amp; </N> }</N>",
    "<N a='/N = C'>{ for $b in //N return <N>{ $b/N[. O C] }</N> }</N>",
    "<N>{ for $b in //N where contains($b/N, 'N/N') return <N>C</N> }</N>",
    "<N>{ for $b in //N (: /N = 'T :) where $b/N = 'T' return <N/> }</N>",
    "<N>{ sum(//N[N O C]/N) }</N>",
    "<N>{ //N[N] }<N><N/>{' '}</N></N>",
    "for $b in //N where $b/N O C return <N>{$b/N}</N>",
]


def drawn(form: str, shape: random.Random, draw: random.Random) -> str:
    """Return a text of a form: equal states of ``shape`` give texts of one shape, mostly."""
    names = draw.sample([*NAMES, *(f"n{draw.randrange(999)}" for _ in range(40))], 5)
    parts = []
    open_tags: list[str] = []
    for place, letter in enumerate(form):
        before, after = form[max(0, place - 2) : place], form[place + 1 : place + 2]
        if letter == "N" and not after.isalpha() and not before[-1:].isalpha():
            name = names[shape.randrange(5)]
            if before == "</":
                name = open_tags.pop() if draw.random() < 0.99 else name
            elif before.endswith("<") and not form[place + 1 :].startswith("/>"):
                open_tags.append(name)
            parts.append(name)
        elif letter == "O":
            parts.append(shape.choice(OPERATORS))
        elif letter == "C":
            kind = shape.choice([*CONSTANTS])
            quote = kind if len(kind) == 1 else ""
            parts.append(quote + draw.choice(CONSTANTS[kind]) + quote)
        elif letter == "T" and before.endswith("'"):
            parts.append(draw.choice(CONSTANTS["'"]))
        else:
            parts.append(letter)
    return "".join(parts)


class Direct:
    """Compiles texts by themselves, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str, options: Mapping[str, Any] | None) -> bytes:
        """Return the program of a text."""
        self.count += 1
        return compile_program(xquery(text, **(options or {})))


def outcome(compile_one: Any, text: str, options: Mapping[str, Any] | None) -> bytes | str:
    try:
        program: bytes = compile_one(text, options)
        return program
    except QueryError as error:
        return str(error)


def compare(form: str, count: int, seed: int) -> int:
    """Compare the programs of so many texts of a form; return how many of them were filled in."""
    draw = random.Random(f"{form} {seed}")
    filled, before = 0, Direct()
    texts, plain = SequenceTexts(before), Direct()
    for number in range(count):
        text = drawn(form, random.Random(f"{form} {seed} {number % 4}"), draw)
        options = None if number % 16 else {"untyped": "false"}
        compiled = before.count
        assert outcome(texts.compile, text, options) == outcome(plain, text, options), text
        filled += before.count == compiled
    return filled


@pytest.mark.parametrize("form", FORMS)
def test_programs_are_those_of_the_texts(form: str) -> None:
    assert compare(form, 150, seed=1) > 0


@pytest.mark.parametrize("form", WITHOUT_SHAPE)
def test_other_texts_are_compiled_by_themselves(form: str) -> None:
    assert compare(form, 60, seed=1) == 0


@pytest.mark.parametrize(
    "form",
    [
        "<a0>{{ for $b in /b0/c0 where $b/d0 = 'x {0}' return <e0>{{$b/f0}}</e0> }}</a0>",
        "<a0>{{ for $b in //b0[@c0 > {0}.5] where $b/d0 < {0} return <e0>{{$b}}</e0> }}</a0>",
        "<a0 x='y'>{{ for $b in //b0 let $p := $b/c0 where $p = \"{0}\" return $b/d0 }}</a0>",
    ],
)
def test_texts_of_a_known_shape_are_not_compiled(form: str) -> None:
    compiled = Direct()
    texts, plain = SequenceTexts(compiled), Direct()
    for number in range(2, 40):
        text = re.sub("([a-f])0", rf"\g<1>{number}", form).format(number)
        assert texts.compile(text) == plain(text, None)
    assert compiled.count == 3  # the first, the second, and the second with marks


def test_a_name_that_a_program_has_anyway_is_compiled_by_itself() -> None:
    compiled = Direct()
    texts, plain = SequenceTexts(compiled), Direct()
    for name in ("a", "c", "count", "d", "integer", "b", "e"):
        text = f"<r>{{ for $b in //{name} where count($b/x) > 5 return <m>{{$b/x}}</m> }}</r>"
        assert texts.compile(text) == plain(text, None)
    assert compiled.count == 6  # "d" and "e" are filled in, "b" is a word of the text


@pytest.mark.parametrize(
    "constant",
    [
        "'\x01'",
        "'\ud800'",
        "9223372036854775808",
        f"{2**96}.5",
        "1e999",
        "'it''s'",
        "'&lt;'",
        "'&x;'",
    ],
)
def test_a_constant_of_another_kind_is_told_apart(constant: str) -> None:
    texts, plain = SequenceTexts(Direct()), Direct()
    form = "<r>{{ for $b in //b where $b/c = {0} or $b/d < {1} return <m>{{$b/x}}</m> }}</r>"
    for one in ("'x'", "'y'", "'z'", constant):
        for other in ("1.5", "2.5", "3.5", constant):
            text = form.format(one, other)
            assert outcome(texts.compile, text, None) == outcome(plain, text, None)


def test_names_of_all_lengths_fit() -> None:
    texts, plain = SequenceTexts(Direct()), Direct()
    for length in (1, 2, 100, 127, 128, 129, 16_383, 16_384, 20_000):
        name, text = "n" * length, "é" * length
        query = f"<r>{{ for $b in //{name} where $b/x = '{text}' return <m>{{$b/{name}}}</m> }}</r>"
        assert texts.compile(query) == plain(query, None)


def test_what_begins_with_no_constructor_has_no_shape() -> None:
    for text in ("//a[b = 5]", "for $b in //b return $b", "<!-- x -->", "<a>{ (: c :) //b }</a>"):
        assert split(text) is None
    assert split("<a>{ //b[c = 'x' and d < 05 and e > 2.50] }</a>") == (
        ("<", ">{ //", "[", " = '", "' and d < 05 and e > 2.50] }</", ">"),
        "nnnsn",
        ("a", "b", "c", "x", "a"),
    )
