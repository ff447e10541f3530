"""A registry with a past, ways to damage its folder, and everything that can be asked of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import penstock
from penstock import Registry
from penstock.errors import RegistryError
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans import files, live
from penstock.registry.requests import requests_of
from penstock.registry.storage.folder import DATABASE
from penstock.registry.subscriptions import compile_subscription

PAGE = 4096
COUNTS = (90, 26, 400)
"""How many subscriptions the registries begin with."""
QUERY = "stream"
DOCUMENT = "<r>" + "".join(f'<x y="{number}"/>' for number in range(2 * max(COUNTS))) + "</r>"
JOIN = "S//x->a[.//y->b] FOLLOWED BY{b=d, 5} S//x->c[.//y->d]"

Described = dict[str, tuple[object, ...]]


@dataclass(frozen=True)
class Past:
    """Images of one registry, and what it holds.

    ``images`` are the folder as a killed process left it, with a log, and as a closed one did.
    ``older`` are the same at an earlier version.
    """

    images: tuple[Path, ...]
    older: tuple[Path, ...]
    history: dict[int, Described]
    """What every version holds."""
    versions: dict[int, set[str]]
    """The names of some."""
    pins: dict[int, int]

    @property
    def held(self) -> Described:
        """What the last version holds."""
        return self.history[max(self.history)]


def build_past(folder: Path, first: int = 0, count: int = COUNTS[0]) -> Past:
    """Make a registry of loads, additions, replacements and removals; ``first`` tells two apart."""
    with (
        patch.object(files, "FRESH_SECONDS", -1.0),  # fewer plans are fewer files to copy
        patch.object(live, "SMALL_MAX", 4),  # a few changes are merged
    ):
        return _build_past(Registry.open(folder / "live"), folder, first, count)


def _build_past(registry: DurableRegistry, folder: Path, first: int, count: int) -> Past:
    lines = [f'{{"name": "s{n}", "query": "//x[@y = {n}]"}}' for n in range(first, count)]
    registry.load(lines, workers=0)
    registry.compact()
    registry.follow()
    registry.add("join", penstock.xscl(JOIN), owner="ann")
    registry.pin(QUERY, 0)
    older = _images(registry, folder, "older")
    long = " or ".join(f"@y = {n}" for n in range(count, 2 * count))
    registry.add("long", f"//x[{long}]", mode="filter", delivery={"to": ["there"]})
    for number in range(first, first + 12):
        registry.remove(f"s{number}")
        registry.snapshot()
    for number in range(first + 12, first + 24):
        registry.replace(f"s{number}", f"//x[@y = {number} or @y = 'é']")
        registry.snapshot()
    registry._current.live(registry.version).wait()
    registry.pin(QUERY, 1)
    registry.remove(f"s{count - 1}")
    registry.add(f"s{count - 1}", "//x[@y = 7]", owner="bob")
    registry.pin(QUERY, 2)
    registry.snapshot_at(3)
    images = _images(registry, folder, "image")
    last = registry.version
    history = {version: describe(registry.at(version)) for version in range(last + 1)}
    versions = {version: set(history[version]) for version in (1, 3, 9, last - 1, last)}
    pins = registry.pins(QUERY)
    registry.close()
    return Past(images, older, history, versions, pins)


def _images(registry: DurableRegistry, folder: Path, name: str) -> tuple[Path, ...]:
    killed, closed = folder / f"{name}-killed", folder / f"{name}-closed"
    # A merge in the background writes files that are not there any more when they are copied.
    registry._current.live(registry.version).wait()
    shutil.copytree(registry.path, killed)
    registry.close()
    shutil.copytree(registry.path, closed)
    return killed, closed


def describe(registry: Registry) -> Described:
    """Return everything about every subscription, by name."""
    return {
        one.name: (one.text, one.mode, one.owner, one.delivery, one.program) for one in registry
    }


@dataclass(frozen=True)
class Damage:
    """What was done to a file, and to how many places of it at most; None for all of it."""

    kind: str
    file: str
    hits: int | None


def damage(random: Random, folder: Path, past: Past, other: Past) -> Damage:
    """Damage one file or two of a folder, and return what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if random.random() < 0.5:
        files = [path for path in files if path.name.startswith(DATABASE)]
    file = random.choice(files)
    kind = random.choice(tuple(_DAMAGES))
    hits = _DAMAGES[kind](random, file, folder, past, other)
    return Damage(kind, str(file.relative_to(folder)), hits)


