"""What the tests of the lowering look at: the printed form of its parts."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.twigs import Selection, Slot, Value
from penstock.twigs.expression_printing import print_condition, print_expression, print_path
from penstock.twigs.expressions import is_condition
from penstock.twigs.queries import as_expression


def paths(text: str, **options: Any) -> list[str]:
    """Return the alternatives of a query, without their document node, constants in place."""
    query = xpath(text, **options)
    found = []
    for root in query.blocks[0].alternatives:
        if root.branches:
            found.append(print_path(root.branches[0].node, _constant(query.constants)))
        else:
            found.append("/")
    return found


def condition(predicate: str, **options: Any) -> str:
    """Return the condition that a predicate of ``/x`` becomes, constants in place."""
    query = xpath(f"/x[{predicate}]", **options)
    (root,) = query.blocks[0].alternatives
    return print_condition(root.branches[0].node.where, _constant(query.constants))


def value(text: str, **options: Any) -> str:
    """Return the value that a query becomes, constants in place."""
    query = xpath(text, **options)
    assert isinstance(query.output, Value)
    atom = query.output.atom
    show = print_condition if is_condition(atom) else print_expression
    return show(atom, _constant(query.constants))


def refusal(text: str, **options: Any) -> tuple[str, str]:
    """Return the code of a refused query and the text that is underlined."""
    with pytest.raises(QueryError) as caught:
        xpath(text, **options)
    assert caught.value.help
    assert caught.value.text == text
    return caught.value.code, text[slice(*caught.value.span)]


def expression(text: str, **options: Any) -> str:
    """Return the expression that a text is, even if it has a twig, constants in place."""
    query = as_expression(xpath(text, **options))
    assert isinstance(query.output, Selection)
    return print_expression(query.output.expression, _constant(query.constants))


def has_no_twig(text: str, **options: Any) -> bool:
    """Return whether it takes an expression to say what a text asks."""
    return isinstance(xpath(text, **options).output, Selection)


def _constant(constants: tuple[Any, ...]) -> Any:
    def show(slot: Slot) -> str:
        constant = constants[slot.index]
        return f"{constant:g}" if isinstance(constant, float) else repr(constant)

    return show
