"""Random queries in XQuery over the names of the random documents."""

from __future__ import annotations

from random import Random

from penstock_testing.generate.flwor_parts import Bound, FlworKnobs, Parts
from penstock_testing.generate.names import ELEMENTS, NAMESPACES

__all__ = ["FlworKnobs", "random_xquery"]

_TAGS = ("r", "s", "t", "a", "b")
_TEXTS = ("", "", "x", " y ", "&lt;", "&#118;", "{{u}}", "<![CDATA[<&]]>")
_FUNCTIONS = (
    (
        "local:deep",
        "declare function local:deep($n as element()) as xs:integer {\n"
        "  if (empty($n/*)) then 1 else 1 + max(for $c in $n/* return local:deep($c))\n};\n",
    ),
    (
        "local:total",
        "declare function local:total($n as node()*) as xs:double { sum($n/@n) };\n",
    ),
    (
        "local:size",
        "declare function local:size($n) { count($n/descendant-or-self::*) };\n",
    ),
)


def random_xquery(random: Random, knobs: FlworKnobs | None = None) -> str:
    """Return the text of a query; most of them have a FLWOR expression."""
    writer = _Writer(random, knobs or FlworKnobs())
    body = writer.body()
    prolog = ""
    if writer.has_prefix:
        prolog += "".join(f'declare namespace {p} = "{uri}";\n' for p, uri in NAMESPACES.items())
    declared = dict(_FUNCTIONS)
    prolog += "".join(declared[name] for name in dict.fromkeys(writer.functions))
    return prolog + body


