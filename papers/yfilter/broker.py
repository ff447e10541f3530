"""The paper's operators over whole documents: programs and documents in, messages out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from papers import native
from papers.yfilter.explaining import Operator, operators_of
from papers.yfilter.facts import NO_FACTS, Facts, facts_of
from papers.yfilter.options import BrokerOptions
from penstock.planning.sequences.verdicts import brokered_of
from penstock.schemas import Schema
from penstock.twigs import sequences as q


class Answers(NamedTuple):
    """What a document gives: who gets which message, and the messages, each once.

    A message is None if nothing is in it, and a string is why it failed.
    """

    rows: list[tuple[int, int]]
    messages: list[bytes | str | None]

    def sent(self) -> list[tuple[int, str]]:
        """Return the messages of all queries, in order; empty ones are not sent."""
        texts = [one.decode() if isinstance(one, bytes) else one for one in self.messages]
        rows = ((query, texts[message]) for query, message in self.rows)
        return sorted((query, text) for query, text in rows if text is not None)


class Broker:
    """Queries of one form, by the numbers of their programs, asked by one strategy.

    A schema says which elements may lie in each other; if its mode is ``verify``, documents may
    break it.

    Raises:
        ValueError: A program has no form for the broker.
    """

    def __init__(
        self, programs: Sequence[bytes], options: BrokerOptions, schema: Schema | None = None
    ) -> None:
        facts = NO_FACTS if schema is None else facts_of(schema)
        self._native = native.load().MessageBroker(
            list(programs),
            options.strategy,
            options.knowledge,
            loops=facts.loops if facts.is_known else None,
            is_checked=schema is not None and schema.mode == "verify",
            is_profiled=options.is_profiled,
        )

    def ask(self, document: bytes) -> Answers | None:
        """Return the messages of a document, or None if it is left to the product.

        That is a document in which a value is not a number where that is an error, one with too
        many tuples or nodes, and one that breaks what its schema says.

        Raises:
            ValueError: The document is not well-formed.
        """
        answers = self._native.ask(document)
        return None if answers is None else Answers(*answers)

    def counts(self) -> dict[str, int]:
        """Return the operators, and how many of each there are."""
        return dict(self._native.counts())

    def take_costs(self) -> dict[str, float]:
        """Return the seconds spent since the last call.

        ``asking`` leads to the lists of all messages, ``messages`` writes them; if operators are
        profiled, they follow.
        """
        return dict(self._native.take_costs())


def operators_with(
    query: q.Sequences, options: BrokerOptions, facts: Facts = NO_FACTS
) -> list[Operator] | None:
    """Return the operators of a query; None if the broker does not serve it."""
    brokered = brokered_of(query)
    return None if brokered is None else operators_of(brokered, options, facts)
