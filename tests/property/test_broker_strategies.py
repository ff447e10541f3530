"""The paper's strategies give the messages of the default one, whatever is known of documents."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock import kernel
from penstock.planning.brokering import BrokerOptions
from penstock.planning.programs import compile_program
from penstock.planning.sequences.verdicts import operators_with
from penstock.schemas.facts import NO_FACTS, facts_of
from penstock.twigs.sequences import Sequences
from penstock_testing.generate.brokered import random_brokered, random_nested

PAPER = [
    BrokerOptions(strategy, knowledge)
    for strategy, knowledge in product(("f", "fw", "fwr", "shared"), ("nothing", "queries"))
]
SCHEMA = [BrokerOptions(strategy) for strategy in ("f", "fw", "fwr", "shared")]
COUNT = 16
DTD = """<!ELEMENT a (#PCDATA|b|c)*><!ELEMENT b (#PCDATA|c|b)*><!ELEMENT c (#PCDATA)>
<!ATTLIST a m CDATA #IMPLIED n CDATA #IMPLIED><!ATTLIST b m CDATA #IMPLIED>"""
Row = tuple[str | None, str | None, str | None]


def registry_of(texts: list[str], **options: str) -> penstock.Registry:
    registry = penstock.Registry()
    for number, text in enumerate(texts):
        registry.add(f"q{number}", penstock.xquery(text, **options))
    return registry


def rows(engine: penstock.Engine, documents: list[bytes]) -> list[list[Row]]:
    return [
        sorted(
            (
                (row.subscription, row.value, row.error.reason if row.error else None)
                for row in engine.run(document)
            ),
            key=str,
        )
        for document in documents
    ]


@pytest.mark.parametrize("seed", range(6))
def test_all_strategies_give_the_messages_of_the_default(seed: int) -> None:
    random = Random(seed)
    texts = [random_brokered(random) for _ in range(COUNT)]
    texts += texts[:3]  # equal queries share a plan
    registry = registry_of(texts, untyped=random.choice(("error", "false")))
    documents = [random_nested(random, numbers=random.choice((0.9, 1.0))) for _ in range(4)]
    expected = rows(penstock.Engine(registry), documents)
    assert any(expected)
    for options in PAPER:
        found = rows(penstock.Engine(registry, broker=options), documents)
        assert found == expected, options


def test_every_strategy_runs_its_own_operators() -> None:
    text = "<r>{for $x in //a where $x/b = '1' return <o>{$x/c}</o>}</r>"
    program = compile_program(text, "query", "xquery")
    for options in (*PAPER, *SCHEMA):
        profiled = BrokerOptions(options.strategy, options.knowledge, is_profiled=True)
        session = kernel.Session(kernel.Plan.build([program]), broker=profiled)
        session.read_whole(b"<a><b>1</b><c/></a>")
        assert [row[4] for row in session.take().rows()[0]] == ["<r><o><c/></o></r>"]
        costs = session.take_broker_costs()
        assert costs["executor"] > 0, options
        select = "return-select" if options.strategy in ("f", "fw") else "outer-join-select"
        assert costs[select] > 0, options


def fitting(random: Random) -> bytes:
    """Return a document that fits the schema: elements of one name nest as b alone may."""

    def element(name: str, depth: int) -> str:
        inside = {"a": "bbc", "b": "bcc", "c": ""}[name]
        count = random.randint(1, 4) if inside and depth < 6 else 0
        text = str(random.randint(1, 4))
        content = "".join(element(random.choice(inside), depth + 1) for _ in range(count))
        attribute = "" if name == "c" else f' m="{text}"'
        return f"<{name}{attribute}>{content or text}</{name}>"

    return element("a", 0).encode()


@pytest.mark.parametrize("mode", ["trust", "verify"])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_schema_says_changes_no_message(seed: int, mode: str, tmp_path: Path) -> None:
    file = tmp_path / "abc.dtd"
    file.write_text(DTD, "utf-8")
    random = Random(100 + seed)
    registry = registry_of([random_brokered(random) for _ in range(COUNT)], untyped="false")
    documents = [fitting(random) for _ in range(4)]
    if mode == "verify":
        documents += [random_nested(random) for _ in range(4)]
    expected = rows(penstock.Engine(registry), documents)
    assert any(expected)
    schemas = {"default": penstock.schema(file, mode=mode)}
    for options in SCHEMA:
        found = rows(penstock.Engine(registry, schemas=schemas, broker=options), documents)
        assert found == expected, options


def test_a_document_that_breaks_the_order_that_plans_rely_on_is_asked_without_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "abc.dtd"
    # Several ways lead to each element, so no path is rewritten; none nests in itself.
    ways = "<!ELEMENT r (a|e)*><!ELEMENT e (a*)><!ELEMENT a (b|d)*><!ELEMENT d (b*)>"
    file.write_text(ways + "<!ELEMENT b (c*)><!ELEMENT c (#PCDATA)>", "utf-8")
    registry = registry_of(
        ["<r>{for $x in //a//b where $x/c = '1' return <o>{$x/c}{$x//c}</o>}</r>"]
    )
    nested = b"<r><a><b><a><b><c>1</c></b></a><c>1</c></b></a></r>"
    expected = rows(penstock.Engine(registry), [nested])
    assert expected[0]
    schemas = {"default": penstock.schema(file, mode="verify")}
    for options in SCHEMA:
        engine = penstock.Engine(registry, schemas=schemas, broker=options)
        assert rows(engine, [nested]) == expected


@pytest.mark.parametrize("with_schema", [False, True])
def test_explain_shows_the_operators_of_the_kernel(with_schema: bool, tmp_path: Path) -> None:
    file = tmp_path / "abc.dtd"
    file.write_text(DTD, "utf-8")
    schema = penstock.schema(file, mode="trust") if with_schema else None
    facts = NO_FACTS if schema is None else facts_of(schema)
    random = Random(3)
    compared = 0
    for _ in range(16):
        text = random_brokered(random)
        query = penstock.xquery(text)
        assert isinstance(query.output, Sequences)
        for options in (*PAPER, *SCHEMA):
            operators = operators_with(query.output, options, facts)
            if operators is None:
                break
            plan = kernel.Plan.build([compile_program(text, "query", "xquery")])
            session = kernel.Session(plan, broker=options, schema=schema)
            counts = session.broker_operators()
            known = Counter(one.kind for one in operators)
            found = {kind: counts.get(kind, 0) for kind in {*counts, *known}}
            # Equal paths of one query are one operator of shared plans.
            shared = options.strategy == "shared"
            for kind, count in known.items():
                assert (found[kind] <= count) if shared else (found[kind] == count), (text, kind)
            rest = {*counts} - {*known} - {"plan", "query"}
            assert not any(counts[kind] for kind in rest), (text, options, counts, known)
            compared += 1
    assert compared > 100
    said = str(penstock.explain(penstock.xquery("<r>{for $x in //a where $x/b=1 return $x/c}</r>")))
    assert "semijoin (merge): //a/b = 1" in said or "semijoin (hash): //a/b = 1" in said


def test_explain_shows_what_the_default_strategy_shares() -> None:
    text = "<r>{{for $x in //a where $x/b = {} return $x/c}}</r>"
    registry = registry_of([text.format(number) for number in range(40)])
    said = penstock.Engine(registry).explain()
    assert "queries of one form, strategy keyed:\n  40 of query\n  1 of binding path\n" in said
    shared = penstock.Engine(registry, broker=BrokerOptions("shared")).explain()
    for line in ("3 of path-tuple stream", "1 of grouped selection", "1 of executor"):
        assert line in shared


def test_live_changes_change_plans_of_every_strategy() -> None:
    random = Random(11)
    texts = [random_brokered(random) for _ in range(20)]
    documents = [random_nested(random) for _ in range(3)]
    for options in SCHEMA:
        registry = penstock.Registry()
        engine = penstock.Engine(registry, broker=options)
        for number, text in enumerate(texts):
            registry.add(f"s{number}", penstock.xquery(text))
            if number % 3 == 2:
                registry.remove(f"s{number - 1}")
            if number % 5 == 4:
                assert rows(engine, documents) == rows(penstock.Engine(registry), documents)


def test_a_strategy_that_is_none_is_rejected() -> None:
    with pytest.raises(ValueError, match="strategy is one of"):
        BrokerOptions(strategy="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="knowledge is one of"):
        BrokerOptions(knowledge="all")  # type: ignore[arg-type]
