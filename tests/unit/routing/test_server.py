"""A server decides from the header, or by parsing, and always the same."""

import datetime as dt
import zlib

import pytest

import penstock
from penstock import routing
from penstock.errors import DocumentError
from penstock.routing import Condition, Configuration, Router, Server, View
from penstock.routing.statistics import Share

DOCUMENT = (
    b"<n xmlns:p='urn:p'><a>Reuters &amp; Co</a><d>2026-11-18T10:00:00+01:00</d><i k='7'>12</i>"
    b"<s><t>Paris</t><p:z>75</p:z></s><x>1</x><x>2</x></n>"
)
VIEWS = [
    "/n/a",
    "/n/d",
    "/n/i/@k",
    View("/n/s", parts=True),
    "/n/x[1]",
    "/n/x[2]",
    "/n/x[3]",
    "/n/o",
]
CONFIGURATION = Configuration(VIEWS)
HEADER = routing.stamp(DOCUMENT, CONFIGURATION)


def decide(query: str, document: bytes = DOCUMENT, **options: object) -> tuple[bool, bool, int]:
    """Return whether a query holds, from the header or not, and how many bytes it took."""
    server = Server({"q": query}, [CONFIGURATION], **options)  # type: ignore[arg-type]
    header = routing.stamp(document, CONFIGURATION)
    decision = server.decide(header, document)
    parsed = server.decide(None, document)
    assert decision.matches == parsed.matches
    assert not parsed.is_hit
    return bool(decision.matches), decision.is_hit, decision.bytes_touched


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("/n/a = 'Reuters & Co'", True),
        ("/n/a != 'Reuters & Co'", False),
        ("starts-with(/n/a, 'Reu') and /n/i/@k > 5", True),
        ("/n/i/@k > 5 and /n/i/@k < 7", False),
        ("date(/n/d) = date('2026-11-18T09:00:00Z')", True),
        ("date(/n/a) < date('2026-11-18') or date(/n/a) != date('2026-11-18')", True),
        ("matches(/n/a, '^Reu.*Co$')", True),
        ("/n/o", False),
        ("not(/n/o)", True),
        ("/n/o != 'x'", False),
        ("contains(/n/o, '')", True),
        ("contains(/n/o/y, '')", True),
        ("/n/o/y/z = 1", False),
        ("/n/x = 2", True),
        ("/n/x = 3", False),
        ("/n/x[. > 1 and . < 3]", True),
        ("/n/s/t = 'Paris'", True),
        ("/n/s[t = 'Rome']/t", False),
        ("matches(/n/s/t, 's$')", True),
        ("/n[a = 'Reuters & Co']/i/@k > 5", True),
        ("/n[a = 'Reuters & Co' and not(o)]/s/t", True),
        ("/n[a = 'AP' or contains(s/t, 'Rome')]/x", False),
        ("/n[a = 'Reuters & Co' and i/@k = 7]", True),
        ("/n[starts-with(a, 'Reu')]/s/t = 'Paris'", True),
    ],
)
def test_covered_queries_are_hits(query: str, holds: bool) -> None:
    assert decide(query)[:2] == (holds, True)


def test_parts_keep_their_namespaces() -> None:
    namespaces = {"p": "urn:p"}
    configuration = Configuration([View("/n/s", parts=True)], namespaces=namespaces)
    server = Server(["/n/s/p:z = 75"], [configuration], namespaces=namespaces)
    decision = server.decide(routing.stamp(DOCUMENT, configuration), DOCUMENT)
    assert decision.is_hit
    assert decision.matches
    assert decision.bytes_touched == len(b"<s><t>Paris</t><p:z>75</p:z></s>")


@pytest.mark.parametrize("query", ["/n/y = 1", "count(/n/x) = 2", "/n/i = 12", "/n/s/../a = 'x'"])
def test_what_is_not_covered_is_a_miss(query: str) -> None:
    assert not decide(query)[1]


