"""What joins complete, cost and keep has bounds, and whoever joins can be stopped."""

from __future__ import annotations

import signal
from threading import Event, Thread

import pytest

import penstock
from penstock.errors import CancelledError
from penstock.joins import Found, Joiner, JoinOptions, WitnessReader
from penstock.kernel import JOIN_BATCH_ROWS_MAX, BucketedState
from penstock.planning.programs import compile_program
from penstock.results import Document, Heartbeat, Result

PAIRS = "SELECT y, z FROM S//a[k->y] FOLLOWED BY{y = z, 10} S//b[k->z]"
MATCHING = "SELECT x, w FROM S//a->x[k->y] FOLLOWED BY{y = z, 10} S//b->w[k->z]"
ABSENT = "SELECT x FROM S//a->x[k->y] NOT FOLLOWED BY{y = z, 10} S//b[k->z]"
SIDE = 500


def registry_of(**texts: str) -> penstock.Registry:
    registry = penstock.Registry()
    for name, text in texts.items():
        registry.add(name, penstock.xscl(text))
    return registry


def many(name: str, time: float, count: int = SIDE, key: str = "1") -> Document:
    """Return a document with many nodes of one value."""
    return Document(
        f"<{name}>" + f"<k>{key}</k>" * count + f"</{name}>", f"{name}{time:g}", "S", time
    )


def joiner_of(options: JoinOptions | None = None, **texts: str) -> Joiner:
    joiner = Joiner(options)
    for number, (name, text) in enumerate(texts.items()):
        joiner.add(number, 0, name, compile_program(penstock.xscl(text)))
    joiner.settle()
    return joiner


def join(joiner: Joiner, document: Document) -> None:
    witness = WitnessReader(joiner.joins).read("S", [str(document.data).encode()])
    assert joiner.join(witness, str(document.id), round(float(str(document.time)) * 1e6), 0)


def test_all_pairs_of_two_documents_come_in_batches_of_bounded_size() -> None:
    steps = penstock.Engine(registry_of(q=PAIRS)).steps([many("a", 1), many("b", 2)])
    sizes, last = [], None
    for rows in steps:
        sizes.append(len(rows))
        for row in rows:
            assert row.bindings is not None
            places = [int(place.split("[")[1].split("-")[0]) for place in row.bindings.values()]
            assert last is None or last < places, "rows are in order"
            last = places
    assert sum(sizes) == SIDE * SIDE
    assert max(sizes) <= 2 * JOIN_BATCH_ROWS_MAX
    assert len([size for size in sizes if size]) >= SIDE * SIDE // (2 * JOIN_BATCH_ROWS_MAX)


def test_arrow_batches_are_bounded_as_well() -> None:
    pytest.importorskip("pyarrow")
    batches = penstock.Engine(registry_of(q=PAIRS)).batches([many("a", 1, 100), many("b", 2, 100)])
    sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 100 * 100
    assert max(sizes) <= 2 * JOIN_BATCH_ROWS_MAX


def test_a_pushed_document_gives_its_joined_rows_in_batches() -> None:
    engine = penstock.Engine(registry_of(q=PAIRS))
    for document in (many("a", 1, 100), many("b", 2, 100), many("b", 3, 100)):
        opened = engine.open(str(document.id), "S", document.time)  # type: ignore[arg-type]
        assert not opened.feed(str(document.data).encode())
        sizes = [len(rows) for rows in opened.finish_in_batches()]
        assert sum(sizes) == (0 if document.id == "a1" else 100 * 100)
        assert max(sizes) <= JOIN_BATCH_ROWS_MAX


def test_who_closes_the_batches_gives_up_the_rest() -> None:
    engine = penstock.Engine(registry_of(q=PAIRS))
    engine.open("a", "S", 1.0).feed(b"<a/>")
    with engine.open("a", "S", 1.0) as opened:
        opened.feed(str(many("a", 1, 100).data).encode())
    opened = engine.open("b", "S", 2.0)
    opened.feed(str(many("b", 2, 100).data).encode())
    batches = opened.finish_in_batches()
    assert next(batches)
    with pytest.raises(RuntimeError, match="taken before"), engine.open("c", "S", 2.0) as other:
        other.feed(b"<b><k>1</k></b>")
    batches.close()  # type: ignore[attr-defined]
    with engine.open("d", "S", 3.0) as other:
        other.feed(b"<b><k>1</k></b>")
    assert len(other.results) == 100


