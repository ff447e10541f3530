"""What became of a query in samples, and the likely reason if that is nothing."""

from __future__ import annotations

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

    def lines(self) -> list[str]:
        """Return everything, one finding to a line."""
        return [*map(str, self.survivors), *self.names, *self.details]

    def decisive(self) -> list[str]:
        """Return the two lines that matter most, or fewer."""
        empty = [one.decisive() for one in self.survivors if one.stages[-1][1] == 0]
        if self.names and (len(self.names) > 1 or not empty):
            return [line.strip() for line in self.names[:2]]
        return [*empty[:1], *self.names[:1], *self.details[:1]][:2]

    @property
    def reason(self) -> str:
        """The likely reason in one line; empty if nothing is known."""
        lines = self.decisive()
        if self.names:
            return self.names[0]
        return "; ".join(lines)


def diagnose(query: Query, samples: Samples, advice: Advice) -> Diagnosis:
    """Return what samples say about a query; they are read up to four times.

    A document that fails counts up to its error.
    """
    if isinstance(query.output, Table):
        query = record_query(query)
    advised = tuple(advise(name_tests(query), names_of(samples), advice))
    wording = Wording.of(query)
    if wording is None:
        return Diagnosis(names=advised)
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
    return Diagnosis(tuple(survivors), advised, tuple(details))


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
    numbers = _numbers(values)
    if term.is_order and numbers:
        return [f"values of `{term.path}` seen: {min(numbers):g} to {max(numbers):g}"]
    return [f"values of `{term.path}` seen: {_listed(values, term.constant)}"]


def _numbers(values: Iterable[str]) -> list[float]:
    numbers = []
    for value in values:
        try:
            numbers.append(float(value))
        except ValueError:
            continue
    return numbers


def _listed(found: Counter[str], wanted: str) -> str:
    """Return words, those first that resemble what was asked for, then the most frequent."""
    by_lower: dict[str, str] = {}
    for word, _ in found.most_common():
        by_lower.setdefault(" ".join(word.lower().split()), word)
    close = get_close_matches(" ".join(wanted.lower().split()), by_lower, _SHOWN)
    near = [by_lower[word] for word in close]
    common = [word for word, _ in found.most_common(_SHOWN + len(near)) if word not in near]
    shown = [*near, *common][:_SHOWN]
    more = ", …" if len(found) > len(shown) else ""
    return ", ".join(map(_short, shown)) + more


def _short(value: str) -> str:
    text = " ".join(value.split())
    if not text:
        return repr(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
