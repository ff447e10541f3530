"""The printed form of a query: stable, readable, what ``explain`` shows and tests compare.

Its parts are written as ``expression_printing`` says. Constants are slots, ``?0``, listed at the
end.
"""

from __future__ import annotations

from penstock.twigs.expression_printing import (
    print_condition,
    print_expression,
    print_path,
    print_twig,
)
from penstock.twigs.expressions import Selection
from penstock.twigs.joins import Comparison, Join, Operand, PathTerm
from penstock.twigs.outputs import (
    Aggregate,
    Content,
    Element,
    Event,
    Fragments,
    Group,
    Insert,
    Literal,
    Message,
    Output,
    Value,
)
from penstock.twigs.queries import Query
from penstock.twigs.sequence_printing import print_sequences
from penstock.twigs.sequences import Sequences
from penstock.twigs.tables import Column, Table


def print_query(query: Query) -> str:
    """Return the query as lines: output, blocks, joins, constants."""
    lines = _output_lines(query.output)
    for index, block in enumerate(query.blocks):
        stream = f" of stream {block.stream}" if block.stream is not None else ""
        lines.append(f"block {index}{stream}")
        if not block.alternatives:
            lines.append("  nothing can match")
        for alternative in block.alternatives:
            lines += ["  " + line for line in print_twig(alternative)]
        lines += [f"  where {print_comparison(part)}" for part in block.filters]
    lines += [print_join(join) for join in query.joins]
    lines += [f"?{index} = {_atom(value)}" for index, value in enumerate(query.constants)]
    return "\n".join(lines) + "\n"


def print_join(join: Join) -> str:
    """Return an operator with its terms and its window on one line."""
    terms = [f"${left} = ${right}" for left, right in join.equalities]
    terms += [print_comparison(part) for part in join.inequalities]
    terms += [_path_term(part) for part in join.terms]
    window = "" if join.window_seconds is None else f" within {join.window_seconds:.15g} s"
    return f"{join.kind.value} block {join.right} on {' and '.join(terms)}{window}"


def print_comparison(comparison: Comparison) -> str:
    """Return a comparison of two variables."""
    return f"${comparison.left} {comparison.operator} ${comparison.right}"


def _path_term(term: PathTerm) -> str:
    return f"{_operand(term.left)} {term.operator} {_operand(term.right)}"


def _operand(operand: Operand) -> str:
    path = "" if operand.path is None else f"/{print_path(operand.path)}"
    return f"${operand.variable}{path}"


def _atom(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "true()" if value else "false()"
    if isinstance(value, float):
        return repr(value)
    return f"'{value}'" if "'" not in value else f'"{value}"'


def _output_lines(output: Output) -> list[str]:
    match output:
        case Fragments(variable=variable, beside=beside):
            return [f"fragments ${variable}" + _listed(" beside", beside)]
        case Value(atom=atom, type=kind):
            return [f"{kind.value} {print_expression(atom)}"]
        case Aggregate(function=function, variable=variable, running=running):
            return [f"{'running ' if running else ''}{function} of ${variable}"]
        case Message(each=each, content=content, where=where):
            lines = ["message" + _listed(" for each", each)]
            lines += [f"  where ${name}: {print_condition(part)}" for name, part in where]
            return lines + _content_lines(content, 1)
        case Event(select=select, publish=publish, content=content):
            published = "" if publish is None else f" published as {publish}"
            return ["event" + _listed(" of", select) + published, *_content_lines(content, 1)]
        case Selection():
            return _selection_lines(output)
        case Sequences():
            return print_sequences(output)
        case Table(record=record, columns=columns):
            return [f"table of {print_expression(record)}", *_column_lines(columns, 1)]


def _column_lines(columns: tuple[Column, ...], level: int) -> list[str]:
    lines = []
    for column in columns:
        shape = str(column.type or "struct")
        shape = f"list[{shape}]" if column.is_list else shape
        source = "" if column.source is None else f" {print_expression(column.source)}"
        lines.append(f"{'  ' * level}{column.name}: {shape}{source}")
        lines += _column_lines(column.columns, level + 1)
    return lines


def _selection_lines(selection: Selection) -> list[str]:
    kind = "nodes" if selection.type is None else selection.type.value
    if selection.aggregate is not None:
        kind = f"{'running ' if selection.running else ''}{selection.aggregate} of nodes"
    lines = [f"{kind} {print_expression(selection.expression)}"]
    return lines + [f"  {name}: {print_expression(nodes)}" for name, nodes in selection.beside]


def _listed(word: str, variables: tuple[str, ...]) -> str:
    return f"{word} {', '.join(f'${name}' for name in variables)}" if variables else ""


def _content_lines(content: tuple[Content, ...], depth: int) -> list[str]:
    indent = "  " * depth
    lines = []
    for part in content:
        match part:
            case Literal(text=text):
                lines.append(f"{indent}text {_atom(text)}")
            case Insert(variable=variable, as_value=as_value):
                lines.append(f"{indent}insert {'value of ' if as_value else ''}${variable}")
            case Element(name=name, attributes=attributes, content=inner):
                lines.append(f"{indent}element {name}")
                for attribute, value in attributes:
                    lines.append(f"{indent}  attribute {attribute}")
                    lines += _content_lines(value, depth + 2)
                lines += _content_lines(inner, depth + 1)
            case Group(variable=variable, content=inner, where=where):
                guard = "" if where is None else f" where {print_condition(where)}"
                lines.append(f"{indent}for each ${variable}{guard}")
                lines += _content_lines(inner, depth + 1)
    return lines
