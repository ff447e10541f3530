"""Changes among standing joins: what they cost, what they leave behind, who sees what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

import penstock
from penstock.errors import QueryError
from penstock.joins import Joiner, WitnessReader
from penstock.kernel import JoinState, JoinStatistics
from penstock.planning.programs import compile_program
from penstock.results import Document, Result

COUNT = 200


def program(number: int, window: str = "10 s") -> bytes:
    """Return a query whose leaves no other query has."""
    text = f"S//a->x[l{number}->y] FOLLOWED BY{{y = z, {window}}} S//b->w[k{number}->z]"
    return compile_program(penstock.xscl(text))


def read(joiner: Joiner, number: int, version: int, data: bytes = b"<a><l1>v</l1></a>") -> None:
    witness = WitnessReader(joiner.joins).read("S", [data])
    joiner.join(witness, str(number), number * 1_000_000, version)
    assert list(joiner.results(version)) is not None


def loaded(count: int) -> Joiner:
    joiner = Joiner()
    for number in range(count):
        joiner.add(number, 0, str(number), program(number))
    joiner.settle()
    return joiner


def test_a_document_looks_up_its_own_steps_however_many_there_are() -> None:
    taken = []
    for count in (10, COUNT):
        reader = WitnessReader(loaded(count).joins)
        reader.read("S", [b"<a><l1>v</l1></a>"])
        taken.append(reader.session.statistics().path_steps)
    assert taken[0] == taken[1] > 0


def test_rounds_of_adding_and_removing_leave_nothing_behind() -> None:
    joiner = loaded(COUNT)
    read(joiner, 0, 0)
    before = joiner.statistics()
    for round_ in range(1, COUNT + 1):
        joiner.add(COUNT, round_, "new", program(COUNT + round_, "INF"))
        joiner.settle()
        read(joiner, round_, round_, f"<a><l{COUNT + round_}>v</l{COUNT + round_}></a>".encode())
        joiner.remove(COUNT)
        joiner.settle()
    after = joiner.statistics()
    counted = ("rows", "shapes", "pairs", "nodes", "variables", "edges", "steps", "formulas")
    for name in (*counted, "tests"):
        assert getattr(after, name) == getattr(before, name), name
    # Records that only they needed go after some more documents.
    assert after.records <= before.records + COUNT // 4


def test_records_and_waits_of_who_is_gone_go() -> None:
    joiner = Joiner()
    text = "S//a->x[k->y] NOT FOLLOWED BY{y = z, INF} S//b->w[k->z]"
    joiner.add(0, 1, "kept", compile_program(penstock.xscl(text.replace("S//", "T//"))))
    joiner.add(1, 1, "gone", compile_program(penstock.xscl(text)))
    joiner.settle()
    for number in range(50):
        read(joiner, number, 1, b"<a><k>1</k></a>")
    assert (joiner.statistics().records, joiner.statistics().waiting) == (50, 50)
    joiner.remove(1)
    joiner.settle()
    for number in range(50, 60):
        witness = WitnessReader(joiner.joins).read("T", [b"<a><k>1</k></a>"])
        joiner.join(witness, str(number), number * 1_000_000, 2)
    assert joiner.statistics().records <= 10
    assert joiner.statistics().waiting <= 10


def test_numbers_that_are_used_again_find_nothing_of_before() -> None:
    joiner = Joiner()
    joiner.add(0, 1, "old", program(1))
    joiner.settle()
    read(joiner, 1, 1)
    joiner.remove(0)
    # The new one gets the variables' numbers, and its leaves have the same values.
    joiner.add(1, 2, "new", program(2))
    joiner.settle()
    witness = WitnessReader(joiner.joins).read("S", [b"<b><k2>v</k2></b>"])
    joiner.join(witness, "2", 2_000_000, 2)
    assert list(joiner.results(2)) == []


def test_a_program_that_is_refused_leaves_nothing_behind() -> None:
    joins = JoinState()
    empty = joins.statistics()
    whole = program(1)
    for end in range(len(whole)):
        with pytest.raises(ValueError, match="not a program"):
            joins.add(0, 0, whole[:end])
    # The patterns of a variable, which has two strings, promise some more.
    broken = whole.replace(b"\x02\x01b", b"\x09\x01b")
    assert broken != whole
    with pytest.raises(ValueError, match="not a program"):
        joins.add(0, 0, broken)
    assert joins.statistics() == empty
    joins.add(0, 0, whole)
    with pytest.raises(ValueError, match="already"):
        joins.add(0, 0, whole)
    joins.remove(0)
    assert joins.statistics() == empty


SAME = "S//a->x[k->y] FOLLOWED BY{y = z, INF} S//b->w[k->z]"
LEFT, RIGHT = b"<a><k>1</k></a>", b"<b><k>1</k></b>"


def run(registry: penstock.Registry, *steps: bytes | Callable[[], object]) -> list[Result]:
    """Return the rows of documents, between which something is done."""

    def source() -> Iterator[Document]:
        for time, step in enumerate(steps):
            if isinstance(step, bytes):
                yield Document(step, str(time), "S", float(time))
            else:
                step()

    return list(penstock.Engine(registry).run(source()))


def test_a_query_that_comes_again_has_not_seen_what_was_read_before() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(SAME))

    def again() -> None:
        registry.remove("q")
        registry.add("q", penstock.xscl(SAME))

    assert run(registry, LEFT, again, RIGHT) == []
    (row,) = run(registry, LEFT, RIGHT)
    assert row.documents == ("0", "1")


def test_a_query_that_is_replaced_by_itself_goes_on() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(SAME))
    rows = run(registry, LEFT, lambda: registry.replace("q", penstock.xscl(SAME)), RIGHT)
    assert [row.documents for row in rows] == [("0", "2")]


def test_changes_that_are_undone_change_nothing() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(SAME))

    def undone() -> None:
        with suppress(RuntimeError), registry.changes():
            registry.remove("q")
            registry.add("q", penstock.xscl(SAME))
            raise RuntimeError

    rows = run(registry, LEFT, undone, RIGHT)
    assert [row.documents for row in rows] == [("0", "2")]


def test_who_shares_its_variables_with_somebody_who_goes_keeps_its_state() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(SAME))
    registry.add("other", penstock.xscl(f"SELECT x FROM {SAME}"))
    rows = run(registry, LEFT, lambda: registry.remove("other"), RIGHT)
    assert [(row.subscription, row.documents) for row in rows] == [("q", ("0", "2"))]


def test_a_changed_registry_of_a_folder_is_followed(tmp_path: object) -> None:
    registry = penstock.Registry.open(str(tmp_path))
    registry.add("q", penstock.xscl(SAME))

    def other() -> None:
        registry.add("late", penstock.xscl(SAME))

    rows = run(registry, LEFT, other, RIGHT, lambda: registry.remove("q"), RIGHT)
    assert [(row.subscription, row.documents) for row in rows] == [("q", ("0", "2"))]


def test_compiling_happens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(SAME))

    def refuse(*_: object) -> None:
        raise AssertionError("it was compiled")

    monkeypatch.setattr("penstock.planning.programs.compile_join", refuse)
    monkeypatch.setattr("penstock.planning.programs._JOIN_TEXTS.compile", refuse)
    monkeypatch.setattr("penstock.planning.records.writing.compile_paths", refuse)
    assert len(run(registry, LEFT, RIGHT)) == 1


ABSENT, THERE = "NOT FOLLOWED BY", "FOLLOWED BY"


@pytest.mark.parametrize(
    ("operators", "before", "after", "found"),
    [
        ((ABSENT, ABSENT), "b3", "a2", ["second"]),
        ((ABSENT, ABSENT), "c3", "a2", ["second"]),
        ((ABSENT, ABSENT), "b1", "a2", ["first", "second"]),
        ((ABSENT, THERE), "b3", "a2 c5", ["second"]),
        ((ABSENT, THERE), "b1", "a2 c5", ["first", "second"]),
        ((THERE, ABSENT), "c5", "a2 b3", ["second"]),
        ((THERE, ABSENT), "c1", "a2 b3", ["first", "second"]),
    ],
)
def test_equal_chains_that_come_at_different_times_have_results_of_their_own(
    operators: tuple[str, str], before: str, after: str, found: list[str]
) -> None:
    one, other = operators
    text = f"SELECT x FROM S//a->x {one}{{x = y, INF}} S//b->y {other}{{x = z, INF}} S//c->z"
    registry = penstock.Registry()

    def documents(names: str) -> Iterator[Document]:
        for name in names.split():
            yield Document(f"<{name[0]}>1</{name[0]}>", name, "S", float(name[1]))

    def source() -> Iterator[Document]:
        registry.add("first", penstock.xscl(text))
        yield from documents(before)
        registry.add("second", penstock.xscl(text))
        yield from documents(after)

    rows = penstock.Engine(registry).run(source())
    assert sorted(str(row.subscription) for row in rows) == found


def test_statistics_start_with_nothing() -> None:
    statistics = Joiner().statistics()
    assert isinstance(statistics, JoinStatistics)
    assert (statistics.variables, statistics.steps, statistics.rows) == (0, 0, 0)


def test_a_query_that_is_not_evaluated_is_refused_by_the_registry() -> None:
    registry = penstock.Registry()
    with pytest.raises(QueryError):
        registry.add("q", penstock.xscl("S//a->x[position() = 2] JOIN{x = y, 1} S//b->y"))
    assert "q" not in registry


def test_equal_chains_of_absences_that_came_at_different_times_are_both_reported() -> None:
    chain = penstock.xscl(
        "S//a AS v1 NOT FOLLOWED BY{v2 = v1, 9} S//b AS v2 NOT FOLLOWED BY{v3 = v1, 9} S//c AS v3"
    )
    registry = penstock.Registry()

    def documents() -> Iterator[penstock.Document]:
        registry.add("early", chain)
        yield penstock.Document(b"<a>1</a>", id="d0", stream="S", time=0)
        registry.add("late", chain)
        yield penstock.Document(b"<a>2</a>", id="d1", stream="S", time=1)

    rows = [(row.subscription, row.document) for row in penstock.Engine(registry).run(documents())]
    assert sorted(rows) == [("early", "d0"), ("early", "d1"), ("late", "d1")]
