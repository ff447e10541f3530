"""The printed form of expressions over sequences: XQuery without abbreviations.

Names in a namespace are written ``{uri}name`` unless every query has a prefix for it; names of
constructed nodes are written with the prefix that they have.
A query without such names is printed as a text that asks the same.
"""

from __future__ import annotations

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.constructor_printing import ConstructorPrinter, quoted
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

_PREFIXES = {
    ("http://www.w3.org/XML/1998/namespace",): "xml",
    ("http://www.w3.org/2001/XMLSchema",): "xs",
    ("http://www.w3.org/2001/XMLSchema-instance",): "xsi",
    ("http://www.w3.org/2005/xpath-functions",): "fn",
    ("http://www.w3.org/2005/xquery-local-functions",): "local",
}
"""The prefixes that every query has."""
_KINDS = {NodeKind.ANY: "node", NodeKind.DOCUMENT: "document-node"}
_NAMED = (NodeKind.ELEMENT, NodeKind.ATTRIBUTE)
_INFIX = (q.Arithmetic, q.GeneralCompare, q.ValueCompare, q.NodeCompare, q.Combine)


def print_sequences(output: q.Sequences) -> list[str]:
    """Return a query as lines: settings, variables, functions, body."""
    printer = _Printer(output)
    lines = []
    if output.untyped != "error":
        lines.append(f"(: untyped text that is no number compares as {output.untyped} :)")
    if output.empty != "drop":
        lines.append(f"(: empty messages: {output.empty} :)")
    for variable in output.variables:
        is_bound = not isinstance(variable.value, q.Unbound)
        value = f":= {printer.single(variable.value)}" if is_bound else "external"
        lines.append(f"declare variable ${variable.name}{_as(variable.type)} {value};")
    lines += [printer.function(function) for function in output.functions]
    if isinstance(output.body, q.Flwor):
        return lines + printer.clauses(output.body)
    return [*lines, printer.text(output.body)]


def print_item(item: q.Item, output: q.Sequences | None = None) -> str:
    """Return an expression on one line; the functions that it calls are those of ``output``."""
    return _Printer(output or q.Sequences(item)).text(item)


def print_type(kind: q.SequenceType) -> str:
    """Return a sequence type."""
    if kind.occurrence == "0":
        return "empty-sequence()"
    item = kind.item
    if item.kind == "item":
        return f"item(){kind.occurrence}"
    if item.kind == "atomic":
        return f"xs:{item.name}{kind.occurrence}"
    assert item.test is not None
    if item.element is not None:
        return f"document-node({_kind_test(item.element)}){kind.occurrence}"
    return f"{_kind_test(item.test)}{kind.occurrence}"


def _as(kind: q.SequenceType | None) -> str:
    return "" if kind is None else f" as {print_type(kind)}"


def _name(test: NodeTest) -> str:
    local = "*" if test.local is None else test.local
    if test.uris is None:
        return local if test.local is None else f"*:{local}"
    if test.uris == ("",) and test.local is not None:
        return local
    if test.uris in _PREFIXES:
        return f"{_PREFIXES[test.uris]}:{local}"
    return f"{{{' | '.join(test.uris)}}}{local}"


def _kind_test(test: NodeTest) -> str:
    if test.kind in _NAMED:
        return f"{test.kind.value}({'' if test.is_wildcard else _name(test)})"
    target = "" if test.local is None else quoted(test.local)
    return f"{_KINDS.get(test.kind, test.kind.value)}({target})"


def _step(step: x.Step) -> str:
    principal = NodeKind.ATTRIBUTE if step.axis is Axis.ATTRIBUTE else NodeKind.ELEMENT
    test = _name(step.test) if step.test.kind is principal else _kind_test(step.test)
    return f"{step.axis.value}::{test}"


def _atomic(atomic: q.Atomic) -> str:
    match atomic:
        case q.Atomic("string", text):
            return quoted(text)
        case q.Atomic("boolean", text):
            return f"{text}()"
        case q.Atomic("integer", text) if text.isdigit():
            return text
        case q.Atomic("decimal", text) if not text.startswith("-"):
            return text if "." in text else f"{text}.0"
        case q.Atomic("double", text) if text[0].isdigit():
            return text if "E" in text else f"{text}e0"
    return f"xs:{atomic.type}({quoted(atomic.text)})"


