"""Regular paths get the normal form that the rewrites give them."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.workloads.joins import diverse
from penstock.errors import QueryError
from penstock.languages.xscl import xscl
from penstock.planning.normalise import normalise
from penstock.planning.templates import compile_join
from penstock.planning.templates.definitions import normal_form
from penstock.planning.templates.regular import regular_path
from penstock.twigs import Block, Event, Fragments, Query
from penstock_testing.generate import JoinKnobs, random_xscl
from tests.unit.planning.templates.test_texts import paths


def test_random_queries_are_compiled_as_by_all_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    rewritten: list[Query] = []

    def noted(path: Query) -> Query:
        rewritten.append(path)
        return normalise(path)

    monkeypatch.setattr("penstock.planning.templates.definitions.normal_form", noted)
    knobs = JoinKnobs(variables_max=5, predicate=0.2)
    count = compared = 0
    for _ in range(400):
        query = xscl(random_xscl(random, knobs))
        if not isinstance(query.output, Event):
            continue
        try:
            expected = compile_join(query, normalise)
        except QueryError:
            continue
        made = compile_join(query, noted)
        assert made == expected, query.text
        assert paths(made) == paths(expected), query.text
        count += len(paths(made))
        compared += 1
    assert compared > 200
    assert len(rewritten) < count / 2, "most paths are regular"


def test_diverse_shapes_need_no_rewrites() -> None:
    random = Random(4)
    for _ in range(20):
        normal_form.cache_clear()
        query = xscl(diverse(random))
        made = compile_join(query)
        assert normal_form.cache_info().misses == 0
        assert paths(made) == paths(compile_join(query, normalise))


@pytest.mark.parametrize(
    "path",
    [
        "S//a->x[b[c]][.//d/@e]//f->y",
        "S/a->x[b and c][b]/@n->y",
        "S//a->x[c][b][.//b]/b->y",
        "S//*->x[*]//b->y",
        "S//a->x[b/c and .//c[d][a]]/b->y",
    ],
)
def test_conditions_that_paths_exist_are_regular(path: str) -> None:
    query = xscl(f"{path} JOIN{{y = z, 1}} T//q->z")
    normal_form.cache_clear()
    made = compile_join(query)
    assert normal_form.cache_info().misses == 0
    assert paths(made) == paths(compile_join(query, normalise))


@pytest.mark.parametrize("predicate", ["b = 'u'", "not(b)", "text()", "self::a", ". > 1", "//b"])
def test_other_conditions_go_through_all_rewrites(predicate: str) -> None:
    (block,) = xscl(f"SELECT x FROM S//a->x[{predicate}]").blocks
    assert regular_path(block.alternatives[0]) is None


def test_a_regular_path_is_its_own_normal_form() -> None:
    (block,) = xscl("SELECT x FROM S//a[b][.//c]//d->x").blocks
    regular = regular_path(block.alternatives[0])
    assert regular is not None
    assert regular_path(regular) == regular
    query = Query((Block((regular,)),), Fragments("x"))
    assert normalise(query).blocks[0].alternatives == (regular,)