def test_several_nodes_are_a_miss_unless_all_positions_are_listed() -> None:
    more = DOCUMENT.replace(b"<x>2</x>", b"<x>2</x><x>3</x><x>4</x>")
    assert decide("/n/x = 4", more) == (True, False, len(more))
    assert decide("/n/x = 1", more)[:2] == (True, True)  # one that passes is enough
    single = Configuration(["/n/x"])
    decision = Server(["/n/x = 1"], [single]).decide(routing.stamp(DOCUMENT, single), DOCUMENT)
    assert not decision.is_hit
    assert Server(["/n/x"], [single]).decide(routing.stamp(DOCUMENT, single), DOCUMENT).is_hit


def test_positions_of_an_inner_step_need_the_step_behind_the_last() -> None:
    document = b"<n><e><f>1</f></e><e/><e><f>3</f></e></n>"
    listed = ["/n/e[1]/f", "/n/e[2]/f", "/n/e[3]/f"]
    for views, is_hit in ((listed, False), ([*listed, "/n/e[4]"], True)):
        configuration = Configuration(views)
        server = Server(["/n/e/f = 2"], [configuration])
        assert server.decide(routing.stamp(document, configuration), document).is_hit is is_hit


def test_one_false_conjunct_decides_whatever_the_others_are() -> None:
    assert decide("/n/y = 1 and /n/o = 2 and count(//x) > 3") == (False, True, 0)
    assert decide("/n/y = 1 or /n/a = 'Reuters & Co'")[:2] == (True, True)


def test_a_hit_touches_the_bytes_of_its_views_alone() -> None:
    assert decide("/n/a = 'x'")[2] == len(b"<a>Reuters &amp; Co</a>")
    shares = {"/n/a": Share(0.0, 1.0, 0.0), "/n/o": Share(0.9, 0.1, 0.0)}
    assert decide("/n/a = 'x' and /n/a = 'y' and /n/o = 1", shares=shares)[2] == 0
    assert decide("/n/a = 'x'", verify="full")[2] == len(DOCUMENT)


def resealed(body: bytes) -> bytes:
    """Return a header with a right checksum."""
    return body + zlib.crc32(body).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("header", "document", "reason"),
    [
        (None, DOCUMENT, "missing"),
        (b"", DOCUMENT, "missing"),
        (b"PV", DOCUMENT, "configuration"),
        (HEADER[:-1], DOCUMENT, "damaged"),
        (HEADER + b"x", DOCUMENT, "damaged"),
        (resealed(HEADER[:2] + b"\x02" + HEADER[3:-4]), DOCUMENT, "version"),
        (resealed(HEADER[:3] + b"stranger" + HEADER[11:-4]), DOCUMENT, "configuration"),
        (HEADER, DOCUMENT + b"\n", "length"),
        (HEADER, DOCUMENT.replace(b"Reuters", b"Rooters"), "range"),
    ],
)
def test_a_header_that_fails_is_a_miss(header: bytes, document: bytes, reason: str) -> None:
    decision = Server(["starts-with(/n/a, 'R')"], [CONFIGURATION]).decide(header, document)
    assert (decision.is_hit, decision.reason, len(decision.matches)) == (False, reason, 1)


def test_full_verification_sees_what_no_range_shows() -> None:
    changed = DOCUMENT.replace(b"<x>1</x>", b"<o>1</o>")
    query = "/n/o = 1"
    assert Server([query], [CONFIGURATION]).decide(HEADER, changed).is_hit  # on trust, and wrong
    decision = Server([query], [CONFIGURATION], verify="full").decide(HEADER, changed)
    assert (decision.is_hit, decision.reason, decision.matches) == (False, "document", (query,))


def test_documents_that_are_not_utf8_are_always_a_miss() -> None:
    document = "<?xml version='1.0' encoding='utf-16'?><n><a>é</a></n>".encode("utf-16")
    header = routing.stamp(document, CONFIGURATION)
    decision = Server(["/n/a = 'é'"], [CONFIGURATION]).decide(header, document)
    assert (decision.is_hit, decision.reason) == (False, "encoding")
    assert decision.matches == ("/n/a = 'é'",)


def test_entities_are_a_miss_where_they_matter() -> None:
    document = b"<!DOCTYPE n [<!ENTITY e 'x'>]><n><a>&e;</a><d>y</d></n>"
    assert decide("/n/a = 'x'", document)[:2] == (True, False)
    assert decide("/n/d = 'y'", document)[:2] == (True, True)
    assert decide("/n/a", document)[:2] == (True, True)


