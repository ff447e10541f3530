"""What became of a query in samples, and the likely reason if that is nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from penstock.engine.diagnosis.advice import Advice
from penstock.engine.diagnosis.counting import count_names, count_nodes, count_values
from penstock.engine.diagnosis.names import advise, name_tests, names_of
from penstock.engine.diagnosis.samples import Samples
from penstock.engine.diagnosis.stages import Stage, Wording, names_beside, paths_of
from penstock.engine.diagnosis.terms import Term, joined_path, terms_of
from penstock.languages.tables import record_query
from penstock.twigs import Query
from penstock.twigs.tables import Table

_SHOWN = 5
_WIDTH = 40
_NUMBER = re.compile(r"[ \t\r\n]*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*")
"""A number of XPath 1.0."""


@dataclass(frozen=True, slots=True)
class Survivors:
    """How many nodes pass each step and predicate of a path, up to the first that none passes."""

    stages: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return " → ".join(f"`{shown}` {count}" for shown, count in self.stages)

    def decisive(self) -> str:
        """Return the last stage that a node passes, and the one that none passes."""
        return str(Survivors(self.stages[-2:]))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the samples say about a query."""

    survivors: tuple[Survivors, ...] = ()
    names: tuple[str, ...] = ()
    """For names that do not occur: where they do, or which are similar."""
    details: tuple[str, ...] = field(default=())
    """For the steps and predicates that nothing passes: what is there instead."""
    extent: str = ""
    """What all of this was found in, if that is not everything."""

    def lines(self) -> list[str]:
        """Return everything, one finding to a line."""
        found = [*map(str, self.survivors), *self.names, *self.details]
        return [f"{self.extent}{found[0]}", *found[1:]] if found else []

    def decisive(self) -> list[str]:
        """Return the two lines that matter most, or fewer."""
        empty = [one.decisive() for one in self.survivors if one.stages[-1][1] == 0]
        if self.names and (len(self.names) > 1 or not empty):
            found = [line.strip() for line in self.names[:2]]
        else:
            found = [*empty[:1], *self.names[:1], *self.details[:1]][:2]
        return [f"{self.extent}{found[0]}", *found[1:]] if found else []


def diagnose(query: Query, samples: Samples, advice: Advice) -> Diagnosis:
    """Return what samples say about a query; they are read up to four times.

    A document that fails counts up to its error.
    """
    if isinstance(query.output, Table):
        query = record_query(query)
    advised = tuple(advise(name_tests(query), names_of(samples), advice))
    wording = Wording.of(query)
    if wording is None:
        return Diagnosis(names=advised, extent=samples.extent)
    paths = paths_of(wording)
    queries = [wording.query(stage.text) for path in paths for stage in path]
    counts = iter(count_nodes([query for query in queries if query is not None], samples))
    survivors: list[Survivors] = []
    details: list[str] = []
    for path in paths:
        counted = [(stage, next(counts)) for stage in path]
        passed = [
            pair for number, pair in enumerate(counted) if not number or counted[number - 1][1]
        ]
        survivors.append(Survivors(tuple((stage.shown, count) for stage, count in passed)))
        stage, count = passed[-1]
        if not count and len(passed) > 1:
            details += _details(stage, passed[-2][0], wording, samples)
        elif not count:
            details += _roots(stage, wording, samples)
    return Diagnosis(tuple(survivors), advised, tuple(details), samples.extent)


def _roots(stage: Stage, wording: Wording, samples: Samples) -> Iterable[str]:
    """Return the names of the roots, and what a step finds below them, if it is a path's first."""
    anywhere = wording.query(f"/{stage.text}") if stage.text.startswith("/") else None
    every = wording.query("/*")
    if anywhere is None or every is None or stage.step is None or stage.predicate is not None:
        return
    names = {name.rpartition("}")[2] for name in count_names(every, samples)}
    if names:
        shown = ", ".join(f"`{name}`" for name in sorted(names)[:_SHOWN])
        more = ", …" if len(names) > _SHOWN else ""
        root = "the root is" if len(names) == 1 else "the roots are"
        (count,) = count_nodes([anywhere], samples)
        finds = f"; `/{stage.text}` finds {count}" if count else ""
        yield f"{root} {shown}{more}{finds}"


