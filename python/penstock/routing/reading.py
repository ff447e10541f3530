"""Texts of queries become formulas: what XPath says of paths and constants, taken apart.

Beside XPath 1.0 a text may say ``matches(path, 'expression')`` and ``date(path) >= date('…')``.
What is not of the form *path operator constant* stays a whole, which only the kernel evaluates.
"""

from __future__ import annotations

from penstock.errors import QueryError
from penstock.languages.xpath import parse, xpath
from penstock.languages.xpath import syntax as s
from penstock.planning.compile import compile_query
from penstock.routing.formulas import (
    COMPARISONS,
    FALSE,
    TRUE,
    All,
    Any,
    Check,
    Constant,
    First,
    Formula,
    Negation,
    Opaque,
    Some,
    native_test,
    number_of,
)
from penstock.routing.paths import Bindings, Path
from penstock.twigs import Axis

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_STRING_FUNCTIONS = ("contains", "starts-with")
_EXTENSIONS = ("matches", "date")


def is_plain(parsed: s.Expression) -> bool:
    """Return whether an expression is XPath 1.0, without tests by expression or date."""
    calls = (node for node in s.nodes_in(parsed) if isinstance(node, s.FunctionCall))
    return not any(call.name in _EXTENSIONS for call in calls)


def filter_program(text: str, bindings: Bindings) -> bytes:
    """Return the program that says whether an expression is true, as ``boolean()`` takes it.

    Raises:
        QueryError: The text is no expression, or not one that is evaluated.
    """
    xpath(text, namespaces=dict(bindings))  # whose errors are about the text as it was written
    return compile_query(xpath(f"boolean({text})", namespaces=dict(bindings)), is_filter=True)


def read_formula(text: str, bindings: Bindings = ()) -> Formula:
    """Return the formula of a text.

    Raises:
        QueryError: The text is no expression, or not one that is evaluated.
    """
    return _Reader(text, bindings).truth(parse(text))


