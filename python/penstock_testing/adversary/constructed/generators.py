"""Queries that make much of little. Add further ways to make values to the lists."""

from __future__ import annotations

from random import Random

from penstock_testing.adversary.costs.cases import Case, Question, Way

GOOD = b"<r><a>1</a><b x='2'>3</b></r>"

TREES = (
    "<a>{$v}{$v}</a>",
    "<a>{$v, $v/node(), $v}</a>",
    "<a b='{$v}{$v}'>{$v}</a>",
    "<p:a xmlns:p='urn:{{$n}}'>{$v}<p:b>{$v}</p:b></p:a>",
    "element {concat('n', $n)} {attribute x {$v}, $v, $v}",
    "document {($v, <x/>, $v)}",
    "<a>{for $i in 1 to 3 return $v}</a>",
    "<a>{text {($v, $v)}}{comment {translate(string($v), '-', '')}}{$v}</a>",
    "<a>{processing-instruction p {replace(string($v), '\\?>', '')}}{$v, $v}</a>",
    "<a>{$v//@*, $v, $v}</a>",
)
"""Ways to make a larger element of the one that ``$v`` is."""
SEQUENCES = (
    "($v, $v)",
    "($v, reverse($v))",
    "insert-before($v, 2, $v)",
    "(remove($v, 1), $v, <x>{count($v)}</x>)",
    "for $i in $v return ($i, <x/>)",
    "for $i in $v, $j in 1 to 2 return $i",
    "(subsequence($v, 1, 1000000), $v)",
    "for $i in $v order by string($i) return ($i, $i)",
    "($v, for $i in $v return string($i))",
    "(1 to 2 * count($v))",
)
"""Ways to make a longer sequence of the one that ``$v`` is."""
TEXTS = (
    "concat($v, $v)",
    "string-join(($v, $v), $v)",
    "replace($v, '.+', '$0$0', 's')",
    "replace($v, '.', '$0$0$0', 's')",
    "concat(upper-case($v), normalize-unicode($v, 'NFKD'), 'ﷺß')",
    "concat('é', encode-for-uri($v))",
    "codepoints-to-string((string-to-codepoints($v), string-to-codepoints($v)))",
    "string-join(tokenize(concat($v, ' ', $v), ' '), '  ')",
    "translate(concat($v, $v), 'x', '😀')",
    "string(<a>{$v}{$v}</a>)",
    "string-join(for $i in 1 to 3 return $v, 'x')",
)
"""Ways to make a longer text of the one that ``$v`` is."""
MADE = {"tree": TREES, "sequence": SEQUENCES, "text": TEXTS}
SEEDS = {
    "tree": ("<x/>", "<x y='1'>t</x>", "/r", "//a[1]"),
    "sequence": ("(1, 2)", "(<x/>, 'x')", "//a", "//node()"),
    "text": ("'x'", "'x y'", "string(/r)", "'é'"),
}
USES = {
    "tree": ("{}", "count({}//node())", "<m>{{{}}}</m>", "string-length(string({}))"),
    "sequence": ("count({})", "{}", "<m>{{{}}}</m>", "count(distinct-values({}))"),
    "text": ("string-length({})", "{}", "<m>{{{}}}</m>", "<m n='{{{}}}'/>"),
}
LOOPS = (
    "for $i in 1 to 100000000 return <a>{//a}</a>",
    "string-join(for $i in 1 to 100000000 return 'xxxxxxxx', '')",
    "count(for $i in 1 to 100000000 return <a b='{$i}'><c/></a>)",
    "<m>{for $i in 1 to 100000000 return string(/r)}</m>",
    "let $t := string(/r) for $i in 1 to 100000000 where $t = concat($t, '!') return $i",
    "max(for $i in 1 to 100000000 return string-length(concat('x', $i)))",
    "count(for $i in 1 to 100000000 return string-to-codepoints('abcdefgh'))",
    "for $a in //a return for $i in 1 to 10000000 return $a",
    "count(tokenize(string-join(for $i in 1 to 100000000 return 'a b', ' '), ' '))",
    "matches('a', string-join(for $i in 1 to 4000 return concat('(a', $i, ')?'), ''))",
    "for $i in 1 to 100000 return matches('a', concat('(\\w{200}){20}x{', $i, '}'))",
)
"""Queries that make much without functions of their own."""
CHEAP = ("//a", "//b[@x]", "count(//a)", "//a[. = '1']", "for $a in //a return <m>{$a}</m>")
WAYS: tuple[Way, ...] = ("run", "run", "ordered", "batches", "bundle")
"""A document that was pushed cannot be read again without the subscription that is to blame."""


def write_case(seed: int) -> Case:
    """Return the case of a seed: one or two queries that make much, beside cheap ones."""
    random = Random(seed)
    queries = [write_query(random) for _ in range(random.choice((1, 1, 1, 2)))]
    queries += random.sample(CHEAP, 2)
    random.shuffle(queries)
    copies = random.choice((1, 1, 20, 400))
    text = random.choice(("x", "x y ", "é")) * random.choice((1, 30))
    elements = f"<a k='1'>{text}<b/></a>" * copies
    document = f"<r>{elements}<b x='2'/></r>".encode()
    questions: tuple[Question, ...] = tuple((query, "query") for query in queries)
    return Case("constructed data", questions, (document,), GOOD, random.choice(WAYS))


def write_query(random: Random) -> str:
    """Return a query in XQuery that makes much."""
    if random.random() < 0.2:
        return _declared("", random.choice(LOOPS))
    kind = random.choice(tuple(MADE))
    first, use = random.choice(SEEDS[kind]), random.choice(USES[kind])
    count = random.choice((8, 20, 26, 40, 200, 900))
    if random.random() < 0.25:
        return _declared("", _unrolled(random, kind, first, use))
    steps = [random.choice(MADE[kind]) for _ in range(random.choice((1, 1, 2)))]
    step = steps[0] if len(steps) == 1 else f"if ($n mod 2 eq 0) then {steps[0]} else {steps[1]}"
    function = f"if ($n eq 0) then $v else let $v := ({step}) return local:g($v, $n - 1)"
    called = use.format(f"local:g({first}, {count})")
    return _declared(f"declare function local:g($v, $n as xs:integer) {{ {function} }}; ", called)


def _unrolled(random: Random, kind: str, first: str, use: str) -> str:
    """Return the same without a function: one variable after the other."""
    count = random.choice((10, 25, 40))
    steps = (random.choice(MADE[kind]).replace("$n", "1") for _ in range(count))
    lets = " ".join(f"let $v := ({step})" for step in steps)
    return f"let $v := ({first}) {lets} return {use.format('$v')}"


def _declared(functions: str, body: str) -> str:
    """Return a query that is told from XPath by its first word."""
    return f"{functions or 'declare variable $none := (); '}{body}"