def _details(stage: Stage, before: Stage, wording: Wording, samples: Samples) -> Iterable[str]:
    """Return what is there where a stage finds nothing."""
    if stage.predicate is None:
        path = names_beside(stage, before)
        query = None if path is None else wording.query(path)
        if query is None:
            return []
        found = count_names(query, samples)
        wanted = stage.shown.lstrip("/@").rpartition(":")[2]
        what = "attributes" if stage.shown.lstrip("/").startswith("@") else "elements"
        local = Counter({name.rpartition("}")[2]: count for name, count in found.items()})
        return [
            f"{what} there: {_listed(local, wanted)}" if found else f"there are no {what} there"
        ]
    terms = terms_of(stage.predicate, wording)
    lines = []
    if len(terms) > 1:
        counts = _alone(terms, before, wording, samples)
        parts = [f"`{term.text}` {counts[term.text]}" for term in terms if term.text in counts]
        lines.append(f"each alone: {', '.join(parts)}")
        terms = [term for term in terms if not counts.get(term.text)]
    for term in terms:
        lines += _values(term, before, wording, samples)
    return lines


def _alone(
    terms: Iterable[Term], before: Stage, wording: Wording, samples: Samples
) -> dict[str, int]:
    """Return how many nodes satisfy each condition by itself."""
    alone = {term.text: wording.query(f"{before.text}[{term.text}]") for term in terms}
    queries = {text: query for text, query in alone.items() if query is not None}
    return dict(zip(queries, count_nodes(list(queries.values()), samples), strict=True))


def _values(term: Term, before: Stage, wording: Wording, samples: Samples) -> Iterable[str]:
    if term.path is None:
        return []
    path = joined_path(before.text, term.path)
    query = wording.query(path, select={"value": "."})
    if query is None:
        return []
    values = count_values(query, samples)
    if not values:
        return [f"there is no `{term.path}` at `{before.shown}`"]
    if term.constant is None:
        return []
    if term.is_order:
        return [_order(term, values)]
    seen = f"values of `{term.path}` seen: {_listed(values, term.constant, is_quoted=True)}"
    return [f"{seen}; {hint}" if (hint := _almost(term, values)) else seen]


def _order(term: Term, values: Counter[str]) -> str:
    """Return the range of numbers, or what is no number on one of the sides."""
    assert term.constant is not None, "only comparisons with constants have an order"
    if not _numbers([term.constant]):
        return f"an order compares numbers, and {term.constant!r} is not a number"
    if numbers := _numbers(values):
        return f"values of `{term.path}` seen: {min(numbers):g} to {max(numbers):g}"
    listed = _listed(values, term.constant, is_quoted=True)
    return f"an order compares numbers, and `{term.path}` has none: {listed}"


def _almost(term: Term, values: Counter[str]) -> str:
    """Return what differs if a value is almost the constant."""
    wanted = term.constant
    if not term.is_plain or wanted is None or wanted in values:
        return ""
    if any(_joined(value) == _joined(wanted) for value in values):
        return f"white space differs; compare `normalize-space({term.path})`"
    same = next((value for value in values if value.casefold() == wanted.casefold()), None)
    return "" if same is None else f"the case differs; write {_short(same, is_quoted=True)}"


def _numbers(values: Iterable[str]) -> list[float]:
    return [float(value) for value in values if _NUMBER.fullmatch(value)]


def _listed(found: Counter[str], wanted: str, *, is_quoted: bool = False) -> str:
    """Return words, those first that resemble what the query has, then the most frequent."""
    by_lower: dict[str, str] = {}
    for word, _ in found.most_common():
        by_lower.setdefault(_joined(word.lower()), word)
    close = get_close_matches(_joined(wanted.lower()), by_lower, _SHOWN)
    near = [by_lower[word] for word in close]
    common = [word for word, _ in found.most_common(_SHOWN + len(near)) if word not in near]
    shown = [*near, *common][:_SHOWN]
    more = ", …" if len(found) > len(shown) else ""
    return ", ".join(_short(word, is_quoted=is_quoted) for word in shown) + more


def _short(value: str, *, is_quoted: bool) -> str:
    """Return a value in one line; in quotes it keeps its white space, as escapes."""
    text = value if is_quoted else _joined(value)
    shown, more = (text, "") if len(text) <= _WIDTH else (text[: _WIDTH - 1], "…")
    return (json.dumps(shown, ensure_ascii=False) if is_quoted or not text else shown) + more


def _joined(text: str) -> str:
    """Return text with single spaces between its words, as ``normalize-space`` does."""
    return " ".join(text.split())
