"""Joins whose values collide: hashes of few bits must not change an answer."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.joins import JoinOptions
from penstock.kernel import JoinState
from penstock.limits import Limits


@dataclass(frozen=True, slots=True)
class CollidingOptions(JoinOptions):
    """Options of joins that find records by one bit of a value's hash."""

    def open(self, limits: Limits) -> JoinState:
        """Return joins without records that run like this."""
        return JoinState(limits, lateness=self.lateness_us, hash_bits=1)
