"""The printed form of expressions: XPath without abbreviations, constants as slots.

``boolean(path)`` says that there is a node, ``string(path)`` is the value of the first one, and
``strings(path)`` are the values of all.
"""

from __future__ import annotations

from penstock.twigs import expressions as x
from penstock.twigs.nodetests import Axis
from penstock.twigs.patterns import Slot
from penstock.twigs.step_printing import INFIX, SlotPrinter, print_slot, print_step

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_OF_NODES = {
    x.NonEmpty: "boolean",
    x.Count: "count",
    x.Sum: "sum",
    x.FirstString: "string",
    x.JoinedStrings: "strings",
}


def print_expression(expression: x.Expression, slots: SlotPrinter = print_slot) -> str:
    """Return an expression on one line."""
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
        case _:
            return _print_atom(expression, slots)


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


def _listed(predicates: tuple[x.Atom, ...], slots: SlotPrinter) -> str:
    return "".join([f"[{print_expression(one, slots)}]" for one in predicates])


def _print_atom(atom: x.Atom, slots: SlotPrinter) -> str:
    match atom:
        case Slot():
            return slots(atom)
        case x.Apply(function=function, arguments=arguments):
            texts = [_operand(one, slots) for one in arguments]
            if function in _COMPARISONS:
                return f"{texts[0]} {function} {texts[1]}"
            if function in INFIX:
                return f"({texts[0]} {function} {texts[1]})"
            return f"{function}({', '.join(texts)})"
        case x.All(parts=parts):
            texts = [_print_atom(part, slots) for part in parts]
            return " and ".join(
                f"({text})" if isinstance(part, x.Some) else text
                for part, text in zip(parts, texts, strict=True)
            )
        case x.Some(parts=parts):
            return " or ".join([_print_atom(part, slots) for part in parts])
        case x.Inverse(part=part):
            return f"not({_print_atom(part, slots)})"
        case x.Position():
            return "position()"
        case x.Last():
            return "last()"
        case x.SomeCompare(operator=operator, nodes=left, value=right):
            return f"{print_expression(left, slots)} {operator} {_operand(right, slots)}"
        case x.PairCompare(operator=operator, left=left, right=right):
            sides = print_expression(left, slots), print_expression(right, slots)
            return f"{sides[0]} {operator} {sides[1]}"
        case x.Above(test=test, atom=inner, otherwise=otherwise):
            texts = [print_step(Axis.PARENT, test), _print_atom(inner, slots), slots(otherwise)]
            return f"above({', '.join(texts)})"
        case x.FirstName(part=part, nodes=nodes):
            return f"{part}({print_expression(nodes, slots)})"
        case _:
            return f"{_OF_NODES[type(atom)]}({print_expression(atom.nodes, slots)})"


def _operand(atom: x.Atom, slots: SlotPrinter) -> str:
    """Return an argument or a side of a comparison; truths among them get parentheses."""
    text = _print_atom(atom, slots)
    is_open = isinstance(atom, x.All | x.Some | x.SomeCompare | x.PairCompare) or (
        isinstance(atom, x.Apply) and atom.function in _COMPARISONS
    )
    return f"({text})" if is_open else text
