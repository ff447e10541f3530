"""The table of functions, and the conversion of their arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.errors import mistyped
from penstock_testing.sequences.items import Atom, Items, atomize, derives, is_numeric
from penstock_testing.sequences.matching import convert_atom, counts
from penstock_testing.tree import Node

Body = Callable[..., Items]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function: its parameters, how many of them a call has, and what it computes.

    A parameter is a type with an occurrence: ``item``, ``node``, ``numeric`` or the local name of
    an atomic type. The last one stands for all that follow it.
    """

    parameters: tuple[str, ...]
    least: int
    most: int
    body: Body

    def parameter(self, place: int) -> str:
        """Return the parameter at a place."""
        return self.parameters[min(place, len(self.parameters) - 1)]


FUNCTIONS: dict[str, Builtin] = {}


def function(
    name: str, *parameters: str, least: int | None = None, is_open: bool = False
) -> Callable[[Body], Body]:
    """Enter a function into the table; ``least`` arguments are required, by default all."""

    def enter(body: Body) -> Body:
        most = sys.maxsize if is_open else len(parameters)
        FUNCTIONS[name] = Builtin(
            parameters, len(parameters) if least is None else least, most, body
        )
        return body

    return enter


def argument(items: Items, parameter: str, what: str) -> Items:
    """Return an argument in the type of its parameter: section 3.1.5 of XQuery 1.0.

    Raises:
        DynamicError: XPTY0004, it has another type; FORG0001, text is no such value.
    """
    kind = parameter.rstrip("?*+")
    occurrence = parameter[len(kind) :]
    if kind == "node":
        is_right = all(isinstance(item, Node) for item in items)
    elif kind == "item":
        is_right = True
    else:
        atoms = [_converted(atom, kind) for atom in atomize(items)]
        is_right = all(_is_of(atom, kind) for atom in atoms)
        items = list(atoms)
    if not is_right or not counts(occurrence, items):
        raise mistyped(f"{what} is to be {parameter}")
    return items


def _converted(atom: Atom, kind: str) -> Atom:
    if kind == "numeric":
        return cast(atom, "double") if atom.type == "untypedAtomic" else atom
    return convert_atom(atom, kind)


def _is_of(atom: Atom, kind: str) -> bool:
    return is_numeric(atom) if kind == "numeric" else derives(atom.type, kind)
