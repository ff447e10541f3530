"""Bib and Book documents, drawn from a seed with the parameters of the paper on brokering.

The paper's averages, 149 elements for Bib and 83 for Book, come out if an element that must occur
repeats 1 to MaxRepeats times and one that may be left out 0 to MaxRepeats times. The number of
books varies so much that 200 documents have an average of 149 give or take six.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from benchmarks.broker.dtds import Dtd
from benchmarks.workloads.dtd import Particle

SEED = 20_030_909
REPEATS: Mapping[str, Mapping[tuple[str, str], int]] = {
    "bib": {("bib", "book"): 20, ("book", "author"): 5, ("book", "editor"): 5},
    "book": {
        ("book", "section"): 12,
        ("book", "author"): 5,
        ("section", "p"): 4,
        ("section", "figure"): 4,
        ("section", "section"): 4,
    },
}
"""MaxRepeats of the paper's experiments, by parent and child."""
DEPTHS = {"bib": 4, "book": 5}
"""DocDepth of the paper's experiments."""


@dataclass(frozen=True)
class DocumentParameters:
    """How documents are drawn; None stands for what the paper's experiments use."""

    depth_max: int | None = None
    """Elements that nest in themselves nest no deeper, the root counted (DocDepth)."""
    repeats_max: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """How often a child repeats in its parent (MaxRepeats); it replaces the paper's."""
    values: int = 10
    """Texts and attributes take one of so many numbers (MaxValue)."""


def documents(
    dtd: Dtd,
    count: int = 200,
    parameters: DocumentParameters | None = None,
    seed: int = SEED,
) -> Iterator[bytes]:
    """Yield valid documents; number ``n`` is the same on every machine, whatever ``count`` is."""
    parameters = parameters or DocumentParameters()
    for number in range(count):
        yield _Writer(dtd, parameters, Random(f"{dtd.name} {seed} {number}")).document()


class _Writer:
    """Writes one document."""

    def __init__(self, dtd: Dtd, parameters: DocumentParameters, random: Random) -> None:
        self._dtd = dtd
        self._random = random
        self._values = parameters.values
        self._repeats = {**REPEATS[dtd.name], **parameters.repeats_max}
        depth_max = parameters.depth_max
        self._depth_max = DEPTHS[dtd.name] if depth_max is None else depth_max
        self._pieces: list[str] = []

    def document(self) -> bytes:
        """Return the document."""
        self._element(self._dtd.schema.root, 1)
        return "".join(self._pieces).encode("ascii")

    def _element(self, name: str, depth: int) -> None:
        element = self._dtd.schema.elements[name]
        write = self._pieces.append
        attributes = [f' {one.name}="{self._value()}"' for one in element.attributes]
        write(f"<{name}{''.join(attributes)}")
        if element.content is None and not element.has_text:
            write("/>")
            return
        write(">")
        if element.content is None:
            write(str(self._value()))
        else:
            self._particle(element.content, name, depth)
        write(f"</{name}>")

    def _particle(self, particle: Particle, parent: str, depth: int) -> None:
        for _ in range(self._count(particle, parent)):
            if particle.kind == "name":
                self._element(particle.name, depth + 1)
            elif particle.kind == "sequence":
                for part in particle.parts:
                    self._particle(part, parent, depth)
            else:
                self._particle(self._random.choice(self._fitting(particle, depth)), parent, depth)

    def _count(self, particle: Particle, parent: str) -> int:
        """Return how often a particle occurs here."""
        if particle.occurs == "":
            return 1
        least = 0 if particle.is_optional else 1
        most = 1
        if particle.occurs != "?":
            most = max(self._repeats.get((parent, name), 1) for name in particle.names())
        return self._random.randint(least, max(most, least))

    def _fitting(self, particle: Particle, depth: int) -> list[Particle]:
        """Return the parts of a choice that do not nest too deep."""
        below = self._dtd.below
        if depth < self._depth_max:
            return list(particle.parts)
        return [
            part for part in particle.parts if not any(name in below[name] for name in part.names())
        ]

    def _value(self) -> int:
        return self._random.randrange(self._values)
