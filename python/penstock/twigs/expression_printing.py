"""The printed form of expressions and twigs: XPath without abbreviations, constants as slots.

A name without braces is in no namespace, ``{uri}name`` in that one, ``*:name`` in any.
``string(.)`` is the string value of the context node, ``string(path)`` that of the first node of
a path, ``strings(path)`` are the values of all; ``at-root(…)`` is a condition at the document node.
Where a condition stands as a value, ``boolean(path)`` says that there is a node. A function that
stands as a condition is written ``boolean(function(…))``.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.twigs import expressions as x
from penstock.twigs.logic import conjuncts
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

SlotPrinter = Callable[[x.Slot], str]

_INFIX = frozenset({"+", "-", "*", "div", "mod"})
"""The operators that are written between their operands and in parentheses."""
_OPEN = x.And | x.Or | x.Compare | x.SomeCompare | x.PairCompare
"""What gets parentheses as an operand."""
_OF_NODES: dict[type, str] = {
    x.Exists: "boolean",
    x.Count: "count",
    x.Sum: "sum",
    x.StringOf: "string",
    x.JoinedStrings: "strings",
    x.ListedStrings: "list",
}
_KIND_TESTS = {
    NodeKind.ANY: "node",
    NodeKind.DOCUMENT: "document",
    NodeKind.TEXT: "text",
    NodeKind.COMMENT: "comment",
    NodeKind.INSTRUCTION: "processing-instruction",
}
_PRINCIPAL = {Axis.ATTRIBUTE: NodeKind.ATTRIBUTE, Axis.NAMESPACE: NodeKind.NAMESPACE}


def print_slot(slot: x.Slot) -> str:
    """Return a slot by its number."""
    return f"?{slot.index}"


def print_expression(expression: x.Expression, slots: SlotPrinter = print_slot) -> str:
    """Return nodes or a value on one line."""
    match expression:
        case x.Here():
            return "."
        case x.Root():
            return "/"
        case x.Step(base=base, axis=axis, test=test, predicates=predicates):
            return _before(base, slots) + print_step(axis, test) + _listed(predicates, slots)
        case x.Filter(base=base, predicates=predicates):
            return f"({print_expression(base, slots)}){_listed(predicates, slots)}"
        case x.Union(parts=parts):
            return " | ".join([print_expression(part, slots) for part in parts])
        case x.Identified(words=words):
            return f"id({print_expression(words, slots)})"
        case x.TwigNode():
            return print_path(expression, slots)
        case _:
            return _print_atom(expression, slots)


def print_condition(condition: x.Condition, slots: SlotPrinter = print_slot) -> str:
    """Return an atom that stands as a condition on one line."""
    match condition:
        case x.Exists(nodes=nodes):
            return print_expression(nodes, slots)
        case x.Call() if not x.is_condition(condition):
            return f"boolean({_print_atom(condition, slots)})"
        case _:
            return _print_atom(condition, slots)


def print_twig(node: x.TwigNode, slots: SlotPrinter = print_slot) -> list[str]:
    """Return a twig as indented lines, one step a line and each of its conditions below it."""
    lines: list[str] = []
    # Paths are long rather than wide, so the walk keeps its own stack.
    waiting = [(0, x.Branch(node))]
    while waiting:
        depth, branch = waiting.pop()
        step = branch.node
        bound = f" as ${step.variable}" if step.variable is not None else ""
        optional = "optional " if branch.optional else ""
        indent = "  " * depth
        lines.append(f"{indent}{optional}{print_step(step.axis, step.test)}{bound}")
        for part in conjuncts(step.where):
            lines.append(f"{indent}  where {print_condition(part, slots)}")
        waiting += [(depth + 1, below) for below in reversed(step.branches)]
    return lines


def print_path(node: x.TwigNode, slots: SlotPrinter = print_slot) -> str:
    """Return a twig on one line, as a path with predicates."""
    text = print_step(node.axis, node.test) + _listed(conjuncts(node.where), slots)
    if len(node.branches) == 1 and not node.branches[0].optional:
        return f"{text}/{print_path(node.branches[0].node, slots)}"
    for branch in node.branches:
        optional = "optional " if branch.optional else ""
        text += f"{{{optional}{print_path(branch.node, slots)}}}"
    return text


def print_step(axis: Axis, test: NodeTest) -> str:
    """Return an axis and a node test."""
    return f"{axis.value}::{_test(axis, test)}"


def _before(base: x.Nodes, slots: SlotPrinter) -> str:
    """Return what stands before the step that starts from ``base``."""
    match base:
        case x.Here():
            return ""
        case x.Root():
            return "/"
        case x.Union():
            return f"({print_expression(base, slots)})/"
        case _:
            return f"{print_expression(base, slots)}/"


def _listed(predicates: tuple[x.Condition, ...], slots: SlotPrinter) -> str:
    return "".join([f"[{print_condition(one, slots)}]" for one in predicates])


def _print_atom(atom: x.Atom, slots: SlotPrinter) -> str:
    match atom:
        case x.Slot():
            return slots(atom)
        case x.Constant(value=value):
            return "true()" if value else "false()"
        case x.Call(function=function, arguments=arguments):
            texts = [_operand(one, slots) for one in arguments]
            if function in _INFIX:
                return f"({texts[0]} {function} {texts[1]})"
            return f"{function}({', '.join(texts)})"
        case x.And(parts=parts):
            texts = [print_condition(part, slots) for part in parts]
            return " and ".join(
                f"({text})" if isinstance(part, x.Or) else text
                for part, text in zip(parts, texts, strict=True)
            )
        case x.Or(parts=parts):
            return " or ".join([print_condition(part, slots) for part in parts])
        case x.Not(part=part):
            return f"not({print_condition(part, slots)})"
        case x.AtRoot(part=part):
            return f"at-root({print_condition(part, slots)})"
        case (
            x.Compare(operator=operator, left=left, right=right)
            | x.SomeCompare(operator=operator, nodes=left, value=right)
            | x.PairCompare(operator=operator, left=left, right=right)
        ):
            return f"{_operand(left, slots)} {operator} {_operand(right, slots)}"
        case x.Position():
            return "position()"
        case x.Last():
            return "last()"
        case x.Above(test=test, atom=inner, otherwise=otherwise):
            texts = [print_expression(part, slots) for part in (inner, otherwise)]
            return f"above({print_step(Axis.PARENT, test)}, {', '.join(texts)})"
        case x.NameOf(part=part, nodes=nodes):
            return f"{part}({print_expression(nodes, slots)})"
        case _:
            return f"{_OF_NODES[type(atom)]}({print_expression(atom.nodes, slots)})"


def _operand(expression: x.Expression, slots: SlotPrinter) -> str:
    """Return an argument or a side of a comparison."""
    text = print_expression(expression, slots)
    return f"({text})" if isinstance(expression, _OPEN) else text


def _test(axis: Axis, test: NodeTest) -> str:
    if test.kind in _KIND_TESTS:
        target = "" if test.local is None else f"'{test.local}'"
        return f"{_KIND_TESTS[test.kind]}({target})"
    name = _name(test)
    if test.kind is _PRINCIPAL.get(axis, NodeKind.ELEMENT):
        return name
    return f"{test.kind.value}({name})"


def _name(test: NodeTest) -> str:
    local = "*" if test.local is None else test.local
    if test.uris is None:
        return local if test.local is None else f"*:{local}"
    if test.uris == ("",) and test.local is not None:
        return local
    return f"{{{' | '.join(test.uris)}}}{local}"
