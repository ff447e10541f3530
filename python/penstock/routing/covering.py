"""Formulas over paths become nodes over the views of a configuration.

A path is covered by the view that is the same path; by views of all its positions; or by an
ancestor whose element is parsed. A view that a path begins with helps, too: without its node the
path has none. What nothing covers is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.kernel import ValueTest
from penstock.routing import costs as c
from penstock.routing.configuration import Configuration
from penstock.routing.formulas import (
    All,
    Any,
    Check,
    Constant,
    First,
    Formula,
    Negation,
    Opaque,
    Some,
    checks_in,
    native_test,
    passes,
)
from penstock.routing.paths import Path, prefixes
from penstock.routing.statistics import Shares

UNKNOWN = 2
_NO_FACT = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Fact:
    """What has to be found out in the element of a view: a formula over that element alone."""

    view: int
    formula: Some | First


@dataclass
class Nodes:
    """The nodes of formulas for one configuration, each distinct one once."""

    configuration: Configuration
    selectivities: c.Selectivities = field(default_factory=dict)
    shares: Shares = field(default_factory=dict)
    listed: list[tuple[str, list[int]]] = field(default_factory=list)
    tests: list[ValueTest] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    _places: dict[tuple[object, ...], int] = field(default_factory=dict)
    _test_places: dict[Check, int] = field(default_factory=dict)
    _fact_places: dict[Fact, int] = field(default_factory=dict)
    _estimates: list[c.Estimate] = field(default_factory=list)

    def estimate(self, node: int) -> c.Estimate:
        """Return what a node costs, and how likely it is true or false."""
        return self._estimates[node]

    def test(self, place: int) -> Check:
        """Return a test by its place."""
        return list(self._test_places)[place]

    def add(self, formula: Formula) -> int:
        """Return the node of a formula."""
        match formula:
            case Constant(value=value):
                return self._constant(int(value))
            case All(parts=parts):
                return self._combine("and", [self.add(part) for part in parts])
            case Any(parts=parts):
                return self._combine("or", [self.add(part) for part in parts])
            case Negation(part=part):
                return self._negation(self.add(part))
            case Some():
                return self._some(formula)
            case First():
                return self._first(formula)
            case Opaque():
                return self._constant(UNKNOWN)
            case Check():
                raise AssertionError("a test is about a node")

    def _some(self, some: Some) -> int:
        positioned = self._positioned(some)
        if positioned is not None:
            return positioned
        direct = self.configuration.place(some.path)
        if direct is not None:
            return self._single(direct, some.where)
        if some.whole is not None:
            whole = self.configuration.place(some.whole)
            if whole is not None:
                return self._exists(whole)
        return self._nested(some, some.path, int(False))

    def _first(self, first: First) -> int:
        direct = self.configuration.place(first.path)
        if direct is not None:
            return self._passes(direct, first.test, is_empty_if_absent=True)
        return self._nested(first, first.path, int(passes(first.test, "")))

    def _positioned(self, some: Some) -> int | None:
        """Return the node of a path whose positions are views.

        If the step has no node at the position behind the last, these are all nodes of the path.
        """
        for (base, step), members in self.configuration.positioned.items():
            if base != some.path.key:
                continue
            ends = self.configuration.positioned.get((step, step), {})
            known = 0
            while known + 1 in members:
                known += 1
            parts = [self._single(members[place], some.where) for place in sorted(members)]
            complete = [place for place in ends if place <= known + 1]
            rest = self._beyond(ends[max(complete)]) if complete else self._constant(UNKNOWN)
            return self._combine("or", [*parts, rest])
        return None

    def _nested(self, asked: Some | First, path: Path, if_absent: int) -> int:
        """Return the node of a path that begins with a view; unknown if none does."""
        helping: int | None = None
        for prefix in prefixes(path):
            view = self.configuration.place(prefix.path)
            if view is None:
                continue
            if helping is None:
                helping = view
            if prefix.is_inside and self.configuration.views[view].parts:
                inside = path.at("/*" + prefix.rest)
                match asked:
                    case Some(where=where):
                        fact = Fact(view, Some(inside, where))
                    case First(test=test):
                        fact = Fact(view, First(inside, test))
                return self._part(view, fact, if_absent)
        return self._constant(UNKNOWN) if helping is None else self._part(helping, None, if_absent)

    def _single(self, view: int, where: Formula) -> int:
        """Return that the one node of a view satisfies a condition."""
        match where:
            case Constant(value=True):
                return self._exists(view)
            case Check():
                return self._passes(view, where)
            case _:
                # Without a node, a negated test would hold.
                return self._combine("and", [self._exists(view), self._where(view, where)])

    def _where(self, view: int, where: Formula) -> int:
        match where:
            case All(parts=parts):
                return self._combine("and", [self._where(view, part) for part in parts])
            case Any(parts=parts):
                return self._combine("or", [self._where(view, part) for part in parts])
            case Negation(part=part):
                return self._negation(self._where(view, part))
            case Check():
                return self._passes(view, where)
            case Constant(value=value):
                return self._constant(int(value))
            case _:
                raise AssertionError("a condition is about one node")

    def _combine(self, kind: str, parts: list[int]) -> int:
        is_and = kind == "and"
        ordered = c.order(list(dict.fromkeys(parts)), self.estimate, is_and=is_and)
        if len(ordered) == 1:
            return ordered[0]
        found = [self.estimate(part) for part in ordered]
        estimate = c.conjunction(found) if is_and else c.disjunction(found)
        return self._place(kind, ordered, estimate)

    def _negation(self, part: int) -> int:
        return self._place("not", [part], c.negated(self.estimate(part)))

    def _constant(self, truth: int) -> int:
        known = c.Estimate(c.NOTHING, float(truth == 1), float(truth == 0))
        return self._place("constant", [truth], known)

    def _exists(self, view: int) -> int:
        absent = self._absent(view)
        return self._place("exists", [view], c.Estimate(c.NOTHING, 1 - absent, absent))

    def _beyond(self, view: int) -> int:
        return self._place("beyond", [view], c.Estimate(c.NOTHING, 0.0, self._absent(view)))

    def _passes(self, view: int, test: Check, *, is_empty_if_absent: bool = False) -> int:
        place = self._test_places.setdefault(test, len(self.tests))
        if place == len(self.tests):
            self.tests.append(native_test(test))
        absent, one = self._absent(view), self._one(view)
        passing = c.selectivity(self.configuration.views[view].path, test, self.selectivities)
        true, false = one * passing, one * (1 - passing)
        if is_empty_if_absent and passes(test, ""):
            true += absent
        else:
            false += absent
        cost = c.NOTHING + one * (c.EXPRESSION if test.operator == "matches" else c.VALUE)
        fields = [view, place, int(is_empty_if_absent)]
        return self._place("passes", fields, c.Estimate(cost, true, false))

    def _part(self, view: int, fact: Fact | None, if_absent: int) -> int:
        place = _NO_FACT
        if fact is not None:
            place = self._fact_places.setdefault(fact, len(self.facts))
            if place == len(self.facts):
                self.facts.append(fact)
        absent, one = self._absent(view), self._one(view)
        true = false = 0.0
        if fact is not None:
            passing = c.OTHER_SELECTIVITY
            if isinstance(fact.formula, Some):
                for test in checks_in(fact.formula.where):
                    passing = c.selectivity("", test, {})
            true, false = one * passing, one * (1 - passing)
        true, false = (true + absent, false) if if_absent == 1 else (true, false + absent)
        return self._place("part", [view, place, if_absent], c.Estimate(c.PARSE, true, false))

    def _absent(self, view: int) -> float:
        share = self.shares.get(self.configuration.views[view].path)
        return 1 - c.EXISTENCE if share is None else share.absent

    def _one(self, view: int) -> float:
        share = self.shares.get(self.configuration.views[view].path)
        return c.EXISTENCE if share is None else share.one

    def _place(self, kind: str, numbers: list[int], estimate: c.Estimate) -> int:
        place = self._places.setdefault((kind, *numbers), len(self.listed))
        if place == len(self.listed):
            self.listed.append((kind, numbers))
            self._estimates.append(estimate)
        return place
