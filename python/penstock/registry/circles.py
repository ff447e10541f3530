"""No subscription may read what it publishes, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.errors import RegistryError
from penstock.planning.records import JoinOutput, is_publishing, output_of
from penstock.registry.columns import Columns
from penstock.registry.loading.lines import CompiledChunk, LineError
from penstock.registry.loading.load import LoadReport
from penstock.registry.requests import requests_of
from penstock.registry.subscriptions import Snapshot


def refuse_circle(name: str, program: bytes, others: Mapping[str, JoinOutput]) -> None:
    """Check that a subscription does not read what it publishes.

    ``others`` are the outputs of all subscriptions that publish, by name.

    Raises:
        RegistryError: It does, directly or through what others publish.
    """
    own = output_of(program)
    publishers = [own, *(other for other_name, other in others.items() if other_name != name)]
    reached = {own.publish}
    while True:
        further = {one.publish for one in publishers if _reads(one, reached)}
        if further <= reached:
            break
        reached |= further
    if _reads(own, reached):
        message = f"`{name}` would read what it publishes"
        raise RegistryError("PR0010", f"{message}; publish to another stream")


def publishers_of(snapshot: Snapshot) -> dict[str, JoinOutput]:
    """Return what becomes of the results of all who publish them, by name."""
    requests = requests_of(snapshot).items()
    return {name: output_of(one.program) for name, one in requests if is_publishing(one.program)}


def without_circles(
    chunks: Iterable[CompiledChunk], others: Mapping[str, JoinOutput], report: LoadReport
) -> Iterator[CompiledChunk]:
    """Yield chunks without the lines that would read what they publish; these are noted."""
    known = dict(others)
    for chunk in chunks:
        kept = CompiledChunk([], [], chunk.errors)
        for number, line in zip(chunk.numbers, chunk.lines, strict=True):
            try:
                _admit(line, known)
            except RegistryError as error:
                report.note(LineError.of(number, error))
            else:
                kept.numbers.append(number)
                kept.lines.append(line)
        yield kept


def _admit(line: Columns, known: dict[str, JoinOutput]) -> None:
    if is_publishing(line.program):
        refuse_circle(line.name, line.program, known)
        known[line.name] = output_of(line.program)


def _reads(publisher: JoinOutput, streams: set[str | None]) -> bool:
    return not streams.isdisjoint(publisher.streams)