def test_published_events_are_joined_when_all_of_them_are_known() -> None:
    registry = registry_of(
        first="SELECT y, z FROM S//a[k->y] FOLLOWED BY{y = z, 10} S//b[k->z] PUBLISH T",
        second="SELECT p, q FROM S//a->p[k->v] JOIN{v = w, 10} T//event->q[k->w]",
    )
    documents = [many("a", 1, 30), many("b", 2, 30)]
    whole = list(penstock.Engine(registry).run(documents))
    options = JoinOptions(batch_rows_max=7)
    assert list(penstock.Engine(registry, joins=options).run(documents)) == whole
    assert len([row for row in whole if row.subscription == "second"]) == 30 * 30


@pytest.mark.parametrize("batch_rows_max", [1, 50, 10_000])
def test_results_max_ends_one_subscription_and_leaves_the_others_alone(batch_rows_max: int) -> None:
    registry = registry_of(many=PAIRS, other=MATCHING)
    limits = penstock.Limits(results_max=25)
    options = JoinOptions(batch_rows_max=batch_rows_max)
    documents = [many("a", 1, 10), many("b", 2, 10), many("b", 3, 2)]
    whole = list(penstock.Engine(registry).run(documents))
    rows = list(penstock.Engine(registry, limits, joins=options).run(documents))
    (failed,) = (row for row in rows if row.error)
    assert failed.error is not None
    assert (failed.subscription, failed.error.code, failed.source) == ("many", "PL0016", None)
    assert (failed.document, failed.kind, failed.value) == ("b2", "error", None)
    kept = [row for row in rows if not row.is_error]
    by_limit = [row for row in whole if (row.subscription, row.document) == ("many", "b2")]
    assert len(by_limit) == 100
    assert kept == [row for row in whole if row not in by_limit[25:]]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (penstock.Limits(steps_max=20_000), "PL0014"),
        (penstock.Limits(memory_bytes_max=4 << 20), "PL0013"),
    ],
)
def test_a_document_that_passes_a_limit_is_not_joined(limits: penstock.Limits, code: str) -> None:
    chain = f"{PAIRS} FOLLOWED BY{{y = u, 10}} S//c[k->u]"
    documents = [many("a", 1, 200), many("b", 2, 200), many("b", 3, 1), many("c", 4, 1)]
    rows = list(penstock.Engine(registry_of(q=chain), limits).run(documents))
    errors = [(row.error.code, row.document, row.subscription) for row in rows if row.error]
    assert errors == [(code, "b2", None)]
    joined = [row.documents for row in rows if not row.is_error]
    assert joined == [("a1", "b3", "c4")] * 200


def absences(options: JoinOptions) -> list[Result]:
    left = [Document(f"<a><k>{n}</k></a>", f"a{n}", "S", n / 100) for n in range(600)]
    right = [Document(f"<b><k>{n}</k></b>", f"b{n}", "S", 6.5) for n in range(0, 600, 3)]
    engine = penstock.Engine(registry_of(q=ABSENT), lateness=0, joins=options)
    return list(engine.run([*left, *right, Heartbeat("S", 12.0), Document("<c/>", "c", "S", 30)]))


def test_absences_that_wait_in_files_are_reported_as_if_they_were_in_memory() -> None:
    rows = absences(JoinOptions())
    assert len(rows) == 400
    for state_bytes_max in (1, 5_000):
        assert absences(JoinOptions(state_bytes_max=state_bytes_max)) == rows


def test_what_waits_counts_as_state_and_leaves_memory() -> None:
    joiner = joiner_of(JoinOptions(lateness=1, state_bytes_max=20_000), q=ABSENT)
    for number in range(1_000):
        join(joiner, Document(f"<a><k>{number}</k></a>", str(number), "S", 1.0))
        assert not list(joiner.results(0))
        assert joiner.statistics().memory_bytes < 21_000
    assert joiner.statistics().waiting == 1_000
    joiner.advance(20_000_000)
    found = [one for batch in joiner.results(0) for one in batch]
    assert len(found) == 1_000
    assert joiner.statistics().waiting == 0
    joiner.close()


