"""A subscription as columns of text and bytes, as files and tables hold it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from penstock.errors import RegistryError
from penstock.planning.programs import LANGUAGES
from penstock.registry.subscriptions import Subscription


class Columns(NamedTuple):
    """The columns of a subscription; ``options`` and ``delivery`` are JSON."""

    name: str
    language: str
    text: str
    options: str
    mode: str
    owner: str | None
    delivery: str | None
    program: bytes

    def subscription(self) -> Subscription:
        """Return the subscription of the columns."""
        delivery = None if self.delivery is None else json.loads(self.delivery)
        mode: Any = self.mode
        options = json.loads(self.options)
        kept = (self.text, mode, self.owner, delivery, self.program, options, self.language)
        return Subscription(self.name, *kept)


def columns_of(subscription: Subscription) -> Columns:
    """Return the columns of a subscription.

    Raises:
        RegistryError: Its query has no text, or something in it cannot be encoded.
    """
    question = subscription.question
    language, options = (
        (subscription.language, subscription.options)
        if isinstance(question, str)
        else (question.language, question.options)
    )
    if not subscription.text or language not in LANGUAGES:
        message = f"the query of `{subscription.name}` has no text to be kept; make it with"
        raise RegistryError("PR0008", f"{message} xpath() or xscl()")
    try:
        columns = Columns(
            subscription.name,
            language,
            subscription.text,
            json.dumps(options) if options else "{}",
            subscription.mode,
            subscription.owner,
            None if subscription.delivery is None else json.dumps(subscription.delivery),
            subscription.program,
        )
        # The other columns are ASCII.
        f"{subscription.name}{subscription.text}{subscription.owner}".encode()
        return columns
    except (TypeError, ValueError) as error:
        message = f"`{subscription.name!a}` cannot be written down: {error}"
        raise RegistryError("PR0008", message) from None