def _flip(random: Random, file: Path, *_: object) -> int:
    content = bytearray(file.read_bytes())
    hits = random.choice((1, 1, 2, 8, 64)) if content else 0
    for _ in range(hits):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    file.write_bytes(content)
    return hits


def _overwrite(random: Random, file: Path, filler: Callable[[int], bytes]) -> int:
    content = bytearray(file.read_bytes())
    pages = max(1, len(content) // PAGE)
    hits = random.choice((1, 1, 3))
    for _ in range(hits):
        start = random.randrange(pages) * PAGE
        length = len(content[start : start + PAGE])
        content[start : start + PAGE] = filler(length)
    file.write_bytes(content)
    return 2 * hits  # the rows at both ends of a page may continue on others


def _zero(random: Random, file: Path, *_: object) -> int:
    return _overwrite(random, file, bytes)


def _scramble(random: Random, file: Path, *_: object) -> int:
    return _overwrite(random, file, random.randbytes)


def _exchange_pages(random: Random, file: Path, *_: object) -> None:
    content = file.read_bytes()
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    one, two = random.randrange(len(pages) or 1), random.randrange(len(pages) or 1)
    if pages:
        pages[one], pages[two] = pages[two], pages[one]
    file.write_bytes(b"".join(pages))


def _truncate(random: Random, file: Path, *_: object) -> None:
    content = file.read_bytes()
    kept = random.randrange(len(content) + 1)
    file.write_bytes(content[: random.choice((kept, kept // PAGE * PAGE))])


def _empty(random: Random, file: Path, *_: object) -> None:
    file.write_bytes(b"")


def _append(random: Random, file: Path, *_: object) -> None:
    file.write_bytes(file.read_bytes() + random.randbytes(random.choice((1, 100, PAGE))))


def _delete(random: Random, file: Path, *_: object) -> None:
    file.unlink()


def _exchange_files(random: Random, file: Path, folder: Path, *_: object) -> None:
    beside = sorted(path for path in folder.rglob("*") if path.is_file())
    two = random.choice(beside)
    content, file_content = two.read_bytes(), file.read_bytes()
    two.write_bytes(file_content)
    file.write_bytes(content)


def _put_back(random: Random, file: Path, folder: Path, past: Past, other: Past) -> None:
    """Put an older copy of the file in its place, or one of another registry."""
    images = random.choice((past.older, past.older, other.images))
    image = random.choice(images)
    copy = image / file.relative_to(folder)
    if copy.is_file():
        shutil.copyfile(copy, file)
    elif not file.name.startswith(DATABASE):
        file.unlink()


_DAMAGES: dict[str, Callable[..., int | None]] = {
    "flip": _flip,
    "zero a page of": _zero,
    "scramble a page of": _scramble,
    "exchange pages of": _exchange_pages,
    "truncate": _truncate,
    "empty": _empty,
    "append to": _append,
    "delete": _delete,
    "exchange for another file": _exchange_files,
    "put back": _put_back,
}


@dataclass
class Answers:
    """What a registry said to every question: as expected, or an error of its own."""

    right: int = 0
    errors: list[RegistryError] = field(default_factory=list)

    def ask(self, what: str, question: Callable[[], object], expected: object) -> Any:
        """Ask; an answer that is neither right nor a RegistryError is a failure."""
        try:
            answer = question()
        except RegistryError as error:
            self.errors.append(error)
            return None
        assert answer == expected, f"{what} gave a wrong answer"
        self.right += 1
        return answer


def ask_everything(folder: Path, past: Past, held: Described | None = None) -> Answers:
    """Open, read, match, change and open again."""
    answers, held = Answers(), dict(past.held if held is None else held)
    with _opened(answers, folder) as registry:
        if registry is None:
            return answers
        _ask_about(answers, registry, held)
        _ask_past(answers, registry, past)
        change(answers, registry, held)
        _ask_about(answers, registry, held)
        answers.ask("compact", lambda: set(registry.compact().names), held.keys())
    with _opened(answers, folder) as registry:
        if registry is not None:
            _ask_about(answers, registry, held)
    return answers


@contextmanager
def _opened(answers: Answers, folder: Path) -> Iterator[DurableRegistry | None]:
    """Give the registry of a folder, or None if it does not open."""
    try:
        registry = Registry.open(folder)
    except RegistryError as error:
        answers.errors.append(error)
        yield None
        return
    with closing(registry):
        yield registry


def _ask_about(answers: Answers, registry: DurableRegistry, held: Described) -> None:
    answers.ask("iteration", lambda: describe(registry), held)
    answers.ask("len", lambda: len(registry), len(held))
    for name in [*list(held)[:: max(7, len(held) // 13)], "long", "join", "s0", "s11"]:
        answers.ask("contains", lambda name=name: name in registry, name in held)
        answers.ask("get", lambda name=name: _described(registry, name), held.get(name))
    joins = {name for name in held if name == "join"}
    answers.ask("joining", lambda: set(requests_of(registry.snapshot())), joins)
    answers.ask("names", lambda: set(registry.snapshot().names) & held.keys(), held.keys())
    answers.ask("match", lambda: matched(registry), expected_matches(held))


def _ask_past(answers: Answers, registry: DurableRegistry, past: Past) -> None:
    for version, names in past.versions.items():
        answers.ask("at", lambda v=version: {one.name for one in registry.at(v)}, names)
        answers.ask("len at", lambda v=version: len(registry.at(v)), len(names))
        # A plan of several tiers names those that were removed as well.
        answers.ask(
            "plan at",
            lambda v=version, names=names: names - set(registry.at(v).snapshot().names),
            set(),
        )
        answers.ask("names at", lambda v=version: set(registry.at(v).compact().names), names)
    for batch, version in past.pins.items():
        # Nothing tells a pin that is gone from one that never was.
        if not (registry.path / "pins" / QUERY / str(batch)).exists():
            continue
        answers.ask("pin", lambda batch=batch: registry.pin(QUERY, batch), version)


def change(answers: Answers, registry: DurableRegistry, held: Described) -> None:
    """Add, replace and remove; what is made is noted in what is held."""
    for name, text in (("new", "//x[@y = 3]"), ("s40", "//x[@y = 40]")):
        act = registry.replace if name in held else registry.add
        if _make(answers, registry, lambda act=act, name=name, text=text: act(name, text)):
            one = compile_subscription(name, text)
            held[name] = (one.text, one.mode, one.owner, one.delivery, one.program)
    for name in ("s50", "s51"):
        if name in held and _make(answers, registry, lambda name=name: registry.remove(name)):
            del held[name]


def _make(answers: Answers, registry: DurableRegistry, act: Callable[[], object]) -> bool:
    """Make a change, and return whether it was made."""
    try:
        before = registry.version
        act()
    except RegistryError as error:
        answers.errors.append(error)
        # A change may be made and then not be seen by streams, which is an error, too.
        try:
            return registry.version > before
        except RegistryError:
            return False
    return True


def _described(registry: Registry, name: str) -> tuple[object, ...] | None:
    one = registry.get(name)
    return None if one is None else (one.text, one.mode, one.owner, one.delivery, one.program)


def matched(registry: Registry) -> list[tuple[object, ...]]:
    """Return which subscriptions match which places of a document."""
    rows = penstock.Engine(registry).run(DOCUMENT)
    return sorted((str(row.subscription), row.start or 0, row.kind) for row in rows)


def expected_matches(held: Described) -> list[tuple[object, ...]]:
    """Return the same of a registry in memory."""
    return _expected_matches(
        tuple((name, text, mode) for name, (text, mode, *_) in held.items() if name != "join")
    )


@cache
def _expected_matches(subscribed: tuple[tuple[Any, ...], ...]) -> list[tuple[object, ...]]:
    registry = Registry()
    for name, text, mode in subscribed:
        registry.add(name, text, mode)
    return matched(registry)
