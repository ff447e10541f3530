"""Programs of many FLWR queries: those that differ in constants only are compiled once."""

from collections.abc import Iterable

from benchmarks.broker.queries import Flwr
from penstock.planning.programs import compile_program

_GAP = "~"
"""Stands for each character of a constant; no name or number of the workload has one."""


def programs_of(queries: Iterable[Flwr]) -> list[bytes]:
    """Return the programs that ``compile_program`` gives for the texts of queries."""
    shapes: dict[str, bytes] = {}
    programs = []
    for query in queries:
        text = query.text()
        constants = [str(one.constant) for one in query.comparisons]
        if len(constants) != 1 or query.comparisons[0].operator != "=":
            programs.append(compile_program(text, "query", "xquery"))
            continue
        [constant] = constants
        gap = _GAP * len(constant)
        shape = text.replace(f'"{constant}"', f'"{gap}"')
        if shape not in shapes:
            shapes[shape] = compile_program(shape, "query", "xquery")
        length = bytes([len(gap)])
        program = shapes[shape]
        programs.append(
            program.replace(length + gap.encode("ascii"), length + constant.encode("ascii"))
        )
    return programs
