"""What is said of a query that finds nothing is true of the documents, by lxml."""

import json
import re
from random import Random

import pytest
from lxml import etree

import penstock
from penstock.engine.diagnosis import Advice, Samples, diagnose
from penstock.sources import inputs

_NAMES = ("item", "titel", "price", "Name", "seller")
_ATTRIBUTES = ("id", "lang", "titel")
_TEXTS = ("12.5", "9", " 7 ", "EN", "en", "Dams  and gates", "Dams and gates", "2024-05-01", "")
_URIS = ("", "urn:a", "urn:b")
_AXES = ("//", "/", "//", "/*/", "//item/")


def _element(random: Random, depth: int) -> str:
    name = random.choice(_NAMES)
    uri = f" xmlns='{random.choice(_URIS)}'" if random.random() < 0.15 else ""
    attributes = "".join(
        f" {name}='{random.choice(_TEXTS)}'"
        for name in random.sample(_ATTRIBUTES, random.choice((0, 0, 1, 2)))
    )
    inner = random.choice(_TEXTS)
    if depth < 3:
        inner += "".join(_element(random, depth + 1) for _ in range(random.choice((0, 1, 2, 3))))
    return f"<{name}{uri}{attributes}>{inner}</{name}>"


def _query(random: Random) -> str:
    name = random.choice((*_NAMES, "itm", "title", "lang"))
    path = random.choice(_AXES) + name
    if random.random() < 0.2:
        path += "/" + random.choice((*_NAMES, "@id", "@price", "@langs"))
    if random.random() < 0.7:
        left = random.choice((".", "@id", "@lang", "price", "Name", "normalize-space(price)"))
        operator = random.choice(("=", "=", ">", "<="))
        right = random.choice(
            ("'en'", "'12.50'", "9000", "' 7'", "'2024-05-01'", "'Dams and  gates'")
        )
        more = (
            f" and {random.choice(('titel', '@lang', 'seller'))}" if random.random() < 0.2 else ""
        )
        path += f"[{left} {operator} {right}{more}]"
    return path


class _Facts:
    """Checks sentences against documents."""

    def __init__(self, documents: list[str]) -> None:
        self._trees = [etree.fromstring(text).getroottree() for text in documents]

    def nodes(self, path: str) -> list[object]:
        found = [tree.xpath(path) for tree in self._trees]
        return [node for nodes in found for node in (nodes if isinstance(nodes, list) else [nodes])]

    def texts(self, path: str) -> set[str]:
        return {
            str(node.xpath("string()")) if isinstance(node, etree._Element) else str(node)
            for node in self.nodes(path)
        }

    def locals(self, path: str) -> set[str]:
        return {
            etree.QName(node).localname
            for node in self.nodes(path)
            if isinstance(node, etree._Element)
        }

    def check(self, sentence: str, query: str) -> str:
        """Check one sentence; return which kind of sentence it is."""
        every = {"element": self.locals("//*"), "attribute": self.attributes()}
        if found := re.fullmatch(r"no (\w+) is called `([^`]+)`; (.*)", sentence):
            what, name, rest = found.groups()
            other = "attribute" if what == "element" else "element"
            assert name not in every[what]
            if rest.startswith("it is an "):
                assert name in every[other]
            elif rest == f"there are no {what}s":
                assert not every[what]
            else:
                listed = rest.removeprefix("similar: ").removeprefix("there are ").split(", ")
                assert set(listed) - {"…"} <= every[what]
            return "name"
        if found := re.fullmatch(
            r"the roots? (?:is|are) ([^;]+)(?:; `(.*)` finds (\d+))?", sentence
        ):
            names, path, count = found.groups()
            assert set(re.findall("`([^`]+)`", names)) == self.locals("/*")
            assert path is None or len(self.nodes(path)) == int(count) > 0
            return "root"
        if found := re.match(r"values of `([^`]+)` seen: ", sentence):
            return self._values(found.group(1), sentence[found.end() :], query)
        if found := re.match(r"an order compares numbers, and `([^`]+)` has none: ", sentence):
            values = self.texts(self._place(query, found.group(1)))
            assert not any(_number(value) for value in values)
            return "order"
        if found := re.fullmatch(
            r"an order compares numbers, and '(.*)' is not a number", sentence
        ):
            assert not _number(found.group(1))
            assert f"'{found.group(1)}'" in query
            return "order"
        if found := re.fullmatch(r"there is no `(.+)` at `(.+)`", sentence):
            assert not self.nodes(self._place(query, found.group(1)))
            return "absent"
        if found := re.fullmatch(r"(elements|attributes) there: (.*)", sentence):
            names = set(found.group(2).split(", ")) - {"…"}
            assert names <= every[found.group(1)[:-1]]
            return "there"
        if re.fullmatch(r"there are no (elements|attributes) there", sentence):
            return "there"
        if found := re.fullmatch(r"each alone: (.*)", sentence):
            before = query[: query.index("[")]
            for term, count in re.findall(r"`([^`]+)` (\d+)", found.group(1)):
                assert len(self.nodes(f"{before}[{term}]")) == int(count)
            return "alone"
        if found := re.match(
            r"(.*) exists? only in (.*); the query asks for no namespace", sentence
        ):
            for name in re.findall("`([^`]+)`", found.group(1)):
                assert not self.nodes(f"//*[local-name() = '{name}' and namespace-uri() = '']")
                assert self.nodes(f"//*[local-name() = '{name}']")
            return "namespace"
        if sentence.startswith(("  bind a prefix", "  or make it", "  write it without")):
            return "advice"
        stages = re.findall(r"`(.*?)` (\d+)(?: → |$)", sentence)
        assert stages, f"a sentence that is not checked: {sentence}"
        return "survivors"

    def attributes(self) -> set[str]:
        return {
            etree.QName(name).localname
            for tree in self._trees
            for one in tree.iter()
            for name in one.attrib
        }

    def _place(self, query: str, path: str) -> str:
        return f"{query[: query.index('[')]}/{path}"

    def _values(self, path: str, rest: str, query: str) -> str:
        values = self.texts(self._place(query, path))
        if found := re.fullmatch(r"(\S+) to (\S+)", rest):
            numbers = [float(value) for value in values if _number(value)]
            assert found.groups() == (f"{min(numbers):g}", f"{max(numbers):g}")
            return "range"
        decoder, listed, place = json.JSONDecoder(), set(), 0
        while rest[place : place + 1] == '"':
            value, place = decoder.raw_decode(rest, place)
            if rest[place : place + 1] == "…":
                assert any(one.startswith(value) for one in values)
                place += 1
            else:
                assert value in values
            listed.add(value)
            place += 2
        assert listed
        wanted = re.search("'([^']*)'", query)
        if "; white space differs" in rest:
            assert wanted
            assert any(
                " ".join(value.split()) == " ".join(wanted.group(1).split()) for value in values
            )
        if "; the case differs" in rest:
            assert wanted
            assert wanted.group(1).casefold() in {value.casefold() for value in values}
        return "values"