class _Writer(Parts):
    def body(self) -> str:
        kind = self.random.random()
        if kind < 0.45:
            return self.flwor([], 0)
        if kind < 0.75:
            return self.element([], 0)
        if kind < 0.85:
            return self.constructed([], 0)
        return self.items([], 0)

    # Clauses.

    def flwor(self, scope: list[Bound], depth: int) -> str:
        scope = list(scope)
        clauses = []
        for number in range(self.random.randint(1, self.knobs.clauses_max)):
            is_for = number == 0 or self.happens(0.55)
            clauses.append(self.for_clause(scope, depth) if is_for else self.let(scope, depth))
        if self.happens(self.knobs.where):
            clauses.append(f"where {self.condition(scope, depth + 1)}")
        if self.happens(self.knobs.order):
            clauses.append(f"{self.choose('', 'stable ')}order by {self.order_keys(scope, depth)}")
        clauses.append(f"return {self.result(scope, depth + 1)}")
        return " ".join(clauses)

    def for_clause(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.random()
        if kind < 0.07:
            bound = self.fresh("number")
            source = f"1 to {self.choose('2', '3')}"
        elif kind < 0.15:
            bound = self.fresh("string")
            source = f"distinct-values({self.path(scope, depth + 1)}/@x)"
            source = f"(for $w in {source} return string($w))" if self.happens(0.3) else source
        elif kind < 0.2 and not self.is_deep(depth):
            bound = self.fresh("node")
            source = f"({self.flwor_of_nodes(scope, depth + 1)})"
        else:
            bound = self.fresh("node")
            source = self.nodes(scope, depth)
        position = ""
        if self.happens(self.knobs.positions):
            place = self.fresh("number")
            position = f" at {place.name}"
            scope.append(place)
        scope.append(bound)
        return f"for {bound.name}{position} in {source}"

    def flwor_of_nodes(self, scope: list[Bound], depth: int) -> str:
        inner = list(scope)
        clause = self.for_clause(inner, depth)
        test = self.condition(inner, depth + 1)
        return f"{clause} where {test} return {self.nodes(inner, depth + 1)}"

    def let(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.random()
        if kind < 0.4:
            bound, value = self.fresh("nodes"), self.nodes(scope, depth + 1)
        elif kind < 0.55 and not self.is_deep(depth):
            bound, value = self.fresh("items"), self.flwor(scope, depth + 1)
        elif kind < 0.65 and not self.is_deep(depth):
            bound, value = self.fresh("node"), self.element(scope, depth + 1)
        elif kind < 0.85:
            bound, value = self.fresh("number"), self.number(scope, depth + 1)
        else:
            bound, value = self.fresh("string"), self.string(scope, depth + 1)
        scope.append(bound)
        return f"let {bound.name} := {value}"

    def order_keys(self, scope: list[Bound], depth: int) -> str:
        keys = [self.order_key(scope, depth) for _ in range(self.random.choice((1, 1, 2)))]
        return ", ".join(keys)

    def order_key(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.randrange(4)
        node = self.one_node(scope, depth)
        if kind == 0:
            key = f"{node}/@{self.choose('n', 'x', 'y')}"
        elif kind == 1:
            key = f"number({node}/@n)"
        elif kind == 2:
            key = self.number(scope, depth + 2)
        else:
            key = self.string(scope, depth + 2)
        direction = self.choose("", "", " ascending", " descending")
        return key + direction + self.choose("", "", " empty least", " empty greatest")

    # Items.

    def result(self, scope: list[Bound], depth: int) -> str:
        if self.is_deep(depth):
            return self.choose(
                self.one_node(scope, depth), self.number(scope, depth), self.string(scope, depth)
            )
        return self.element(scope, depth) if self.happens(0.5) else self.items(scope, depth)

    def items(self, scope: list[Bound], depth: int) -> str:
        kind = self.random.randrange(16)
        if self.is_deep(depth):
            kind = min(kind, 5)
        variable = self.of_kind(scope, "items", "node", "nodes", "number", "string")
        if kind < 2:
            return variable or self.nodes(scope, depth)
        if kind == 2:
            return self.nodes(scope, depth)
        if kind == 3:
            return self.number(scope, depth)
        if kind == 4:
            return self.string(scope, depth)
        if kind == 5:
            return f"{self.choose('data', 'distinct-values', 'reverse')}({self.path(scope, depth)})"
        if kind == 6:
            return f"({self.condition(scope, depth)})"
        if kind == 7:
            return f"({self.items(scope, depth + 1)}, {self.items(scope, depth + 1)})"
        if kind == 8:
            test = self.condition(scope, depth + 1)
            sides = self.items(scope, depth + 1), self.items(scope, depth + 1)
            return f"(if ({test}) then {sides[0]} else {sides[1]})"
        if kind == 9:
            return self.type_switch(scope, depth)
        if kind == 10:
            return self.called(scope, depth)
        if kind == 11:
            return self.computed(scope, depth)
        if kind == 12:
            return f"subsequence({self.items(scope, depth + 1)}, {self.choose('1', '2')}, 2)"
        return f"({self.flwor(scope, depth + 1)})"

    def type_switch(self, scope: list[Bound], depth: int) -> str:
        bound = self.fresh("node")
        operand = self.nodes(scope, depth + 1)
        first = self.items([*scope, bound], depth + 1)
        return (
            f"(typeswitch ({operand}) case {bound.name} as element({self.choose('a', '*')}) return "
            f"{first} case text() return 't' default return {self.items(scope, depth + 1)})"
        )

    def called(self, scope: list[Bound], depth: int) -> str:
        if not self.happens(0.6):
            return f"deep-equal({self.nodes(scope, depth + 1)}, {self.nodes(scope, depth + 1)})"
        name, _ = self.random.choice(_FUNCTIONS)
        self.functions.append(name)
        node = self.of_kind(scope, "node") or "."
        if name == "local:deep":
            item = self.fresh("node").name
            return f"(for {item} in {self.path(scope, depth)}/self::* return {name}({item}))"
        return f"{name}({self.path(scope, depth) if node == '.' else node})"

    # Constructors.

    def element(self, scope: list[Bound], depth: int) -> str:
        tag = self.random.choice(_TAGS)
        attributes = "".join(
            f' {name}="{self.attribute_value(scope, depth)}"'
            for name in ("k", "x")
            if self.happens(0.35)
        )
        if self.happens(0.05):
            attributes += ' xmlns="urn:p"' if self.happens(0.5) else ' xmlns:z="urn:q" z:k="1"'
        inside = "".join(self.content(scope, depth) for _ in range(self.random.choice((1, 1, 2))))
        return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"

    def attribute_value(self, scope: list[Bound], depth: int) -> str:
        value = self.choose(
            self.one_node(scope, depth) + self.choose("/@n", "/@x"),
            self.number(scope, depth + 1),
            self.string(scope, depth + 1),
        )
        return self.choose("", "v", "a{{") + f"{{{value}}}" + self.choose("", "", "&amp;")

    def content(self, scope: list[Bound], depth: int) -> str:
        before = self.random.choice(_TEXTS)
        if not self.is_deep(depth) and self.happens(0.25):
            return before + self.element(scope, depth + 1)
        if depth == 0 or (not self.is_deep(depth) and self.happens(0.3)):
            return f"{before}{{{self.flwor(scope, depth + 1)}}}"
        return f"{before}{{{self.items(scope, depth + 1)}}}"

    def computed(self, scope: list[Bound], depth: int) -> str:
        inside = self.items(scope, depth + 1)
        kind = self.random.randrange(5)
        if kind == 0:
            return f"element {self.random.choice(ELEMENTS)} {{{inside}}}"
        if kind == 1:
            name = f"{{concat('e', local-name({self.one_node(scope, depth)}))}}"
            return f"element {name} {{attribute k {{{self.number(scope, depth + 1)}}}, {inside}}}"
        if kind == 2:
            return f"text {{{self.string(scope, depth + 1)}}}"
        if kind == 3:
            return f"comment {{{self.number(scope, depth + 1)}}}"
        return f"document {{{self.element(scope, depth + 1)}}}"

    def constructed(self, scope: list[Bound], depth: int) -> str:
        """Return a query that looks into what it constructs."""
        bound = self.fresh("node")
        return (
            f"let {bound.name} := {self.element(scope, depth)} "
            f"return {self.items([*scope, bound], depth + 1)}"
        )
