"""What every part of the lowering uses: names, variables, the context item, errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from penstock.errors import QueryError
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.lowering.names import Names
from penstock.languages.xquery.values import Given
from penstock.twigs import sequences as q
from penstock.twigs.sequences import Name

Key = tuple[str, str]
"""The namespace and the local name of a variable."""


@dataclass(slots=True)
class GlobalVariable:
    """A variable of the prolog, or one from outside, and what its value needs."""

    unique: str
    span: y.Span
    declaration: y.VariableDeclaration | None = None
    lowered: q.Global | None = None
    needs: set[Key | int] = field(default_factory=set)


@dataclass(slots=True)
class OwnFunction:
    """A function that the query declares, and what its body needs.

    ``index`` is its number among the functions that are called; None as long as none calls it.
    ``fault`` is the error of whoever calls it: its body needs a context item.
    """

    name: Name
    declaration: y.FunctionDeclaration
    index: int | None = None
    needs: set[Key | int] = field(default_factory=set)
    fault: QueryError | None = None


class Scopes:
    """The lowering of one query, as far as it knows where it stands.

    ``needs`` collects the global variables and the numbers of the functions that the declaration
    under way mentions.
    """

    def __init__(self, text: str, names: Names, given: Given) -> None:
        self.text = text
        self.names = names
        self.given = given
        self.keeps_space = False
        self.is_empty_greatest = False
        self.base_uri: str | None = None
        self.has_context = True
        self.under_way: OwnFunction | None = None
        self.called: list[OwnFunction] = []
        self.variables: dict[Key, str] = {}
        self.globals: dict[Key, GlobalVariable] = {}
        self.functions: dict[tuple[str, str, int], OwnFunction] = {}
        self.taken: dict[str, int] = {}
        self.needs: set[Key | int] = set()

    def lower(self, expression: y.Expression) -> q.Item:
        """Return an expression of the syntax tree as one over sequences."""
        raise NotImplementedError

    def error(
        self, code: str, message: str, span: y.Span, way_out: str, xquery_code: str
    ) -> QueryError:
        """Return an error about this text."""
        return QueryError(code, message, span, way_out, self.text, xquery_code)

    # Variables

    @contextmanager
    def block(self) -> Iterator[None]:
        """Forget the variables that are bound inside when the block ends."""
        outside = dict(self.variables)
        yield
        self.variables = outside

    def bind(self, name: y.QName) -> str:
        """Bind a variable in the block, and return its unique name."""
        unique = self.unique(name.local)
        self.variables[self.key_of(name)] = unique
        return unique

    def unique(self, local: str) -> str:
        """Return a name that no other variable of the query has."""
        unique, number = local, self.taken.get(local, 0)
        while unique in self.taken:
            number += 1
            unique = f"{local}_{number}"
        self.taken[local] = max(number, 1)
        self.taken.setdefault(unique, 1)
        return unique

    def key_of(self, name: y.QName) -> Key:
        """Return the expanded name of a variable."""
        expanded = self.names.of_attribute(name)
        return expanded.uri, expanded.local

    def variable(self, reference: y.Variable) -> q.Item:
        """Return what a variable refers to."""
        key = self.key_of(reference.name)
        unique = self.variables.get(key)
        if unique is not None:
            return q.Variable(unique)
        self.needs.add(key)
        entry = self.globals.get(key)
        if entry is None:
            entry = self._from_outside(key, reference)
        return q.Variable(entry.unique)

    def _from_outside(self, key: Key, reference: y.Variable) -> GlobalVariable:
        """Return a variable that the query does not declare."""
        value = self.given.value_of(key, reference.span)
        if value is None:
            value = q.Unbound(reference.name.text, reference.span, is_declared=False)
        entry = GlobalVariable(self.unique(reference.name.local), reference.span)
        entry.lowered = q.Global(entry.unique, value)
        self.globals[key] = entry
        return entry

    def number_of(self, own: OwnFunction) -> int:
        """Return the number of a function that is called; functions are numbered as they are."""
        if own.index is None:
            own.index = len(self.called)
            self.called.append(own)
        self.needs.add(own.index)
        return own.index

    # The context item

    @contextmanager
    def focus(self) -> Iterator[None]:
        """Lower what is evaluated once per item, so that there is a context item."""
        outside = self.has_context
        self.has_context = True
        yield
        self.has_context = outside

    def check_context(self, what: str, span: y.Span) -> None:
        """Note the fault of a function whose body needs a context item.

        It is an error of the call: a function that is never called may have it.
        """
        own = self.under_way
        if not self.has_context and own is not None and own.fault is None:
            message = f"{what} needs a context item, and a function body has none"
            way_out = "pass the node as a parameter, and start from it: $node/…"
            own.fault = self.error("PQ0508", message, span, way_out, "XPDY0002")