def test_headers_of_older_configurations_stay_valid() -> None:
    older, newer = Configuration(["/n/a"]), Configuration(["/n/d", "/n/a"])
    server = Server(["starts-with(/n/a, 'R')"], [newer, older])
    for configuration in (older, newer):
        assert server.decide(routing.stamp(DOCUMENT, configuration), DOCUMENT).is_hit


def test_servers_without_configurations_know_those_of_the_process() -> None:
    assert Server(["/n/a"]).decide(HEADER, DOCUMENT).is_hit
    assert not Server(["/n/a"], []).decide(HEADER, DOCUMENT).is_hit


def test_a_miss_makes_a_better_header_in_the_same_pass() -> None:
    better = Configuration(["/n/i", "/n/a"])
    for query in ("/n/i = 12", "/n/i = 12 and matches(/n/a, 'R')"):
        decision = Server([query], [CONFIGURATION], restamp=better).decide(HEADER, DOCUMENT)
        assert not decision.is_hit
        assert decision.header == routing.stamp(DOCUMENT, better)
        assert Server([query], [better]).decide(decision.header, DOCUMENT).is_hit


def test_a_hit_makes_no_header() -> None:
    server = Server(["/n/a"], [CONFIGURATION], restamp=Configuration(["/n/i"]))
    assert server.decide(HEADER, DOCUMENT).header is None


def test_several_servers_decide_as_each_alone() -> None:
    queries = {"1": ["/n/a", "/n/x = 2"], "2": ["/n/y"], "3": {"c": "/n/i = 12", "d": "/n/o"}}
    router = Router(queries, [CONFIGURATION])
    for header in (HEADER, None):
        for name, decision in router.decide(header, DOCUMENT).items():
            alone = Server(queries[name], [CONFIGURATION]).decide(header, DOCUMENT)
            assert (decision.matches, decision.is_hit) == (alone.matches, alone.is_hit)
    counts = router.statistics().servers
    assert {name: (one.hits, one.misses) for name, one in counts.items()} == {
        "1": (1, 1),
        "2": (0, 2),
        "3": (0, 2),
    }


def test_the_first_node_is_the_first_of_the_document_beside_what_xpath_cannot_say() -> None:
    document = b"<n><a>x<a>y</a></a><a>z</a></n>"
    for text, holds in (("starts-with(/n//a, 'xy')", True), ("starts-with(/n//a, 'y')", False)):
        query = f"{text} or matches(/n/none, 'w')"
        assert bool(Server([query]).decide(None, document).matches) is holds


def test_conditions_and_registries_are_queries() -> None:
    conditions = [
        Condition("/n/d", ">=", dt.date(2026, 11, 1)),
        Condition("/n/i/@k", "<=", 7),
        Condition("/n/a", "contains", "Co"),
    ]
    assert Server({"q": conditions}, [CONFIGURATION]).decide(HEADER, DOCUMENT).matches == ("q",)
    registry = penstock.Registry()
    registry.add("f", "/n[a]", mode="filter")
    assert Server(registry, [CONFIGURATION]).decide(HEADER, DOCUMENT).is_hit


def test_a_malformed_document_is_an_error_of_a_miss() -> None:
    with pytest.raises(DocumentError):
        Server(["/n/a"], [CONFIGURATION]).decide(None, b"<n>")


def test_order_follows_selectivity_and_cost() -> None:
    from penstock.routing.formulas import Check

    router = Router({"s": ["/n/a = 'x' and matches(/n/a, 'y') and /n/d = 'z'"]}, [CONFIGURATION])
    (one,) = routing.explain(router, CONFIGURATION)
    assert [step.split()[1] for step in one.queries[0].steps[1:]] == ["=", "=", "matches"]
    rare = {("/n/d", Check("=", "z")): 0.001}
    queries = {"s": ["/n/a = 'x' and /n/d = 'z'"]}
    router = Router(queries, [CONFIGURATION], selectivities=rare)
    (one,) = routing.explain(router, CONFIGURATION)
    assert one.queries[0].steps[1:] == ("  /n/d = 'z'", "  /n/a = 'x'")
    assert one.queries[0].cover == "covered"
