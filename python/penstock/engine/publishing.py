"""Who reads the events that joins publish: a driver beside the one that reads the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

from penstock.engine.binding import Binder
from penstock.engine.driver import EACH_PIECE, Driver, Pace
from penstock.engine.follower import Follower
from penstock.engine.pool import Pool
from penstock.engine.suspension import Suspensions
from penstock.registry import AnyRegistry

Reading = Callable[[], AbstractContextManager[Driver]]


def read_in_run(
    follow: Callable[[], Follower], pace: Pace, suspensions: Suspensions, binder: Binder
) -> Reading:
    """Return what gives the driver of a run: it is made for the first event, and kept."""

    @cache
    def reading() -> AbstractContextManager[Driver]:
        return nullcontext(Driver(follow(), pace, None, suspensions, binder))

    return reading


def read_in_between(
    pool: Pool, registry: AnyRegistry, suspensions: Suspensions, binder: Binder
) -> Reading:
    """Return what gives a driver for the events of one pushed document."""

    @contextmanager
    def reading() -> Iterator[Driver]:
        with pool.followed(registry) as follower, binder.lock:
            yield Driver(follower, EACH_PIECE, None, suspensions, binder)

    return reading
