"""What joins did for each subscription: rows for the statistics, and failures that suspend it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from penstock import logs
from penstock.engine.suspension import Suspensions
from penstock.engine.usage import Usage
from penstock.errors import DocumentError, EvaluationError


class Accounting:
    """The account of the joins of one run, or of what is pushed into an engine.

    A subscription that joins is not looked at by every document, so only documents that gave it
    a row or a failure count as documents in a row.
    """

    def __init__(self, usage: Usage, suspensions: Suspensions) -> None:
        self._usage = usage
        self._suspensions = suspensions
        self._outcomes: dict[str, DocumentError | None] = {}
        """By name: what the document under way brought a subscription, a failure or rows."""

    @property
    def version(self) -> int:
        """Grows whenever a subscription is suspended or resumed."""
        return self._suspensions.version

    def suspended(self) -> Collection[str]:
        """Return the subscriptions that get nothing."""
        return self._suspensions.reasons().keys()

    def note_rows(self, counts: Mapping[str, int]) -> None:
        """Count rows by subscription."""
        self._usage.count_rows(counts)
        for name in counts:
            self._outcomes.setdefault(name, None)

    def note_failure(self, name: str, error: DocumentError) -> None:
        """Note that a subscription failed at the document under way."""
        logs.engine.info("the subscription %s failed while it was joined: %s", name, error)
        # An error of evaluation is due to the document, and costs nothing.
        if not isinstance(error, EvaluationError):
            self._outcomes[name] = error

    def end_document(self) -> list[DocumentError]:
        """End the document under way; return an error for each subscription that is suspended."""
        outcomes, self._outcomes = self._outcomes, {}
        suspensions = self._suspensions
        errors = []
        for name, failure in outcomes.items():
            if failure is None:
                suspensions.joined_strikes.pop(name, None)
            elif error := suspensions.strike(suspensions.joined_strikes, name, failure):
                errors.append(error)
        return errors
