"""Bindings that sessions gathered go into a join in one call, and come back as rows or tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.errors import DocumentError
from penstock.joins.progressive import ProgressiveJoiner
from penstock.kernel import Feeder, Gathered, MessageRows, error_of, raise_failure


class Origin(NamedTuple):
    """The document that bindings come from."""

    document: bytes
    time_us: int
    number: int
    """What tells it from all others, whatever their ids."""


class TupleBinding(NamedTuple):
    """A binding of a tuple: its document, its number in the loop there, and its fragment."""

    document: str
    number: int
    time_us: int
    fragment: bytes


@dataclass(frozen=True, slots=True)
class Failed:
    """A binding was not joined: the number of its document, for which subscription, and why.

    If a limit was passed, it is joined for nobody.
    """

    document: int
    subscription: int | None
    error: DocumentError


Fed = MessageRows | list[tuple[TupleBinding, ...]] | Failed
"""Rows of messages that were put together, tuples for which they are evaluated, or a failure."""


class BindingFeeder:
    """Feeds a joiner, whose bindings come from nobody else.

    ``key_counts`` has the number of keys of each side, ``by_document`` whether it also joins by its
    document. With ``piece_counts``, the number of pieces of each side, messages are put together
    natively of the pieces of bindings. Without, tuples of whole fragments are yielded. Each
    iterator has to be read to its end before the next call.
    """

    def __init__(
        self,
        joiner: ProgressiveJoiner,
        key_counts: Sequence[int],
        by_document: Sequence[bool],
        piece_counts: Sequence[int] | None,
        message_bytes_max: int,
    ) -> None:
        self._joiner = joiner
        self._has_messages = piece_counts is not None
        self._native = Feeder(
            joiner.native, key_counts, by_document, piece_counts, message_bytes_max
        )

    def add(
        self,
        outline: bytes | None = None,
        selections: Sequence[tuple[int, int, int, str]] = (),
        *,
        is_strict: bool = False,
    ) -> None:
        """Add a subscription, whose number is the next one.

        It gets the tuples of bindings that come from now on. Selections are conditions on sides:
        attribute, operator and constant. If it ``is_strict``, it fails at a binding with a value
        that is compared with a number and is none.
        """
        encoded = [
            (side, attribute, operator, constant.encode("utf-8", "surrogatepass"))
            for side, attribute, operator, constant in selections
        ]
        self._native.add(outline, encoded, is_strict)

    def remove(self, number: int) -> None:
        """Remove a subscription; its number stays its own."""
        self._native.remove(number)

    def feed(
        self,
        gathered: Gathered,
        routes: Sequence[Sequence[int]],
        origins: Sequence[Origin | None],
    ) -> Iterator[Fed]:
        """Join what was gathered; yield what it completes.

        ``routes`` has the sides of the join that each side of the session is, ``origins`` that of
        each group of bindings, or None where it is left out.

        Raises:
            CancelledError: Somebody interrupted the join; what was not joined then is left out.
            StateError: What memory has no room for could not be written; nothing goes on.
        """
        self._native.begin(gathered, routes, origins)
        is_over = False
        while not is_over:
            is_over, failure = self._joiner.guarded(self._native.feed)
            yield from self._completed()
            for document, subscription, reason in self._native.take_failing():
                yield Failed(document, subscription, error_of(reason))
            if failure is not None:
                document, reason = failure
                yield Failed(document, None, error_of(reason))

    def clean_up(self, *, is_last: bool) -> Iterator[Fed]:
        """Yield what memory missed; if ``is_last``, all streams have ended.

        Raises:
            StateError: A page is lost or damaged, or cannot be written; nothing goes on.
        """
        self._joiner.begin_clean_up(is_last=is_last)
        is_over = False
        while not is_over:
            is_over, failure = self._joiner.guarded(self._native.collect)
            yield from self._completed()
            raise_failure(failure)

    def _completed(self) -> Iterator[Fed]:
        if self._has_messages:
            while (rows := self._native.rows()) is not None:
                yield rows
        elif tuples := self._native.tuples():
            yield [tuple([TupleBinding(*part) for part in parts]) for parts in tuples]
