"""A program that was filled in is the one that the text compiles to, byte for byte."""

from random import Random

import pytest

from penstock.errors import PenstockError, QueryError
from penstock.languages.xpath import xpath
from penstock.languages.xpath.plain import STEPS_MAX, plain_query
from penstock.languages.xpath.skeletons import split
from penstock.planning.compile import compile_form
from penstock.planning.forms import SHAPES_MAX, Forms
from penstock.planning.modes import Mode, compile_in_mode
from penstock.planning.rewrites.truth_values import TRUTHS_MAX
from penstock.twigs.blanks import BLANKS, ExaminedError, Trace
from penstock_testing.generate import NAMESPACES, random_expression, random_xpath

STRINGS = ["", "x", "y", "a", "b", " ", "5", "-1", "1e3", "NaN", "true", "ü€", "it's", "0", "item"]
NAMES = "a b ab a-b a.b aa Z _x or1 ordiv true text count id lang div item ü A-".split()
NUMBERS = ["0", "1", "5", "5.0", ".5", "1e999", "0.1", "100000000000000000000", "3.", "1e-400"]
# Shapes whose programs depend on what their constants are: folded, merged, ordered, placed.
SHAPES = """
//a[b = S]
//a[b = S and b = S]
//a[b = S or c < N or b = S]
//a[not(b = S) and b = S]
//a[b != S and not(b = S)]
//a[b > N and b < N]
//a[b > -N]
//a[b > N + N * N]
//a[N = N]
//a[S = S or b]
//a[b < S]
//a[number(S) = b]
//a[contains(b, S)]
//a[contains(@b, S) and @c]
//a[starts-with(S, S)]
//a[string(@b) = S]
//a[string(@b) != S]
//a[substring-after(b, S) = S]
//a[translate(@b, S, S) = S]
//a[concat(S, b, S) = S]
//a[string-length(b) > N]
//a[@b = S] | //a[@b = S]
//a[/r/x = S and b = S]
//a[/r/x = S or /r/x = S]
//a[(b = S) = (c = N)]
//a[(b = S) != (N < N)]
//a[boolean(S) and boolean(N)]
//a[number(b = S) = N]
count(//a[b = S])
string(//a[b = S])
//a = S
//a[S]/b[c = S]
//processing-instruction(S)
//a[substring(b, N, N) = S]
//a[round(N) = b]
//a[b-1 = N]
//a[b -1 = N]
//a[b = N][c = S]/@d
//a[N]
//a[-N]/b
//a[N + N]
//a[position() < N]
//a[position() = N or last() = N]
//a[position() mod N = N]
//a[b = S][N]
(//a[b = S])[N]
//a[. = S]/..
//a[. = S]/../b[c = S]
//a[../b = S or ../b = S]
//a[. = S]/preceding-sibling::b[N]
//a/following::b[contains(., S) and N]
//a[b = S]/ancestor::c[@d = S] | //a[b = S]/ancestor::c[@d = S]
//a[b = c or S]
//a[b = c][boolean(N)]
//a[b = c][not(boolean(S))]
//a[b = c and (starts-with(S, S) or b = S)]
//a[b = c][S = S]
//a[(b = c) = boolean(S)]
//a[(b = c) = (S = N)]
//a[lang(S)]
//a[id(S)]
id(S)/a[b = S]
count(//a) > N
count(//a[b = S]) = N + N
count(//a[N])
sum(//a[N]/b) div N
string(//a[N])
//a[count(b) > N]/c[. = S]
//a[sum(b) > N and b = S]
concat(//a[N], S, S)
//a[string(N) = ../b]
//a[b > -N and ../c]
//a[b and c]
//a[b or not(c) or ab[d]]
//a[b = c and c = d]
//a[c = S or b = S]/b
//a[b] | //c[d] | //a-b
//a[p:b and @c and q:*]
//a/b[c[d]/e and d]/@f
//a[name() = S or b]
//a[count(c) > N and b]/following::c[N]
//a[b = //c][N] | //b[c = //a]
""".strip().splitlines()