class _Printer(ConstructorPrinter):
    def __init__(self, output: q.Sequences) -> None:
        self.output = output

    def function(self, function: q.Function) -> str:
        """Return the declaration of a function."""
        parameters = [f"${one.name}{_as(one.type)}" for one in function.parameters]
        head = f"{_function_name(function)}({', '.join(parameters)}){_as(function.result)}"
        return f"declare function {head} {{ {self.text(function.body)} }};"

    def text(self, item: q.Item) -> str:
        """Return an expression that may be a list with commas."""
        if isinstance(item, q.Sequence) and len(item.parts) > 1:
            return ", ".join([self.single(part) for part in item.parts])
        return self.single(item)

    def single(self, item: q.Item) -> str:
        """Return an expression without a comma outside of brackets."""
        if type(item) in _INFIX:
            return f"{self.operand(item.left)} {item.operator} {self.operand(item.right)}"
        match item:
            case x.And(parts=parts):
                return " and ".join([self.operand(part) for part in parts])
            case x.Or(parts=parts):
                return " or ".join([self.operand(part) for part in parts])
            case x.Union(parts=parts):
                return " | ".join([self.operand(part) for part in parts])
            case q.Range(first=first, last=last):
                return f"{self.operand(first)} to {self.operand(last)}"
            case q.Signed(operator=operator, operand=operand):
                return f"{operator}{self.operand(operand)}"
            case q.If():
                test, then = self.text(item.test), self.single(item.then)
                return f"if ({test}) then {then} else {self.single(item.otherwise)}"
            case q.Flwor():
                return " ".join(self.clauses(item))
            case q.Quantified(quantifier=quantifier, bindings=bindings):
                bound = [self._binding(binding) for binding in bindings]
                return f"{quantifier} {', '.join(bound)} satisfies {self.single(item.test)}"
            case q.TypeSwitch():
                return self._type_switch(item)
            case q.InstanceOf(operand=operand, type=kind):
                return f"{self.operand(operand)} instance of {print_type(kind)}"
            case q.TreatAs(operand=operand, type=kind):
                return f"{self.operand(operand)} treat as {print_type(kind)}"
            case q.CastAs() | q.CastableAs():
                word = "cast" if isinstance(item, q.CastAs) else "castable"
                target = f"xs:{item.type}{'?' if item.is_optional else ''}"
                return f"{self.operand(item.operand)} {word} as {target}"
        return self.operand(item)

    def operand(self, item: q.Item) -> str:
        """Return an expression that can stand beside any operator."""
        return self._path(item) if isinstance(item, x.Step | q.Each) else self.primary(item)

    def primary(self, item: q.Item) -> str:
        """Return an expression that can stand before a predicate or between slashes."""
        match item:
            case x.Here():
                return "."
            case x.Root():
                return "(/)"
            case x.Step() | q.Each():
                return f"({self._path(item)})"
            case x.Position():
                return "position()"
            case x.Last():
                return "last()"
            case q.Atomic():
                return _atomic(item)
            case q.Variable(name=name):
                return f"${name}"
            case q.Stream(name=name, is_whole=is_whole):
                return f"{'stream' if is_whole else 'doc'}({quoted(name)})"
            case x.Call(function=function, arguments=arguments):
                return f"{function}{self._arguments(arguments)}"
            case q.OwnCall(function=number, arguments=arguments):
                name = _function_name(self.output.functions[number])
                return f"{name}{self._arguments(arguments)}"
            case x.Filter(base=base, predicates=predicates):
                return f"{self._base(base)}{self._predicates(predicates)}"
            case q.Sequence():
                return f"({', '.join([self.single(part) for part in item.parts])})"
        constructed = self.constructed(item)
        return f"({self.single(item)})" if constructed is None else constructed

    def _base(self, base: q.Item) -> str:
        """Return what predicates stand behind; those of a filter are no further ones of its own."""
        text = self.primary(base)
        return f"({text})" if isinstance(base, x.Filter) else text

    def _arguments(self, arguments: tuple[q.Item, ...]) -> str:
        return f"({', '.join([self.single(argument) for argument in arguments])})"

    def _predicates(self, predicates: tuple[q.Item, ...]) -> str:
        return "".join([f"[{self.text(predicate)}]" for predicate in predicates])

    def _path(self, item: q.Item) -> str:
        """Return a path; its steps lie inside each other, the last one outermost."""
        steps: list[str] = []
        is_relative = False
        while isinstance(item, x.Step | q.Each):
            if isinstance(item, x.Step):
                steps.append(_step(item) + self._predicates(item.predicates))
                is_relative = isinstance(item.base, x.Here)
            else:
                body = self.primary(item.body)
                steps.append(f"({body})" if isinstance(item.body, x.Filter) else body)
            item = item.base
        if not is_relative:
            steps.append("" if isinstance(item, x.Root) else self.primary(item))
        return "/".join(reversed(steps))

    def clauses(self, flwor: q.Flwor) -> list[str]:
        """Return a FLWOR expression, one line per clause."""
        lines = []
        for clause in flwor.clauses:
            match clause:
                case q.For():
                    lines.append(f"for {self._binding(clause)}")
                case q.Let(variable=variable, source=source, type=kind):
                    lines.append(f"let ${variable}{_as(kind)} := {self.single(source)}")
                case q.Where(test=test):
                    lines.append(f"where {self.single(test)}")
                case q.OrderBy(keys=keys):
                    lines.append(f"order by {', '.join([self._key(key) for key in keys])}")
        return [*lines, f"return {self.single(flwor.result)}"]

    def _binding(self, clause: q.For) -> str:
        at = "" if clause.position is None else f" at ${clause.position}"
        return f"${clause.variable}{_as(clause.type)}{at} in {self.single(clause.source)}"

    def _key(self, key: q.OrderKey) -> str:
        order = " descending" if key.is_descending else ""
        empty = " empty greatest" if key.is_empty_greatest else ""
        return f"{self.single(key.key)}{order}{empty}"

    def _type_switch(self, switch: q.TypeSwitch) -> str:
        texts = [f"typeswitch ({self.text(switch.operand)})"]
        for case in switch.cases:
            variable = "" if case.variable is None else f" ${case.variable}"
            kind = "default" if case.type is None else f"case{variable}{_as(case.type)}"
            if case.type is None:
                kind += variable
            elif not variable:
                kind = f"case {print_type(case.type)}"
            texts.append(f"{kind} return {self.single(case.result)}")
        return " ".join(texts)


def _function_name(function: q.Function) -> str:
    name = function.name
    return f"{name.prefix}:{name.local}" if name.prefix else f"{{{name.uri}}}{name.local}"
