"""What is random: views, queries that often meet them, documents, and what happens to headers."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.errors import QueryError
from penstock.routing import Configuration, View
from penstock_testing.generate.documents import DocumentKnobs, random_document
from penstock_testing.generate.expressions import random_expression
from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, NAMESPACES, NUMBERS, ROOT, WORDS

KNOBS = DocumentKnobs(nodes_max=7, depth_max=4, text=0.6, doctype=0.15)
DATES = (
    "2026-11-18",
    "2026-11-18T12:30:00",
    "2026-11-18T12:30:00Z",
    "2026-11-18T13:30:00+01:00",
    "2026-11-17T23:59:59.5",
    " 2026-11-19 ",
    "2026-02-30",
)
EXPRESSIONS = ("u", "^v$", "[0-9]+", "^$", "v|w", "(?i)UV", "^.$", " ")
_COMPARED = ("=", "=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Part:
    """A condition: a text of XPath, or a path with a test that XPath 1.0 does not have."""

    text: str
    path: str | None = None
    operator: str = ""
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query: parts that all hold, or one of which holds."""

    parts: tuple[Part, ...]
    is_and: bool

    @property
    def text(self) -> str:
        """The query as a server gets it."""
        joint = " and " if self.is_and else " or "
        texts = [part.text for part in self.parts]
        return texts[0] if len(texts) == 1 else joint.join(f"({text})" for text in texts)


