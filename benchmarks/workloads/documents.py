"""Documents of a document type, drawn from a seed.

The parameters are those of the generators that YFilter and XPaSS were measured with: how deep
elements nest, how often one repeats, how many values a field can take.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from benchmarks.workloads.dtd import Attribute, Element, Particle, Schema
from benchmarks.workloads.words import WORDS

SEED = 20_030_901


@dataclass(frozen=True)
class DocumentParameters:
    """How documents are drawn; every one of them is valid for its document type."""

    depth_max: int = 8
    """Elements nest no deeper, unless the document type leaves no choice."""
    repeats_max: int = 4
    """What may repeat occurs so often at most."""
    values_max: int = 10
    """Fields and attributes without a list of values take one of so many numbers."""
    optional: float = 0.5
    """The probability of what may be left out."""
    elements_min: int = 1
    """A document with fewer elements is drawn again."""
    elements_max: int = 150
    """From so many elements on, everything that may be left out is."""
    words_max: int = 6
    """So many words at most stand between the elements of a text."""


def documents(
    schema: Schema, parameters: DocumentParameters, count: int, seed: int = SEED
) -> Iterator[bytes]:
    """Yield documents; document ``n`` is the same on every machine, whatever ``count`` is."""
    for number in range(count):
        yield _Writer(schema, parameters, Random(seed * 1_000_003 + number)).document()


class _Writer:
    """Writes one document."""

    def __init__(self, schema: Schema, parameters: DocumentParameters, random: Random) -> None:
        if not 0 < parameters.elements_min <= parameters.elements_max:
            raise ValueError("elements_min is to be between 1 and elements_max")
        self._schema = schema
        self._parameters = parameters
        self._random = random.random
        self._elements = 0
        self._pieces: list[str] = []

    def document(self) -> bytes:
        while self._elements < self._parameters.elements_min:
            self._elements = 0
            self._pieces = ['<?xml version="1.0"?>\n']
            self._element(self._schema.elements[self._schema.root], 1)
        self._pieces.append("\n")
        return "".join(self._pieces).encode("ascii")

    def _element(self, element: Element, depth: int) -> None:
        self._elements += 1
        write = self._pieces.append
        write(f"<{element.name}")
        for attribute in element.attributes:
            if attribute.is_required or self._random() < self._parameters.optional:
                write(f' {attribute.name}="{self._attribute(attribute)}"')
        if element.content is None and not element.has_text:
            write("/>")
            return
        write(">")
        if element.is_field:
            write(str(self._number()))
        elif element.has_text:
            self._mixed(element, depth)
        else:
            assert element.content is not None
            self._particle(element.content, depth)
        write(f"</{element.name}>")

    def _mixed(self, element: Element, depth: int) -> None:
        assert element.content is not None
        self._words()
        for part in self._repeated(element.content, depth):
            self._particle(part, depth)
            self._words()

    def _particle(self, particle: Particle, depth: int) -> None:
        for part in self._repeated(particle, depth):
            if part.kind == "name":
                self._element(self._schema.elements[part.name], depth + 1)
            else:
                for inner in part.parts:
                    self._particle(inner, depth)

    def _repeated(self, particle: Particle, depth: int) -> Iterator[Particle]:
        """Yield what stands in the particle's place: names and sequences, each once."""
        for _ in range(self._count(particle, depth)):
            if particle.kind == "choice":
                yield self._choice(particle, depth)
            else:
                yield Particle(particle.kind, particle.name, particle.parts)

    def _choice(self, particle: Particle, depth: int) -> Particle:
        left = self._parameters.depth_max - depth
        fitting = [part for part in particle.parts if self._schema.height(part) <= left]
        if not fitting or self._is_full:
            return min(particle.parts, key=self._schema.height)
        return fitting[int(self._random() * len(fitting))]

    def _count(self, particle: Particle, depth: int) -> int:
        """Return how often a particle occurs here."""
        if particle.occurs == "":
            return 1
        if self._is_full or not self._fits(particle, depth):
            return 0 if particle.is_optional else 1
        if particle.occurs == "?":
            return int(self._random() < self._parameters.optional)
        least = 1 if particle.occurs == "+" else 0
        if least == 0 and self._random() >= self._parameters.optional:
            return 0
        return 1 + int(self._random() * self._parameters.repeats_max)

    @property
    def _is_full(self) -> bool:
        return self._elements >= self._parameters.elements_max

    def _fits(self, particle: Particle, depth: int) -> bool:
        once = Particle(particle.kind, particle.name, particle.parts)
        return depth + self._schema.height(once) <= self._parameters.depth_max

    def _number(self) -> int:
        return int(self._random() * self._parameters.values_max)

    def _attribute(self, attribute: Attribute) -> str:
        if attribute.choices:
            return attribute.choices[int(self._random() * len(attribute.choices))]
        return str(self._number())

    def _words(self) -> None:
        for _ in range(int(self._random() * (self._parameters.words_max + 1))):
            self._pieces.append(WORDS[int(self._random() * len(WORDS))] + " ")
