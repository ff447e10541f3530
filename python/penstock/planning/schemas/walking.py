"""Walks over queries from the top down that know which elements each step may reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.planning.schemas.knowledge import DOCUMENT, NOWHERE, Contexts, Knowledge
from penstock.twigs import Query, Selection, Value
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.logic import existence, simplified
from penstock.twigs.nodetests import ANY_NODE, Axis
from penstock.twigs.parts import map_parts as map_twig_parts
from penstock.twigs.sequence_parts import map_parts


class Walk:
    """Rebuilds a query; a subclass says what becomes of its steps and conditions."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._variables: dict[str, Contexts] = {}
        self._is_xpath = True

    # What a subclass changes. Each gets a part whose own parts have been changed.

    def change_twig(self, node: x.TwigNode, contexts: Contexts) -> x.TwigNode:
        """Return what a node of a twig becomes, seen from its parent's contexts."""
        return node

    def change_condition(self, condition: x.Atom, contexts: Contexts) -> x.Atom:
        """Return what a condition of a twig becomes."""
        return condition

    def change_step(self, step: x.Step, contexts: Contexts, above: Contexts) -> Any:
        """Return what a step of an expression becomes, seen from its base's contexts.

        ``above`` are those before a ``descendant-or-self::node()`` that it follows.
        """
        return step

    # Queries.

    def query(self, query: Query) -> Query:
        """Return a query with everything in it changed; the same object where nothing is."""
        match query.output:
            case q.Sequences() as output:
                changed: Any = self.sequences(output)
            case Selection() as output:
                changed = self._selection(output)
            case Value(atom=atom) as output:
                changed = replace(output, atom=self.condition(atom, DOCUMENT))
            case output:
                changed = output
        blocks = []
        for block in query.blocks:
            alternatives = tuple(self.twig(twig, DOCUMENT) for twig in block.alternatives)
            blocks.append(replace(block, alternatives=alternatives))
        if changed == query.output and tuple(blocks) == query.blocks:
            return query
        return replace(query, blocks=tuple(blocks), output=changed, general=None)

    def _selection(self, output: Selection) -> Selection:
        expression, contexts = self.expression(output.expression, DOCUMENT)
        # Values beside a result are seen from it.
        beside = [(name, self.expression(nodes, contexts)[0]) for name, nodes in output.beside]
        return replace(output, expression=expression, beside=tuple(beside))

    # Twigs.

    def twig(self, node: x.TwigNode, contexts: Contexts) -> x.TwigNode:
        """Return a twig changed."""
        own = self.knowledge.after(contexts, node.axis, node.test)
        where = self.condition(node.where, own)
        branches = tuple(
            replace(branch, node=self.twig(branch.node, own)) for branch in node.branches
        )
        if where is not node.where or branches != node.branches:
            node = replace(node, where=where, branches=branches)
        return self.change_twig(node, contexts)

    def condition(self, part: Any, contexts: Contexts) -> Any:
        """Return a condition, or an atom inside one, changed."""
        match part:
            case x.TwigNode():
                return self.twig(part, contexts)
            case x.AtRoot(part=inner):
                return x.AtRoot(self.condition(inner, DOCUMENT))
            case _:
                changed = map_twig_parts(part, lambda inner: self.condition(inner, contexts))
                if isinstance(changed, x.Exists) and isinstance(changed.nodes, x.TwigNode):
                    # The form in which conditions with the same steps are equal.
                    changed = existence(changed.nodes) if changed is not part else part
                return self.change_condition(simplified(changed), contexts)

    # Expressions of XPath and XQuery.

    def sequences(self, output: q.Sequences) -> q.Sequences:
        """Return a query over sequences changed; nothing is known inside its functions."""
        self._is_xpath = False
        variables = []
        for variable in output.variables:
            value, contexts = self.expression(variable.value, DOCUMENT)
            self._variables[variable.name] = contexts
            variables.append(replace(variable, value=value))
        functions = [
            replace(one, body=self.expression(one.body, None)[0]) for one in output.functions
        ]
        body, _ = self.expression(output.body, DOCUMENT)
        return replace(output, body=body, functions=tuple(functions), variables=tuple(variables))

    def expression(self, part: Any, here: Contexts) -> tuple[Any, Contexts]:
        """Return an expression changed, and which elements its nodes may be."""
        match part:
            case x.Here():
                return part, here
            case x.Root():
                # In XQuery a node may belong to a tree that was constructed.
                return part, DOCUMENT if self._is_xpath or here is not None else None
            case q.Stream():
                return part, DOCUMENT
            case q.Variable(name=name):
                return part, self._variables.get(name)
            case x.Step():
                return self._step(part, here)
            case x.Filter(base=base, predicates=predicates):
                base, contexts = self.expression(base, here)
                return x.Filter(base, self._all(predicates, contexts)), contexts
            case x.Union(parts=parts):
                return self._united(part, parts, here)
            case q.Each(base=base, body=body):
                base, contexts = self.expression(base, here)
                body, reached = self.expression(body, contexts)
                return q.Each(base, body), reached
            case q.Flwor() | q.Quantified() | q.For() | q.Let():
                return self._binding(part, here)
            case _:
                take_apart = map_twig_parts if self._is_xpath else map_parts
                return take_apart(part, lambda inner: self.expression(inner, here)[0]), None

    def _step(self, step: x.Step, here: Contexts) -> tuple[Any, Contexts]:
        after, above = self.knowledge.after, None
        match step.base:
            case x.Step(base=top, axis=Axis.DESCENDANT_OR_SELF, test=test, predicates=()) if (
                test == ANY_NODE
            ):
                top, above = self.expression(top, here)
                base: Any = x.Step(top, Axis.DESCENDANT_OR_SELF, test)
                contexts = after(above, Axis.DESCENDANT_OR_SELF, test)
            case _:
                base, contexts = self.expression(step.base, here)
        reached = after(contexts, step.axis, step.test)
        predicates = self._all(step.predicates, reached)
        if base != step.base or predicates != step.predicates:
            step = x.Step(base, step.axis, step.test, predicates)
        return self.change_step(step, contexts, above), reached

    def _all(self, parts: tuple[Any, ...], here: Contexts) -> tuple[Any, ...]:
        return tuple([self.expression(part, here)[0] for part in parts])

    def _united(
        self, part: x.Union, parts: tuple[Any, ...], here: Contexts
    ) -> tuple[Any, Contexts]:
        changed, united = [], NOWHERE
        for inner in parts:
            new, contexts = self.expression(inner, here)
            changed.append(new)
            united = None if united is None or contexts is None else united | contexts
        return x.Union(tuple(changed)), united

    def _binding(self, part: Any, here: Contexts) -> tuple[Any, Contexts]:
        """Return what binds variables changed; the clauses come in order."""
        match part:
            case q.For(variable=variable, source=source) | q.Let(variable=variable, source=source):
                source, self._variables[variable] = self.expression(source, here)
                return replace(part, source=source), None
            case q.Flwor(clauses=clauses, result=result):
                clauses = self._all(clauses, here)
                result, contexts = self.expression(result, here)
                return q.Flwor(clauses, result), contexts
            case _:
                bindings = self._all(part.bindings, here)
                test, _ = self.expression(part.test, here)
                return replace(part, bindings=bindings, test=test), None