def fresh(text: str, mode: Mode) -> bytes | str:
    try:
        return compile_in_mode(xpath(text, namespaces=NAMESPACES), mode)
    except PenstockError as error:
        return repr(error)


def cached(forms: Forms, text: str, mode: Mode) -> bytes | str:
    try:
        return forms.compile(text, mode, {"namespaces": NAMESPACES})
    except PenstockError as error:
        return repr(error)


def with_values(random: Random, text: str) -> str:
    """Return the text with other names, and other constants of the same types; often equal ones."""
    found = split(text)
    if found is None:
        return text
    strings = random.choices(STRINGS, k=2) if random.random() < 0.5 else STRINGS
    numbers = random.choices(NUMBERS, k=2) if random.random() < 0.5 else NUMBERS
    skeleton, values = found
    # Mostly each name has another that no other has: then the shape is the same.
    names = (
        random.sample(NAMES, len(NAMES)) if random.random() < 0.8 else random.choices(NAMES, k=9)
    )
    written = [names[place % len(names)] for place in range(len(values))]
    pieces = [
        written[int(piece)]
        if index % 2 and piece.isdigit()
        else fill(random, strings, numbers, piece, index)
        for index, piece in enumerate(skeleton)
    ]
    return "".join(pieces)


def fill(random: Random, strings: list[str], numbers: list[str], piece: str, index: int) -> str:
    if index % 2 == 0:
        return piece
    if piece == "number":
        return random.choice(numbers)
    value = random.choice(strings)
    return f'"{value}"' if "'" in value or random.random() < 0.5 else f"'{value}'"


def check(random: Random, forms: Forms, text: str, count: int) -> None:
    mode = random.choice(("query", "query", "filter", "running"))
    for _ in range(count):
        variant = with_values(random, text)
        assert cached(forms, variant, mode) == fresh(variant, mode), (variant, mode)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_that_look_at_their_constants_are_exact(shape: str) -> None:
    random = Random(shape)
    text = "".join({"S": "'s'", "N": "1"}.get(one, one) for one in shape)
    check(random, Forms(), text, 60)


def test_random_queries_with_random_constants_are_exact() -> None:
    random, forms = Random(5), Forms()
    for seed in range(250):
        check(random, forms, random_expression(Random(seed)), 8)
        check(random, forms, random_xpath(Random(seed)), 8)


@pytest.mark.slow
def test_many_random_queries_with_random_constants_are_exact() -> None:
    random, forms = Random(6), Forms()
    for seed in range(1_000_000, 1_020_000):
        check(random, forms, random_expression(Random(seed)), 12)
        check(random, forms, random_xpath(Random(seed)), 12)


OPTIONS: list[dict[str, object]] = [
    {"select": {"one": "@id", "two": "../b[c = 'x'][2]"}},
    {"select": {"two": "../b[c = 'x'][2]", "one": "@id"}},
    {"context": "//a[b = 'x'][2]"},
    {"dialect": "xsq"},
]


@pytest.mark.parametrize("mode", ["query", "filter"])
def test_options_are_part_of_a_shape(mode: Mode) -> None:
    forms = Forms()
    for names in ("abc", "abc", "xyz", "bca", "aab", "xbx", "cxy"):
        for options in OPTIONS:
            text = "//{}[{} = 'x']/{}".format(*names)
            fresh_one = compile_in_mode(xpath(text, **options), mode)  # type: ignore[arg-type]
            assert forms.compile(text, mode, options) == fresh_one, (text, options)


@pytest.mark.parametrize("shape", ["//{}[{} = {}]/{}", "//{}[//{} and {}]", "{}[{} contains {}]"])
def test_words_of_the_dialect_are_part_of_a_shape(shape: str) -> None:
    forms = Forms()
    for names in ("abcd", "xyzw", "aabb", "abab", "abba", "pqrs", "abca"):
        text = shape.format(*names)
        expected = compile_in_mode(xpath(text, dialect="xsq"), "query")
        assert forms.compile(text, "query", {"dialect": "xsq"}) == expected, text


