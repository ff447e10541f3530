"""The paper's operators give the messages of the product, whatever is known of documents."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

import penstock
from papers.yfilter.broker import Broker, operators_with
from papers.yfilter.facts import NO_FACTS, facts_of
from papers.yfilter.options import BrokerOptions
from penstock.planning.programs import compile_program
from penstock.planning.sequences.verdicts import brokered_of
from penstock.schemas import Schema
from penstock.twigs.sequences import Sequences
from penstock_testing.generate.brokered import random_brokered, random_nested

KEYED = BrokerOptions("keyed")
PAPER = [
    BrokerOptions(strategy, knowledge)
    for strategy, knowledge in product(("f", "fw", "fwr", "shared"), ("nothing", "queries"))
]
SCHEMA = [BrokerOptions(strategy) for strategy in ("f", "fw", "fwr", "shared")]
COUNT = 16
DTD = """<!ELEMENT a (#PCDATA|b|c)*><!ELEMENT b (#PCDATA|c|b)*><!ELEMENT c (#PCDATA)>
<!ATTLIST a m CDATA #IMPLIED n CDATA #IMPLIED><!ATTLIST b m CDATA #IMPLIED>"""
Sent = list[tuple[int, str]]


class Queries:
    """Texts that the broker serves, as programs and as subscriptions of the product."""

    def __init__(self, texts: list[str], untyped: str = "error") -> None:
        self.programs: list[bytes] = []
        self._registry = penstock.Registry()
        for text in texts:
            query = penstock.xquery(text, untyped=untyped)
            if isinstance(query.output, Sequences) and brokered_of(query.output):
                self._registry.add(str(len(self.programs)), query)
                options = {"untyped": untyped}
                self.programs.append(compile_program(text, "query", "xquery", options))

    def product(self, document: bytes, schema: Schema | None = None) -> Sent:
        """Return the messages of the product, in order, and why others failed."""
        schemas = None if schema is None else {"default": schema}
        rows = penstock.Engine(self._registry, schemas=schemas).run(document)
        return sorted(
            (int(str(row.subscription)), row.error.reason if row.error else str(row.value))
            for row in rows
        )

    def check(
        self, options: list[BrokerOptions], documents: list[bytes], schema: Schema | None = None
    ) -> Counter[str]:
        """Compare all messages; returns how many documents were asked, left, and messages."""
        counts: Counter[str] = Counter()
        brokers = [(one, Broker(self.programs, one, schema)) for one in options]
        for document in documents:
            expected = self.product(document, schema)
            for one, broker in brokers:
                answers = broker.ask(document)
                if answers is None:
                    counts["left"] += 1
                    continue
                assert answers.sent() == expected, (one, document)
                counts["asked"] += 1
                counts["messages"] += len(answers.sent())
        return counts


def check_random(seed: int) -> Counter[str]:
    random = Random(seed)
    texts = [random_brokered(random) for _ in range(COUNT)]
    texts += texts[:3]  # equal queries share a plan
    queries = Queries(texts, untyped=random.choice(("error", "false")))
    documents = [random_nested(random, numbers=random.choice((0.9, 1.0))) for _ in range(4)]
    return queries.check([KEYED, *PAPER], documents)


def test_all_strategies_give_the_messages_of_the_product() -> None:
    counts = sum((check_random(seed) for seed in range(6)), Counter())
    assert counts["asked"] > counts["left"]
    assert counts["messages"] > 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_all_strategies_give_the_messages_of_the_product_in_many_draws(seed: int) -> None:
    check_random(seed)


@pytest.mark.parametrize("options", [*PAPER, *SCHEMA], ids=str)
def test_every_strategy_runs_its_own_operators(options: BrokerOptions) -> None:
    text = "<r>{for $x in //a where $x/b = '1' return <o>{$x/c}</o>}</r>"
    profiled = BrokerOptions(options.strategy, options.knowledge, is_profiled=True)
    broker = Broker(Queries([text]).programs, profiled)
    answers = broker.ask(b"<a><b>1</b><c/></a>")
    assert answers is not None
    assert answers.sent() == [(0, "<r><o><c/></o></r>")]
    costs = broker.take_costs()
    assert costs["executor"] > 0
    select = "return-select" if options.strategy in ("f", "fw") else "outer-join-select"
    assert costs[select] > 0


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
    queries = Queries([random_brokered(random) for _ in range(COUNT)], untyped="false")
    documents = [fitting(random) for _ in range(4)]
    if mode == "verify":
        documents += [random_nested(random) for _ in range(4)]
    counts = queries.check(SCHEMA, documents, penstock.schema(file, mode=mode))  # type: ignore[arg-type]
    assert counts["messages"] > 20
    assert (counts["left"] == 0) or mode == "verify"


def test_a_document_that_breaks_the_order_that_plans_rely_on_is_left_to_the_product(
    tmp_path: Path,
) -> None:
    file = tmp_path / "abc.dtd"
    # Several ways lead to each element, so no path is rewritten; none nests in itself.
    ways = "<!ELEMENT r (a|e)*><!ELEMENT e (a*)><!ELEMENT a (b|d)*><!ELEMENT d (b*)>"
    file.write_text(ways + "<!ELEMENT b (c*)><!ELEMENT c (#PCDATA)>", "utf-8")
    queries = Queries(["<r>{for $x in //a//b where $x/c = '1' return <o>{$x/c}{$x//c}</o>}</r>"])
    schema = penstock.schema(file, mode="verify")
    fits = b"<r><a><b><c>1</c></b></a></r>"
    nested = b"<r><a><b><a><b><c>1</c></b></a><c>1</c></b></a></r>"
    assert queries.check(SCHEMA, [fits], schema)["messages"] == len(SCHEMA)
    for options in SCHEMA:
        assert Broker(queries.programs, options, schema).ask(nested) is None
    assert queries.check(PAPER, [nested])["messages"] == len(PAPER)


@pytest.mark.parametrize("with_schema", [False, True])
def test_operators_are_those_that_run(with_schema: bool, tmp_path: Path) -> None:
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
            counts = Broker(Queries([text]).programs, options, schema).counts()
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


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="strategy is one of"):
        BrokerOptions(strategy="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="knowledge is one of"):
        BrokerOptions(knowledge="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="it requests no messages"):
        Broker([compile_program("//a")], KEYED)
    whole = compile_program("count(//a)", "query", "xquery")
    with pytest.raises(ValueError, match="has no form for the broker"):
        Broker([whole], KEYED)
