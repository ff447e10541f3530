"""Asks random queries of the reference, of Saxon and, where it can, of the kernel."""

from __future__ import annotations

from random import Random

from penstock.errors import QueryError
from penstock_testing.adversary.minimise import minimise, smaller_documents, smaller_queries
from penstock_testing.adversary.report import Failure, FailureKind, Tally, kind_of
from penstock_testing.adversary.xquery import asking
from penstock_testing.adversary.xquery.asking import Answer, Expected, Failed, difference
from penstock_testing.generate import DocumentKnobs, FlworKnobs, random_document, random_xquery
from penstock_testing.peers.deviations import saxon_divides, saxon_fails
from penstock_testing.peers.saxon_xquery import SaxonXQuery

TRIES = 4
"""Queries that are drawn for one without an empty answer; the last one is taken anyway."""
SHRUNK_MAX = 10
"""Failures of one attack that are shrunk; the others are printed as they are."""

_DOCUMENTS = DocumentKnobs(doctype=0)
_QUERIES = FlworKnobs()
_HAZARDOUS = FlworKnobs(hazards=0.4)
_saxon: list[SaxonXQuery] = []


def saxon() -> SaxonXQuery:
    """Return Saxon, which starts up when it is first needed."""
    if not _saxon:
        _saxon.append(SaxonXQuery())
    return _saxon[0]


def random_case(seed: int) -> tuple[str, bytes]:
    """Return a query and a document; most queries have a non-empty answer."""
    random = Random(seed)
    document = random_document(random, _DOCUMENTS)
    knobs = _HAZARDOUS if random.random() < 0.1 else _QUERIES
    text = ""
    for _ in range(TRIES):
        text = random_xquery(random, knobs)
        try:
            if asking.ask_reference(text, document).answer:
                break
        except QueryError:
            break
    return text, document


def attack(seed: int, count: int) -> Tally:
    """Ask ``count`` pairs of a query and a document, each from a seed of its own."""
    tally = Tally()
    for number in range(seed, seed + count):
        _check(number, tally)
    return tally


def _check(seed: int, tally: Tally) -> None:
    text, document = random_case(seed)
    tally.cases += 1
    kind, fault = _fault(text, document, tally)
    if kind is None:
        return
    if len(tally.failures) < SHRUNK_MAX:
        text, document = _minimised(kind, text, document)
        _, fault = _fault(text, document, None)
    shown = " ".join(text.split())
    tally.failures.append(Failure(kind, seed, f"{shown}\n  {document.decode()}\n  {fault}"))


def _fault(text: str, document: bytes, tally: Tally | None) -> tuple[FailureKind | None, str]:
    """Return what is wrong with the answers to a query, if anything is; count it."""
    try:
        expected = asking.ask_reference(text, document)
    except QueryError as error:
        return "error", f"is rejected: {error.code} {error}"
    if tally is not None:
        tally.non_empty += bool(expected.answer)
    saxons = asking.ask_saxon(saxon(), text, document)
    if not _is_known(text, expected.answer, saxons, tally):
        return "wrong", f"reference {expected.answer}\n  Saxon {saxons}"
    return _fault_of_kernel(text, document, expected, tally)


def _is_known(text: str, expected: Answer, saxons: Answer, tally: Tally | None) -> bool:
    """Return whether Saxon agrees, or differs in a known way."""
    how = difference(expected, saxons)
    if how is None:
        return True
    if isinstance(saxons, Failed) and saxon_fails(saxons.reason):
        how = "Saxon fails in its optimizer"
    elif isinstance(saxons, Failed) or isinstance(expected, Failed):
        how = f"Saxon: {how}"
    elif saxon_divides(text, expected, saxons):
        how = "Saxon: a whole quotient is an integer"
    else:
        return False
    if tally is not None:
        tally.deviations[how] += 1
    return True


def _fault_of_kernel(
    text: str, document: bytes, expected: Expected, tally: Tally | None
) -> tuple[FailureKind | None, str]:
    try:
        found = asking.ask_kernel(text, document)
    except QueryError as error:
        return "error", f"the kernel rejects it: {error.code} {error}"
    except BaseException as error:
        return kind_of(error), str(error)
    how = difference(expected.values, found)
    if how is None:
        return None, ""
    if how.startswith("no error") and tally is not None:
        tally.deviations[f"kernel: {how}"] += 1
        return None, ""
    return "wrong", f"reference {expected.values}\n  Penstock {found}"


def _minimised(kind: FailureKind, text: str, document: bytes) -> tuple[str, bytes]:
    """Return the smallest case that fails in the same way."""

    def fails(text: str, document: bytes) -> bool:
        try:
            return _fault(text, document, None)[0] == kind
        except Exception:
            return False  # no document any more

    smaller = minimise(document, smaller_documents, lambda one: fails(text, one))
    shorter = minimise(text, smaller_queries, lambda one: fails(one, smaller))
    return shorter, minimise(smaller, smaller_documents, lambda one: fails(shorter, one))