class Case:
    """A configuration, an older one, and queries."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.repeated: list[str] = []
        self.paths = [self._path() for _ in range(random.randint(2, 8))]
        self.configuration = self._configuration()
        self.older = self._configuration()

    def documents(self, count: int) -> list[bytes]:
        """Return documents; some of them have dates, some are changed a little."""
        found: list[bytes] = []
        for _ in range(count):
            document = random_document(self.random, KNOBS)
            if self.random.random() < 0.3:
                date = self.random.choice(DATES).encode()
                for place in (b">v<", b">1<", b'"2"', b">u<", b">10<"):
                    new = place[:1] + date + place[-1:]
                    document = document.replace(place, new, 1)
            if self.repeated and self.random.random() < 0.6:
                document = self._repeating(document)
            found.append(document)
            if self.random.random() < 0.3:
                found.append(_changed(self.random, document))
        return found[:count]

    def _repeating(self, document: bytes) -> bytes:
        """Return a document whose root has more of the children whose positions are views."""
        name = self.random.choice(self.repeated)
        values = [self.random.choice((*NUMBERS, *WORDS)) for _ in range(self.random.randint(1, 4))]
        more = "".join(f"<{name}>{value}<b>{value}</b></{name}>" for value in values)
        end = f"</{ROOT}>".encode()
        return document.replace(end, more.encode() + end) if document.count(end) == 1 else document

    def queries(self, count: int) -> list[Asked]:
        """Return queries that can be compiled."""
        return [self._query() for _ in range(count)]

    def _path(self) -> str:
        random = self.random
        start = random.choice((f"/{ROOT}/", f"/{ROOT}/", "/*/", "//", f"/{ROOT}//"))
        names = [self._name() for _ in range(random.choice((1, 1, 2)))]
        end = random.choice(("", "", "", f"/@{random.choice(ATTRIBUTES)}", "/text()"))
        if random.random() < 0.1:
            end = random.choice(("/@*", "/comment()", "/node()", "/processing-instruction()"))
        condition = random.choice(
            ("", "", "", "", f"[{self._name()}]", f"[. = '{random.choice(NUMBERS)}']", "[1]", "[2]")
        )
        return start + "/".join(names) + condition + end

    def _name(self) -> str:
        prefix = "p:" if self.random.random() < 0.08 else ""
        return prefix + self.random.choice((*ELEMENTS, *ELEMENTS, "*"))

    def _configuration(self) -> Configuration:
        random = self.random
        views: dict[str, View] = {}
        for path in random.sample(
            self.paths, random.randint(len(self.paths) // 2, len(self.paths))
        ):
            views[path] = View(path, parts=random.random() < 0.3)
        if random.random() < 0.5:
            name = random.choice(ELEMENTS)
            self.repeated.append(name)
            step = f"/{ROOT}/{name}"
            for position in range(1, random.randint(2, 4)):
                rest = random.choice(("", "", f"/{random.choice(ELEMENTS)}"))
                views.setdefault(f"{step}[{position}]{rest}", View(f"{step}[{position}]{rest}"))
            self.paths.append(step)
            self.paths.append(f"{step}/{random.choice(ELEMENTS)}")
        if random.random() < 0.5:
            above = f"/{ROOT}/{random.choice(ELEMENTS)}"
            views.setdefault(above, View(above, parts=True))
            self.paths.append(f"{above}/{self._name()}")
            self.paths.append(f"{above}//@{random.choice(ATTRIBUTES)}")
            self.paths.append(f"{above}[@{random.choice(ATTRIBUTES)}]/{self._name()}")
        chosen = list(views.values())
        random.shuffle(chosen)
        while True:
            try:
                return Configuration(chosen, namespaces=NAMESPACES)
            except QueryError as error:
                # Two paths that look different may be the same.
                chosen = [view for view in chosen if view.path != error.text]

    def _query(self) -> Asked:
        count = self.random.choice((1, 1, 1, 2, 3))
        parts = [self._part() for _ in range(count)]
        if self.random.random() < 0.2:
            # Beside what XPath cannot say, what it can say is evaluated in another way as well.
            parts.append(_extended(self.random, self.random.choice(self.paths)))
        return Asked(tuple(parts), self.random.random() < 0.7)

    def _part(self) -> Part:
        random = self.random
        kind = random.random()
        path = random.choice(self.paths) if random.random() < 0.9 else self._path()
        if self.repeated and random.random() < 0.3:
            path = f"/{ROOT}/{random.choice(self.repeated)}{random.choice(('', '/b'))}"
        if kind < 0.12:
            return _extended(random, path)
        if kind < 0.16:
            return Part(random_expression(random))
        text = self._plain(path)
        return Part(f"not({text})" if random.random() < 0.15 else text)

    def _plain(self, path: str) -> str:
        random = self.random
        word = f"'{random.choice(WORDS)}'"
        literal = random.choice((f"'{random.choice(NUMBERS)}'", word, random.choice("0123")))
        comparison = f"{path} {random.choice(_COMPARED)} {literal}"
        inside = path if path.endswith("]") else f"{path}[. {random.choice(_COMPARED)} {literal}]"
        return random.choice(
            (
                comparison,
                comparison,
                f"{literal} {random.choice(_COMPARED)} {path}",
                path,
                inside,
                f"{path}[contains(., {word})]",
                f"{path}[. != {literal} and not(. = {word})]",
                f"contains({path}, {word})",
                f"starts-with({path}, {word})",
                f"contains(/{ROOT}//{self._name()}, {word})",
                f"{path}[{self._name()} = {literal}]",
                f"{path} | {random.choice(self.paths)}",
                f"boolean({path})",
            )
        )


def _extended(random: Random, path: str) -> Part:
    if random.random() < 0.5:
        expression = random.choice(EXPRESSIONS)
        return Part(f"matches({path}, '{expression}')", path, "matches", expression)
    operator, date = random.choice(_COMPARED), random.choice(DATES[:5])
    left = random.choice((path, f"date({path})"))
    return Part(f"{left} {operator} date('{date}')", path, operator, date)


def _changed(random: Random, document: bytes) -> bytes:
    """Return a document of the same length with another letter in a name or a value."""
    pairs = ((b">1<", b">2<"), (b"<a", b"<b"), (b"</a", b"</b"), (b'"u"', b'"w"'), (b"<c/", b"<d/"))
    chosen = random.sample(pairs, 2)
    if (b"<a", b"<b") in chosen or (b"</a", b"</b") in chosen:
        return document.replace(b"<a", b"<b").replace(b"</a", b"</b")
    for old, new in chosen:
        document = document.replace(old, new, 1)
    return document


def damaged(random: Random, header: bytes) -> bytes:
    """Return a header that something happened to."""
    kind = random.randrange(5)
    place = random.randrange(len(header))
    if kind == 0:
        return header[:place]
    if kind == 1:
        return header + bytes([random.randrange(256)])
    if kind == 2:
        return random.randbytes(random.randrange(40))
    if kind == 3:
        other = random.randrange(len(header))
        part = header[place : place + 4]
        return header[:other] + part + header[other + len(part) :]
    bit = 1 << random.randrange(8)
    return header[:place] + bytes([header[place] ^ bit]) + header[place + 1 :]
