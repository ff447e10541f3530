"""Random DTDs over the names of the random documents, and documents that are valid for them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, NUMBERS, ROOT, WORDS

_OCCURS = ("", "?", "*", "+")


@dataclass(frozen=True, slots=True)
class Model:
    """A content model: a name, or the parts of a sequence (``,``) or a choice (``|``)."""

    name: str = ""
    separator: str = ""
    parts: tuple[Model, ...] = ()
    occurs: str = ""

    def __str__(self) -> str:
        inside = self.name or f"({f' {self.separator} '.join(map(str, self.parts))})"
        return inside + self.occurs


@dataclass(frozen=True, slots=True)
class RandomDtd:
    """A DTD: content models by element, those with text, and attributes with their need."""

    models: dict[str, Model | None]
    mixed: frozenset[str]
    attributes: dict[str, dict[str, bool]]
    is_open: frozenset[str]

    def __str__(self) -> str:
        lines = []
        for name, model in self.models.items():
            lines.append(f"<!ELEMENT {name} {self._content(name, model)}>")
            for attribute, is_required in self.attributes[name].items():
                need = "#REQUIRED" if is_required else "#IMPLIED"
                lines.append(f"<!ATTLIST {name} {attribute} CDATA {need}>")
        return "\n".join(lines)

    def _content(self, name: str, model: Model | None) -> str:
        if name in self.is_open:
            return "ANY"
        if name in self.mixed:
            names = [] if model is None else [part.name for part in model.parts]
            return f"({' | '.join(['#PCDATA', *names])}){'*' if names else ''}"
        if model is None:
            return "EMPTY"
        return f"({model})" if model.name else str(model)


def random_dtd(random: Random, recursion: float = 0.3, is_open: float = 0.05) -> RandomDtd:
    """Return a DTD whose root is ``r``.

    ``recursion`` is how often an element may hold one that is declared before it or itself;
    ``is_open`` is how often an element may hold anything.
    """
    names = (ROOT, *ELEMENTS)
    models: dict[str, Model | None] = {}
    mixed, opened = set(), set()
    for place, name in enumerate(names):
        later = names[place + 1 :]
        earlier = names[1 : place + 1] if random.random() < recursion else ()
        models[name] = None
        if place and random.random() < is_open:
            opened.add(name)
        elif random.random() < (0.1 if place < 2 else 0.6):
            mixed.add(name)
            some = [one for one in (*later, *earlier) if random.random() < 0.4]
            if some:
                parts = tuple(Model(one) for one in some)
                models[name] = Model(separator="|", parts=parts, occurs="*")
        else:
            models[name] = _model(random, later, earlier, 2)
    attributes = {
        name: {one: random.random() < 0.3 for one in ATTRIBUTES if random.random() < 0.4}
        for name in names
    }
    return RandomDtd(models, frozenset(mixed), attributes, frozenset(opened))


def _model(
    random: Random, later: tuple[str, ...], earlier: tuple[str, ...], nesting: int
) -> Model | None:
    """Return a model in which nothing that is declared before is required."""
    parts: list[Model] = []
    for _ in range(random.randint(1, 3)):
        if nesting and random.random() < 0.3:
            inner = _model(random, later, earlier, nesting - 1)
            if inner is not None:
                parts.append(inner)
        elif earlier and random.random() < 0.4:
            parts.append(Model(random.choice(earlier), occurs=random.choice("?*")))
        elif later:
            parts.append(Model(random.choice(later), occurs=random.choice(_OCCURS)))
    if not parts:
        return None
    return Model(
        separator=random.choice(",,|"), parts=tuple(parts), occurs=random.choice(("", "", "?", "*"))
    )


def random_valid_document(random: Random, dtd: RandomDtd, nodes_max: int = 30) -> bytes:
    """Return a document that is valid for a DTD."""
    return _Writer(random, dtd, nodes_max).document().encode()


class _Writer:
    def __init__(self, random: Random, dtd: RandomDtd, nodes_max: int) -> None:
        self._random = random
        self._dtd = dtd
        self._nodes_left = nodes_max

    def document(self) -> str:
        return self._element(ROOT, 0)

    def _element(self, name: str, depth: int) -> str:
        self._nodes_left -= 1
        random, dtd = self._random, self._dtd
        attributes = "".join(
            f' {one}="{random.choice(NUMBERS)}"'
            for one, is_required in dtd.attributes[name].items()
            if is_required or random.random() < 0.5
        )
        content = self._content(name, depth)
        return f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>"

    def _content(self, name: str, depth: int) -> str:
        model = self._dtd.models[name]
        if name in self._dtd.is_open:
            names = (*ELEMENTS, ROOT) if self._may_grow(depth) else ()
            return self._text() + "".join(
                self._element(one, depth + 1) + self._text()
                for one in names
                if self._random.random() < 0.2
            )
        if name not in self._dtd.mixed:
            return "" if model is None else self._expand(model, depth)
        return self._text() + ("" if model is None else self._expand(model, depth)) + self._text()

    def _expand(self, model: Model, depth: int) -> str:
        return "".join(self._once(model, depth) for _ in range(self._count(model, depth)))

    def _once(self, model: Model, depth: int) -> str:
        if model.name:
            return self._element(model.name, depth + 1)
        if model.separator == "|":
            return self._expand(self._random.choice(model.parts), depth)
        return "".join(self._expand(part, depth) for part in model.parts)

    def _count(self, model: Model, depth: int) -> int:
        if model.occurs == "":
            return 1
        least = 1 if model.occurs == "+" else 0
        if not self._may_grow(depth):
            return least
        return self._random.randint(least, 1 if model.occurs == "?" else 3)

    def _may_grow(self, depth: int) -> bool:
        return depth < 8 and self._nodes_left > 0

    def _text(self) -> str:
        return self._random.choice((*NUMBERS, *WORDS)) if self._random.random() < 0.7 else ""
