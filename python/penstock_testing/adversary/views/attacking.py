"""The attack: every document meets headers of all kinds, and every query has to be answered right.

Three things are compared: the answer of a server from a header, its answer without one, and the
answer of the definitions. A header that is right has to be the same in pieces.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random

from penstock import routing
from penstock.routing.server import Verify
from penstock_testing.adversary.report import Failure, Tally, kind_of
from penstock_testing.adversary.splitting import split
from penstock_testing.adversary.views.cases import Asked, Case, damaged
from penstock_testing.adversary.views.expectation import holds
from penstock_testing.generate.names import NAMESPACES
from penstock_testing.tree import parse

GROUP_CASES = 512
"""Triples that share a configuration, queries and documents."""
_QUERIES, _DOCUMENTS = 8, 6
TRUSTED = "a header of another document of that length, used because nobody compared the documents"
HIT, MISS = "hit", "miss"
VERIFY: tuple[Verify, ...] = ("ranges", "full")


def attack(seed: int, count: int) -> Tally:
    """Try ``count`` triples of document, header and query, and return what was found."""
    tally = Tally()
    for number in range(seed, seed + count, GROUP_CASES):
        _attack_group(number, min(GROUP_CASES, seed + count - number), tally)
    return tally


def _attack_group(seed: int, count: int, tally: Tally) -> None:
    random = Random(seed)
    case = Case(random)
    asked = case.queries(_QUERIES)
    # Each query has a server of its own: one that misses makes no other one miss.
    servers = {str(number): [query.text] for number, query in enumerate(asked)}
    known = [case.configuration, case.older]
    routers = {
        verify: routing.Router(servers, known, namespaces=NAMESPACES, verify=verify)
        for verify in VERIFY
    }
    documents = case.documents(_DOCUMENTS)
    done = 0
    while done < count:
        document = random.choice(documents)
        expected = _expected(asked, document)
        others = [other for other in documents if other != document]
        for what, verify, header, source in _headers(random, case, document, others):
            if done >= count:
                break
            done += len(asked)
            tally.cases += len(asked)
            tally.non_empty += sum(expected.values())
            try:
                decisions = routers[verify].decide(header, source)
            except BaseException as error:
                tally.failures.append(Failure(kind_of(error), seed, f"{what}\n{error!r}"))
                continue
            for name, decision in decisions.items():
                tally.deviations[HIT if decision.is_hit else MISS] += 1
                if bool(decision.matches) == expected[name] or what == "forged":
                    continue
                if what == "foreign" and verify == "ranges" and decision.is_hit:
                    tally.deviations[TRUSTED] += 1
                    continue
                described = _describe(case, asked[int(name)], decision, document)
                tally.failures.append(Failure("wrong", seed, f"{what}, {verify}: {described}"))
        tally.failures += _in_pieces(random, case, document, seed)


def _expected(asked: list[Asked], document: bytes) -> dict[str, bool]:
    tree = parse(document)
    return {str(number): holds(query, tree) for number, query in enumerate(asked)}


Presented = tuple[str, Verify, bytes | None, bytes]


def _headers(
    random: Random, case: Case, document: bytes, others: list[bytes]
) -> Iterator[Presented]:
    """Yield what a header is, how it is verified, the header, and the document as it is sent."""
    right = routing.stamp(document, case.configuration)
    yield "right", "ranges", right, document
    yield "right", "full", right, document
    yield "missing", "ranges", None, document
    yield "older", "ranges", routing.stamp(document, case.older), document
    yield "damaged", "ranges", damaged(random, right), document
    yield "damaged", "full", damaged(random, right), document
    yield "unknown", "ranges", _renamed(right, b"stranger"), document
    for other in random.sample(others, min(2, len(others))):
        foreign = routing.stamp(other, case.configuration)
        yield "foreign", "full", foreign, document
        yield "foreign", "ranges", foreign, document
    yield from _recoded(random, case, document)
    yield "forged", "ranges", _forged(random, right), document


def _renamed(header: bytes, configuration: bytes) -> bytes:
    """Return a header that claims another configuration, its checksum made right."""
    body = header[:3] + configuration + header[11:-4]
    return body + zlib.crc32(body).to_bytes(4, "little")


def _forged(random: Random, header: bytes) -> bytes:
    """Return a changed header with a right checksum: its answers are lies, but nothing breaks."""
    body = bytearray(header[:-4])
    body[random.randrange(11, len(body))] = random.randrange(256)
    return bytes(body) + zlib.crc32(body).to_bytes(4, "little")


def _recoded(random: Random, case: Case, document: bytes) -> Iterator[Presented]:
    """Yield the document in other encodings, which are never answered from a header."""
    if b"<?xml" in document:
        return
    encoding = random.choice(("utf-16", "iso-8859-1", "utf-16-be"))
    text = document.decode()
    label = {"utf-16-be": "utf-16"}.get(encoding, encoding)
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    declared = f'<?xml version="1.0" encoding="{label}"?>{text}'
    source = mark + declared.encode(encoding)
    header = routing.stamp(source, case.configuration)
    yield "recoded", random.choice(("ranges", "full")), header, source


def _in_pieces(random: Random, case: Case, document: bytes, seed: int) -> list[Failure]:
    whole = routing.stamp(document, case.configuration)
    pieces = split(document, random)
    if routing.stamp(pieces, case.configuration) == whole:
        return []
    return [Failure("wrong", seed, f"in pieces\n{document!r}\n{pieces}")]


def _describe(case: Case, asked: Asked, decision: routing.Decision, document: bytes) -> str:
    views = ", ".join(f"{v.path}{' +' if v.parts else ''}" for v in case.configuration.views)
    how = "hit" if decision.is_hit else f"miss ({decision.reason})"
    return f"{asked.text}\n  {document!r}\n  {how}; views {views}"