def _number(text: str) -> bool:
    return re.fullmatch(r"\s*-?(\d+(\.\d*)?|\.\d+)\s*", text) is not None


def _counts(path: str, facts: _Facts) -> int:
    return len(facts.nodes(path))


def _check(seed: int) -> list[str]:
    random = Random(seed)
    documents = [_element(random, 0) for _ in range(random.randint(1, 4))]
    query, facts = _query(random), _Facts(documents)
    samples = Samples(lambda: inputs([penstock.Document(text) for text in documents]))
    diagnosis = diagnose(penstock.xpath(query), samples, Advice.PROGRAM)
    assert not diagnosis.extent
    for survivors in diagnosis.survivors:
        path = ""
        for shown, count in survivors.stages:
            path += shown
            assert _counts(path, facts) == count, path
    return [facts.check(line, query) for line in (*diagnosis.names, *diagnosis.details)]


def _check_all(seeds: range) -> None:
    kinds = [kind for seed in seeds for kind in _check(seed)]
    said = {"name", "root", "values", "order", "absent", "there", "alone", "namespace", "range"}
    assert said <= set(kinds)


def test_sentences_are_true() -> None:
    _check_all(range(200))


@pytest.mark.slow
def test_many_sentences_are_true() -> None:
    _check_all(range(1000, 3000))


def test_what_was_looked_at_is_said_where_it_is_not_everything() -> None:
    documents = ["<a><b/></a>"] * 3 + ["<a><c/></a>"]
    samples = Samples(lambda: inputs(list(map(penstock.Document, documents))), bytes_max=22)
    found = diagnose(penstock.xpath("//c"), samples, Advice.PROGRAM)
    assert found.decisive()[0].startswith("in the first 2 documents: `//c` 0")


def test_names_behind_damage_are_not_denied() -> None:
    samples = Samples(lambda: inputs([penstock.Document("<a><b/></x><c/></a>")]))
    found = diagnose(penstock.xpath("//c"), samples, Advice.PROGRAM)
    assert found.decisive()[0].startswith("in the part that was looked at: ")


def test_a_long_query_is_diagnosed_in_linear_time() -> None:
    """Each stage is compiled, so their number is bounded, and so is the text of all of them."""
    samples = Samples(lambda: inputs([penstock.Document("<a/>")]))
    found = diagnose(penstock.xpath("//a" + "[b]" * 1000), samples, Advice.PROGRAM)
    assert [one.decisive() for one in found.survivors] == ["`//a` 1 → `[b]` 0"]
