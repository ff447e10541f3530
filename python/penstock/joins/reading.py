"""Documents that are read for joins alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.kernel import Batch, Joins, Plan, Session, Witness
from penstock.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import Buffer


class WitnessReader:
    """Reads documents, one after the other, for the joins whose subscriptions ask for them."""

    def __init__(self, joins: Joins, limits: Limits | None = None) -> None:
        self.joins = joins
        self.session = Session(Plan.build([]), limits)
        self.session.listen(joins)

    def read(self, stream: str, pieces: Iterable[Buffer], encoding: str | None = None) -> Witness:
        """Return the witness of a document.

        Raises:
            DocumentError: The document is not well-formed or cannot be read.
            LimitError: The document passed a limit.
        """
        witness, _ = self.read_all(stream, pieces, encoding)
        return witness

    def read_all(
        self, stream: str, pieces: Iterable[Buffer], encoding: str | None = None
    ) -> tuple[Witness, Batch]:
        """Return the witness of a document, and what else the plan of the session found.

        Raises:
            DocumentError: The document is not well-formed or cannot be read.
            LimitError: The document passed a limit.
        """
        for _ in self.session.read_pieces(pieces, encoding, stream):
            pass
        batch = self.session.take()
        ((_, witness),) = batch.witnesses()
        return witness, batch