class _Reader:
    def __init__(self, text: str, bindings: Bindings) -> None:
        self._text = text
        self._bindings = bindings

    def truth(self, expression: s.Expression) -> Formula:
        """Return when an expression is true."""
        match expression:
            case s.Logical(operator=operator, parts=parts):
                formulas = tuple(self.truth(part) for part in parts)
                return All(formulas) if operator == "and" else Any(formulas)
            case s.FunctionCall(name="not", arguments=(argument,)):
                return Negation(self.truth(argument))
            case s.FunctionCall(name="boolean", arguments=(argument,)):
                return self.truth(argument)
            case s.FunctionCall(name="true", arguments=()):
                return TRUE
            case s.FunctionCall(name="false", arguments=()):
                return FALSE
            case s.Path(start=None, steps=(_, *_)):
                return self._path(expression)
            case s.Union(parts=parts):
                return Any(tuple(self.truth(part) for part in parts))
            case s.Binary(operator=operator) if operator in COMPARISONS:
                return self._comparison(expression)
            case s.FunctionCall(
                name=name, arguments=(s.Path() as path, s.Literal(value=value))
            ) if name in _STRING_FUNCTIONS and path.start is None and path.steps:
                return First(self._plain_path(path), Check(name, value))  # type: ignore[arg-type]
            case s.FunctionCall(name="matches", arguments=(nodes, s.Literal(value=value))):
                return self._some(nodes, self._checked(Check("matches", value), expression))
            case s.Literal(value=value):
                return Constant(bool(value))
            case _:
                return self._opaque(expression)

    def _comparison(self, expression: s.Binary) -> Formula:
        for nodes, constant, operator in (
            (expression.left, expression.right, expression.operator),
            (expression.right, expression.left, _mirrored(expression.operator)),
        ):
            test = self._test(operator, nodes, constant)
            match nodes:
                case s.FunctionCall(name="date", arguments=(argument,)):
                    nodes = argument
                case _:
                    pass
            if test is not None and isinstance(nodes, s.Path | s.Union):
                return self._some(nodes, self._checked(test, expression))
        return self._opaque(expression)

    def _test(self, operator: str, nodes: s.Expression, constant: s.Expression) -> Check | None:
        """Return the test of a comparison with a constant, or None if it is no constant."""
        match constant:
            case s.FunctionCall(name="date", arguments=(s.Literal(value=value),)):
                return Check(operator, value, is_date=True)  # type: ignore[arg-type]
            case _ if isinstance(nodes, s.FunctionCall):
                return None
            case s.Number(value=value):
                return Check(operator, value)  # type: ignore[arg-type]
            case s.Negate(operand=s.Number(value=value)):
                return Check(operator, -value)  # type: ignore[arg-type]
            case s.Literal(value=value):
                compared = value if operator in ("=", "!=") else number_of(value)
                return Check(operator, compared)  # type: ignore[arg-type]
            case _:
                return None

    def _some(self, nodes: s.Expression, test: Formula) -> Formula:
        match nodes:
            case s.Union(parts=parts):
                return Any(tuple(self._some(part, test) for part in parts))
            case s.Path(start=None, steps=(_, *_)):
                of_root = self._of_root(nodes)
                if of_root is not None:
                    conditions, rest = of_root
                    return All((*conditions, rest._some(parse(rest._text), test)))
                return Some(self._plain_path(nodes), test)
            case _:
                return self._opaque(nodes)

    def _path(self, path: s.Path) -> Formula:
        """Return that a path has a node; the last predicate becomes a condition where it can."""
        whole = self._plain_path(path)
        step = path.steps[-1]
        of_root = self._of_root(path)
        if of_root is not None:
            conditions, rest = of_root
            if len(path.steps) > 1:
                return All((*conditions, rest.truth(parse(rest._text))))
            if any(map(_implies_root, conditions)):
                return All(tuple(conditions)) if len(conditions) > 1 else conditions[0]
        if not step.predicates:
            return Some(whole, TRUE)
        predicate = step.predicates[-1]
        cut = self._text.rindex("[", step.span[0], predicate.span[0])
        base = whole.at(self._text[path.span[0] : cut])
        where = self._where(predicate)
        if where is not None:
            return Some(base, where, whole)
        inner = self._inner(predicate, base)
        return Some(whole, TRUE) if inner is None else inner

    def _of_root(self, path: s.Path) -> tuple[list[Formula], _Reader] | None:
        """Return predicates of the root element by themselves, and a reader of the path without.

        There is one root element, so conditions on it hold or fail whatever else is asked of it.
        """
        step = path.steps[0]
        is_root = path.absolute and step.axis is Axis.CHILD and isinstance(step.test, s.NameTest)
        if not is_root or not step.predicates:
            return None
        cut = self._text.index("[", step.test.span[1])
        root = Path(self._text[path.span[0] : cut], self._bindings)
        conditions = [self._inside(predicate, root) for predicate in step.predicates]
        known = [condition for condition in conditions if condition is not None]
        if len(known) < len(conditions):
            return None
        text = root.text + self._text[step.span[1] : path.span[1]]
        return known, _Reader(text, self._bindings)

    def _inside(self, predicate: s.Expression, root: Path) -> Formula | None:
        """Return a predicate of the root element as a formula that holds if there is one."""
        match predicate:
            case s.Logical(operator=operator, parts=parts):
                formulas = tuple(self._inside(part, root) for part in parts)
                known = tuple(formula for formula in formulas if formula is not None)
                if len(known) < len(formulas):
                    return None
                return All(known) if operator == "and" else Any(known)
            case s.FunctionCall(name="not", arguments=(argument,)):
                part = self._inside(argument, root)
                return None if part is None else Negation(part)
            case s.FunctionCall(
                name=name,
                arguments=(
                    s.Path(absolute=False, start=None, steps=(_, *_)) as path,
                    s.Literal(value=value),
                ),
            ) if name in _STRING_FUNCTIONS and not _is_self(path):
                below = root.at(f"{root.text}/{self._text[slice(*path.span)]}")
                return First(below, Check(name, value))  # type: ignore[arg-type]
            case _:
                where = self._where(predicate)
                if where is not None:
                    return Some(root, where, root.at(f"{root.text}[{self._said(predicate)}]"))
                return self._inner(predicate, root)

    def _said(self, expression: s.Expression) -> str:
        return self._text[slice(*expression.span)]

    def _where(self, expression: s.Expression) -> Formula | None:
        """Return a predicate as a condition on the value of its node alone."""
        match expression:
            case s.Logical(operator=operator, parts=parts):
                formulas = tuple(self._where(part) for part in parts)
                known = tuple(formula for formula in formulas if formula is not None)
                if len(known) < len(formulas):
                    return None
                return All(known) if operator == "and" else Any(known)
            case s.FunctionCall(name="not", arguments=(argument,)):
                part = self._where(argument)
                return None if part is None else Negation(part)
            case s.FunctionCall(name=name, arguments=(nodes, s.Literal(value=value))) if name in (
                *_STRING_FUNCTIONS,
                "matches",
            ) and _is_self(nodes):
                return self._checked(Check(name, value), expression)  # type: ignore[arg-type]
            case s.Binary(operator=operator, left=left, right=right) if operator in COMPARISONS:
                for nodes, constant, said in (
                    (left, right, operator),
                    (right, left, _mirrored(operator)),
                ):
                    test = self._test(said, nodes, constant)
                    match nodes:
                        case s.FunctionCall(name="date", arguments=(argument,)):
                            nodes = argument
                        case _:
                            pass
                    if test is not None and _is_self(nodes):
                        return self._checked(test, expression)
                return None
            case _:
                return None

    def _inner(self, predicate: s.Expression, base: Path) -> Formula | None:
        """Return a predicate about nodes below as one about the longer path: both say "some"."""
        match predicate:
            case s.Path(absolute=False, start=None, steps=(_, *_)) as path:
                relative, test = path, TRUE
            case s.Binary(operator=operator, left=s.Path() as path, right=constant) if (
                operator in COMPARISONS and not path.absolute and path.start is None
            ):
                found = self._test(operator, path, constant)
                if found is None:
                    return None
                relative, test = path, found  # type: ignore[assignment]
            case _:
                return None
        return Some(base.at(f"{base.text}/{self._text[slice(*relative.span)]}"), test)

    def _plain_path(self, path: s.Path) -> Path:
        return Path(self._text[slice(*path.span)], self._bindings)

    def _opaque(self, expression: s.Expression) -> Opaque:
        return Opaque(filter_program(self._text[slice(*expression.span)], self._bindings))

    def _checked(self, test: Check, expression: s.Expression) -> Check:
        """Return a test whose constant is good.

        Raises:
            QueryError: It is no date, or no regular expression.
        """
        try:
            native_test(test)
        except QueryError as error:
            raise QueryError(
                error.code, error.message, expression.span, error.help, self._text
            ) from None
        return test


def _implies_root(formula: Formula) -> bool:
    """Return whether a formula about the root element holds only if there is one."""
    match formula:
        case Some():
            return True
        case All(parts=parts):
            return any(map(_implies_root, parts))
        case Any(parts=parts):
            return all(map(_implies_root, parts))
        case _:
            return False


def _mirrored(operator: str) -> str:
    return _MIRRORED.get(operator, operator)


def _is_self(expression: s.Expression) -> bool:
    match expression:
        case s.Path(
            absolute=False,
            start=None,
            steps=(s.Step(axis=Axis.SELF, test=s.KindTest(kind="node"), predicates=()),),
        ):
            return True
        case _:
            return False