def test_subscriptions_that_go_take_what_waits_with_them() -> None:
    joiner = joiner_of(JoinOptions(lateness=1), q=ABSENT, p=ABSENT.replace("10", "11"))
    for number in range(100):
        join(joiner, Document(f"<a><k>{number}</k></a>", str(number), "S", 1.0))
        assert not list(joiner.results(0))
    joiner.remove(0)
    joiner.settle()
    for number in range(100, 200):
        join(joiner, Document(f"<a><k>{number}</k></a>", str(number), "S", 1.0))
        assert not list(joiner.results(0))
    assert joiner.statistics().waiting == 200
    joiner.advance(20_000_000)
    found = [one for batch in joiner.results(0) for one in batch]
    assert {one.joined.subscription for one in found if isinstance(one, Found)} == {1}
    assert len(found) == 200


def test_a_join_is_interrupted_from_another_thread() -> None:
    joiner = joiner_of(q=PAIRS)
    join(joiner, many("a", 1, 2_000))
    assert not list(joiner.results(0))
    join(joiner, many("b", 2, 2_000))
    taken, batches = Event(), joiner.results(0)
    errors: list[BaseException] = []

    def take() -> None:
        try:
            for _ in batches:
                taken.set()
        except CancelledError as error:
            errors.append(error)

    thread = Thread(target=take)
    thread.start()
    assert taken.wait(60)
    joiner.interrupt()
    thread.join(60)
    assert not thread.is_alive()
    assert len(errors) == 1
    join(joiner, many("b", 3, 1))
    assert sum(len(batch) for batch in joiner.results(0)) == 2_000


def test_an_interrupted_document_is_not_joined() -> None:
    joiner = joiner_of(q=PAIRS)
    join(joiner, many("a", 1, 2_000))
    assert not list(joiner.results(0))
    joiner.interrupt()
    with pytest.raises(CancelledError):
        join(joiner, many("b", 2, 2_000))
    assert joiner.statistics().records == 1


def test_a_signal_ends_a_join() -> None:
    # A chain of 4 million partial matches: long enough, and bounded if nobody stops it.
    chain = f"{PAIRS} FOLLOWED BY{{y = u, 10}} S//c[k->u]"
    joiner = joiner_of(q=chain)
    join(joiner, many("a", 1, 2_000))
    assert not list(joiner.results(0))
    handled = signal.signal(signal.SIGALRM, _raise)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            join(joiner, many("b", 2, 2_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handled)
    assert joiner.statistics().records == 1


def _raise(*_: object) -> None:
    raise KeyboardInterrupt


def bucketed(limits: penstock.Limits, text: str = PAIRS) -> tuple[BucketedState, WitnessReader]:
    joins = BucketedState(limits)
    joins.add(0, 0, compile_program(penstock.xscl(text)))
    joins.pin(joins.ranked())
    joins.enter(0, 1)
    return joins, WitnessReader(joins)


def queue(joins: BucketedState, reader: WitnessReader, documents: list[Document]) -> None:
    records = []
    for number, document in enumerate(documents):
        witness = reader.read("S", [str(document.data).encode()])
        records.append(joins.record(witness, number, str(document.id), number, 0))
    joins.queue(b"".join(records), is_derived=False)


def test_records_of_a_bucket_that_pass_a_limit_are_named_and_not_joined() -> None:
    chain = f"{PAIRS} FOLLOWED BY{{y = u, 10}} S//c[k->u]"
    joins, reader = bucketed(penstock.Limits(steps_max=20_000), chain)
    queue(joins, reader, [many("a", 1, 600), many("b", 2, 600), many("b", 3, 2)])
    is_more, ((document, time, failure),) = joins.push_queued()
    assert (is_more, document, time, failure[0]) == (False, "b2", 1, "PL0014")
    assert len(joins.take_partials()) == 1_200


def test_joins_of_a_bucket_are_interrupted() -> None:
    joins, reader = bucketed(penstock.Limits())
    queue(joins, reader, [many("a", 1, 1), many("b", 2, 1)])
    joins.interrupt()
    _, failed = joins.push_queued()
    assert failed[0][2][0] == CancelledError.code
    assert not joins.has_results()


def test_results_max_counts_for_each_record_of_a_bucket() -> None:
    joins, reader = bucketed(penstock.Limits(results_max=5))
    queue(joins, reader, [many("a", 1, 2), many("b", 2, 2), many("b", 3, 2), many("b", 4, 3)])
    taken = []
    is_more = True
    while is_more:
        is_more, failed = joins.push_queued()
        assert not failed
        while joins.has_results():
            rows, *_, beyond, failure = joins.take()
            assert failure is None
            taken.append((len(rows), beyond))
    assert taken == [(4, []), (4, []), (6, [5])]
