"""The parts of expressions, and their types."""

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import Selection, ValueType
from penstock.twigs.expressions import Expression, type_of
from penstock.twigs.parts import parts_of, with_parts
from penstock.twigs.queries import as_expression
from penstock_testing.generate import NAMESPACES, random_xpath


def selection(text: str) -> Selection:
    """Return the expression of a text."""
    output = as_expression(xpath(text, namespaces=NAMESPACES)).output
    assert isinstance(output, Selection)
    return output


def test_an_expression_is_what_its_parts_make() -> None:
    random = Random(3)
    for _ in range(300):
        waiting: list[Expression] = [selection(random_xpath(random)).expression]
        while waiting:
            expression = waiting.pop()
            parts = parts_of(expression)
            assert with_parts(expression, parts) == expression
            waiting += parts


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("count(//a) + 1", ValueType.NUMBER),
        ("sum(//a)  * 2", ValueType.NUMBER),
        ("concat(name(..), 'x')", ValueType.STRING),
        ("name(..)", ValueType.STRING),
        ("string(..)", ValueType.STRING),
        ("//a and //b", ValueType.BOOLEAN),
        ("not(//a = //b)", ValueType.BOOLEAN),
        ("//a < 1", ValueType.BOOLEAN),
        ("boolean(..)", ValueType.BOOLEAN),
        ("contains(.., 'x')", ValueType.BOOLEAN),
    ],
)
def test_the_type_of_an_atom_is_known(text: str, kind: ValueType) -> None:
    found = selection(text)
    assert found.type is kind
    assert type_of(found.expression) is kind
