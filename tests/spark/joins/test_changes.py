"""The list of subscriptions of a stream: those that are gone leave it, and no row changes."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import penstock
from penstock.results import Document
from penstock.spark.joins import changes
from tests.spark.joins.helpers.cases import identities
from tests.spark.joins.helpers.local import LocalJoins

LEAVES = "klmn"


def document(random: Random, number: int) -> Document:
    inner = "".join(f"<{leaf}>{random.randrange(3)}</{leaf}>" for leaf in LEAVES)
    name = random.choice("ab")
    return Document(f"<{name}>{inner}</{name}>".encode(), f"d{number}", "S", float(number))


def text_of(random: Random) -> str:
    """Return a query; two drawings often share variables and rows."""
    one, other = random.choice(LEAVES), random.choice(LEAVES)
    pair = f"S//a->x[{one}->k] {{}} S//b->y[{other}->l]"
    match random.randrange(4):
        case 0:
            return pair.format(f"NOT FOLLOWED BY{{k = l, {random.randint(2, 9)}}}")
        case 1:
            first = pair.format(f"FOLLOWED BY{{k = l, {random.randint(2, 9)}}}")
            return f"{first} NOT FOLLOWED BY{{k = m, 7}} S//b->z[{one}->m]"
        case 2:
            return f"{pair.format('JOIN{k = l, INF}')} JOIN{{l = m, 20}} S//a->z[{one}->m]"
        case _:
            return pair.format(f"JOIN{{k = l, {random.randint(2, 9)}}}")


def played(
    folder: Path, seed: int, gone_min: int, buckets: int
) -> tuple[list[Any], list[tuple[int, int]]]:
    """Return what a stream gives whose subscriptions come and go, and the sizes of its lists."""
    random, rows, sizes = Random(seed), [], []
    registry = penstock.Registry.open(folder / "registry")
    number = 0
    for batch in range(25):
        for name in sorted(one.name for one in registry):
            if random.random() < 0.4:
                registry.remove(name)
        for _ in range(random.randrange(4)):
            registry.add(f"q{number}", penstock.xscl(text_of(random)))
            number += 1
        documents = [document(random, 10 * batch + at) for at in range(random.randrange(4))]
        with patch.object(changes, "GONE_MIN", gone_min):
            # Whoever goes on begins anew, with nothing but the folder.
            joins = LocalJoins(folder / "state", registry, lateness=30, buckets=buckets)
            rows += joins.batch(batch, documents)
        last = joins.state.last()
        assert last is not None
        listed = [changes.read_changes(str(joins.state.folder), one) for one, _ in last.changes]
        sizes.append((sum(len(one.added) for one in listed), len(registry)))
    return identities(rows), sizes


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_gone_leaves_the_list_and_no_row_changes(tmp_path: Path, seed: int) -> None:
    buckets = 1 + seed % 3
    kept, all_sizes = played(tmp_path / "kept", seed, 1 << 30, buckets)
    left, sizes = played(tmp_path / "left", seed, 1, buckets)
    assert left == kept
    assert len(kept) > 20
    assert all_sizes[-1][0] > 20, "all that ever were"
    assert all(listed <= max(2 * live, 1) for listed, live in sizes)


def test_a_batch_that_comes_again_before_the_list_was_shortened_finds_it(tmp_path: Path) -> None:
    registry = penstock.Registry.open(tmp_path / "registry")
    same = penstock.xscl("S//a->x[k->y] JOIN{y = z, INF} S//b->w[k->z]")
    state = tmp_path / "state"
    with patch.object(changes, "GONE_MIN", 1):
        registry.add("one", same)
        registry.add("two", same)
        a = Document(b"<a><k>1</k></a>", "a", "S", 0.0)
        b = Document(b"<b><k>1</k></b>", "b", "S", 1.0)
        LocalJoins(state, registry).batch(0, [a])
        registry.remove("one")
        first = identities(LocalJoins(state, registry).batch(1, [b]))
        manifest = LocalJoins(state, registry).state.last()
        assert manifest is not None
        assert [one for one, _ in manifest.changes] == [1]
        # As if it had been killed before its manifest, and its changes had not been kept.
        (state / "manifests" / "1.json").unlink()
        (state / "changes" / "1.json").unlink()
        assert identities(LocalJoins(state, registry).batch(1, [b])) == first
    assert [row[0] for row in first] == ["two"]


def test_a_state_from_before_there_were_short_lists_is_read(tmp_path: Path) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl("S//a->x[k->y] JOIN{y = z, INF} S//b->w[k->z]"))
    LocalJoins(tmp_path, registry).batch(0, [Document(b"<a><k>1</k></a>", "a", "S", 0.0)])
    path = tmp_path / "changes" / "0.json"
    entry = json.loads(path.read_bytes().splitlines()[0])
    for name in ("is_whole", "count", "vacant"):
        del entry[name]
    for name in ("version", "variables", "rows"):
        del entry["added"][0][name]
    changes.write_checked(path, entry)
    rows = LocalJoins(tmp_path, registry).batch(1, [Document(b"<b><k>1</k></b>", "b", "S", 1.0)])
    assert [row["documents"] for row in rows] == [["a", "b"]]