@pytest.mark.parametrize("text", ["//a[{}]", "//a[. = '{}']/following::b", "count(//a[{}]) > {}"])
def test_expressions_are_filled_in_too(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forms = Forms()
    for number in (2, 3):
        forms.compile(text.format(number, number), "query")
    expected = fresh(text.format(7, 7), "query")
    monkeypatch.setattr("penstock.planning.forms.xpath", None)
    assert forms.compile(text.format(7, 7), "query") == expected


def test_twigs_that_become_an_expression_are_read_anew() -> None:
    truths = " + ".join(f"number(b{number} = 'x')" for number in range(TRUTHS_MAX + 1))
    forms = Forms()
    for word in ("p", "q", "r", "s"):
        text = f"//a[{truths} = 1 and c = '{word}']"
        assert cached(forms, text, "query") == fresh(text, "query")


def test_the_third_query_of_a_shape_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = Forms()
    for word in ("a", "b"):
        forms.compile(f"//x[y = '{word}' and z > -2]", "query")
    expected = fresh("//x[y = 'x' and z > -7]", "query")
    monkeypatch.setattr("penstock.planning.forms.xpath", None)
    assert forms.compile("//x[y = 'x' and z > -7]", "query") == expected


def test_a_path_of_known_shape_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = Forms()
    for names in ("abc", "xyz"):
        forms.compile("//{}[{} and {}]/@{}".format(*names, names[0]), "query")
    expected = fresh("//one[more and two]/@one", "query")
    assert expected == fresh("//one[two and more]/@one", "query")
    monkeypatch.setattr("penstock.planning.forms.xpath", None)
    assert forms.compile("//one[more and two]/@one", "query") == expected


@pytest.mark.parametrize("mode", ["query", "filter"])
def test_plain_paths_are_those_of_the_language(mode: Mode) -> None:
    random = Random(7)
    for _ in range(500):
        steps = random.choices(("/", "//"), k=random.randint(1, 8))
        text = "".join(step + random.choice((*NAMES, "*", "*")) for step in steps)
        assert plain_query(text) is not None
        assert Forms().compile(text, mode) == compile_in_mode(xpath(text), mode), text


@pytest.mark.parametrize(
    "text", ["", "/", "//", "a", "/a/", "/a///b", "/a/..", "/a()", "/p:a", "/a b", "/a|/b", "/@a"]
)
def test_other_texts_are_no_plain_paths(text: str) -> None:
    assert plain_query(text) is None


def test_a_plain_path_has_its_bounds() -> None:
    for steps in (STEPS_MAX, STEPS_MAX + 1, 101, 200):
        text = "/a" * steps
        assert (plain_query(text) is None) == (steps > STEPS_MAX)
        assert cached(Forms(), text, "query") == fresh(text, "query")


def test_the_table_of_shapes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.planning.forms.SHAPES_MAX", 3)
    forms = Forms()
    for number in range(10):
        forms.compile("//x" + "/x" * number + "[y = 1]", "query")
        assert len(forms._shapes) <= 3 < SHAPES_MAX


def test_who_looks_at_a_blank_without_asking_is_stopped() -> None:
    blank = Trace().blank(1.0)
    looks = [
        lambda: blank == 1,
        lambda: blank < 1,
        lambda: bool(blank),
        lambda: float(blank),
        lambda: int(blank),
        lambda: f"{blank}",
        lambda: {blank},
        lambda: blank + 1,
        lambda: -blank,
    ]
    for look in looks:
        with pytest.raises(ExaminedError):
            look()


def test_a_query_with_blanks_has_gaps() -> None:
    parts = compile_form(xpath("//a[b = 'x' and c = 5]", trace=Trace()))
    assert sorted(part.place for part in parts if isinstance(part, BLANKS)) == [0, 1, 2, 3, 4]


def test_a_text_that_is_too_long_is_refused_though_its_shape_is_known() -> None:
    forms = Forms()
    for _ in range(3):
        forms.compile("//a[b = 'x']", "query")
    with pytest.raises(QueryError) as caught:
        forms.compile(f"//a[b = '{'x' * 100_000}']", "query")
    assert caught.value.code == "PQ0106"
