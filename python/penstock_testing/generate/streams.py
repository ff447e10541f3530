"""Random documents of several streams, with event times that tie, and in any order of arrival."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.results import Document
from penstock_testing.generate.names import STREAM_NAMES, STREAM_VALUES, STREAMS


@dataclass(frozen=True, slots=True)
class StreamKnobs:
    """How many documents there are, how large they get and how far their times spread.

    Names and values are few, so that documents often join. Times are multiples of half a second
    from 0 to ``seconds_max``, so that they often tie and often lie at the very end of a window.
    """

    documents_max: int = 6
    nodes_max: int = 9
    depth_max: int = 4
    seconds_max: int = 6


def random_stream(random: Random, knobs: StreamKnobs | None = None) -> list[Document]:
    """Return documents in order of arrival, each with an id, a stream and an event time."""
    knobs = knobs or StreamKnobs()
    return [
        Document(
            _Writer(random, knobs).element(1).encode(),
            id=f"d{number}",
            stream=random.choice(STREAMS),
            time=random.randint(0, 2 * knobs.seconds_max) / 2,
        )
        for number in range(random.randint(1, knobs.documents_max))
    ]


class _Writer:
    def __init__(self, random: Random, knobs: StreamKnobs) -> None:
        self.random = random
        self.nodes_left = random.randint(1, knobs.nodes_max)
        self.depth_max = knobs.depth_max

    def element(self, depth: int) -> str:
        name = self.random.choice(STREAM_NAMES)
        attribute = f' n="{self.value()}"' if self.random.random() > 0.7 else ""
        parts = []
        while self.nodes_left > 0 and depth < self.depth_max and self.random.random() < 0.8:
            self.nodes_left -= 1
            parts.append(self.element(depth + 1))
        content = "".join(parts) or self.value()
        return f"<{name}{attribute}>{content}</{name}>"

    def value(self) -> str:
        return self.random.choice(STREAM_VALUES)
