"""What an expression is evaluated in: the context item, variables, trees, options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.twigs.sequences import Function
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.items import (
    Atom,
    Item,
    Items,
    Moment,
    atomize,
    one_at_most,
    truth_of,
)
from penstock_testing.sequences.trees import Forest
from penstock_testing.tree import Node, Tree


@dataclass(slots=True)
class World:
    """What is the same everywhere in one evaluation.

    ``rule`` evaluates one expression. ``documents`` are the trees of streams by name; a stream
    that is not among them reads ``document``. ``unevaluated`` are the variables of the prolog that
    nobody has asked for yet.
    """

    rule: Callable[[Any, Context], Items]
    document: Tree | None
    now: Moment
    functions: tuple[Function, ...] = ()
    documents: Mapping[str, Tree] = field(default_factory=dict)
    untyped: str = "error"
    recursion_max: int = 400
    forest: Forest = field(default_factory=Forest)
    unevaluated: dict[str, Callable[[], Items]] = field(default_factory=dict)
    globals: dict[str, Items] = field(default_factory=dict)
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """Where an expression is evaluated."""

    world: World
    item: Item | None = None
    position: int = 0
    size: int = 0
    variables: Mapping[str, Items] = field(default_factory=dict)

    def items(self, expression: Any) -> Items:
        """Return the value of an expression."""
        return self.world.rule(expression, self)

    def atoms(self, expression: Any) -> list[Atom]:
        """Return the typed values of an expression."""
        return atomize(self.items(expression))

    def atom(self, expression: Any, what: str) -> Atom | None:
        """Return the one typed value of an expression, or None."""
        return one_at_most(self.atoms(expression), what)

    def truth(self, expression: Any) -> bool:
        """Return the truth value of an expression."""
        return truth_of(self.items(expression))

    def nodes(self, expression: Any, code: str, what: str) -> list[Node]:
        """Return the value of an expression, which is to have nodes only."""
        return only_nodes(self.items(expression), code, what)

    def here(self) -> Item:
        """Return the context item.

        Raises:
            DynamicError: XPDY0002, there is none.
        """
        if self.item is None:
            raise DynamicError("XPDY0002", "there is no context item")
        return self.item

    def at(self, item: Item, position: int, size: int) -> Context:
        """Return the context with another item."""
        return replace(self, item=item, position=position, size=size)

    def bind(self, name: str, items: Items) -> Context:
        """Return the context with one more variable."""
        return replace(self, variables={**self.variables, name: items})

    def value(self, name: str) -> Items:
        """Return the value of a variable."""
        if name in self.variables:
            return self.variables[name]
        world = self.world
        if name not in world.globals:
            if name not in world.unevaluated:
                raise DynamicError("XPDY0002", f"${name} has no value")
            compute = world.unevaluated.pop(name)
            world.globals[name] = compute()
        return world.globals[name]


def only_nodes(items: Items, code: str, what: str) -> list[Node]:
    """Return items that are all nodes.

    Raises:
        DynamicError: The given code, one is none.
    """
    if not all(isinstance(item, Node) for item in items):
        raise DynamicError(code, f"{what} takes nodes only")
    return items  # type: ignore[return-value]
