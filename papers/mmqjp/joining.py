"""The product's joins with rows found by a strategy of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from papers import native
from penstock.joins import JoinOptions
from penstock.kernel import JoinState, Witness
from penstock.limits import Limits

Strategy = Literal["sequential", "mmqjp", "views"]
"""One row after the other, one conjunctive query for each template (algorithm 1), and the same over
views that are cached by value (algorithms 4 and 5)."""
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
VIEWS_MAX = 1 << 16


@dataclass(frozen=True, slots=True)
class StrategyOptions(JoinOptions):
    """How joins run: ``Engine(registry, joins=StrategyOptions(strategy="mmqjp"))``.

    ``views_max`` is how many slices of views are cached.

    Raises:
        ValueError: The strategy is unknown, or a setting of ``JoinOptions`` is out of its range.
    """

    strategy: Strategy = "mmqjp"
    views_max: int = VIEWS_MAX

    def __new__(cls, *_: object, **__: object) -> StrategyOptions:
        return object.__new__(cls)

    def open(self, limits: Limits) -> JoinState:
        """Return joins without records that run like this."""
        return StrategyJoins(  # type: ignore[return-value]
            limits,
            strategy=self.strategy,
            views_max=self.views_max,
            lateness=self.lateness_us,
            state_bytes_max=self.state_bytes_max,
            batch_rows_max=self.batch_rows_max,
        )


class StrategyJoins:
    """Joins of the papers' extension behind the interface of the product's.

    Sessions of the product know the paths and witnesses of its own joins. So these hold the
    subscriptions as well, and make the records that are joined here; they join nothing.
    """

    def __init__(self, limits: Limits | None = None, **options: Any) -> None:
        self._product = JoinState(limits)
        self._joins = native.load().join_state(limits, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._joins, name)

    def variable(self, stream: str | None, key: bytes) -> int | None:
        number: int | None = self._joins.variable(stream, key)
        assert number == self._product.variable(stream, key)
        return number

    def add(self, subscription: int, version: int, program: bytes) -> None:
        self._joins.add(subscription, version, program)
        self._product.add(subscription, version, program)

    def remove(self, subscription: int) -> None:
        self._joins.remove(subscription)
        self._product.remove(subscription)

    def paths(self) -> Any:
        return self._product.paths()

    def record(
        self, witness: Witness, number: int, document: str, time: int, version: int
    ) -> bytes:
        return self._product.record(witness, number, document, time, version)

    def join(
        self, witness: Witness, number: int, document: str, time: int, version: int
    ) -> tuple[bool, Any]:
        is_in_time = self._joins.admit(time)
        record = self.record(witness, number, document, time, version)
        failure = self._joins.push(record) if is_in_time and record else None
        return is_in_time, failure
