"""Templates are isomorphism classes: the counts of MMQJP's table 3 and of its section 6.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product
from random import Random

import pytest

from penstock.planning.templates.isomorphism import Joins, Parents, mirror, number_slots
from penstock.planning.templates.shapes import TOP, Template

Hierarchy = int | tuple["Hierarchy", ...]
Shapes = Callable[[Sequence[int]], Iterator[Hierarchy]]


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], list(items[1:])
    for count in range(len(rest) + 1):
        for chosen in combinations(rest, count):
            others = [item for item in rest if item not in chosen]
            for partition in partitions(others):
                yield [[first, *chosen], *partition]


def flat(leaves: Sequence[int]) -> Iterator[Hierarchy]:
    """Yield the one tree of a schema of two levels."""
    yield leaves[0] if len(leaves) == 1 else tuple(leaves)


def nested(leaves: Sequence[int]) -> Iterator[Hierarchy]:
    """Yield every tree whose inner nodes have two children at least."""
    if len(leaves) == 1:
        yield leaves[0]
        return
    for parts in partitions(leaves):
        if len(parts) > 1:
            yield from product(*(list(nested(part)) for part in parts))


def tree(hierarchy: Hierarchy) -> tuple[Parents, dict[int, int]]:
    """Return the parents of a tree, and the node of each leaf."""
    parents: list[int] = []
    leaves: dict[int, int] = {}

    def walk(part: Hierarchy, parent: int) -> None:
        node = len(parents)
        parents.append(parent)
        if isinstance(part, tuple):
            for below in part:
                walk(below, node)
        else:
            leaves[part] = node

    walk(hierarchy, TOP)
    return tuple(parents), leaves


def templates(count: int, shapes: Shapes) -> set[Template]:
    """Return the templates of all joins with so many value joins between leaves."""
    found = set()
    cells = list(product(range(count), repeat=2))
    for pairs in combinations(cells, count):
        sides = [sorted({pair[side] for pair in pairs}) for side in (0, 1)]
        if any(side != list(range(len(side))) for side in sides):
            continue  # the same with other numbers
        for left, right in product(*(list(shapes(side)) for side in sides)):
            (left_parents, left_leaves), (right_parents, right_leaves) = tree(left), tree(right)
            joins = tuple((left_leaves[one], right_leaves[other]) for one, other in pairs)
            found.add(number_slots(left_parents, right_parents, joins)[0])
    return found


@pytest.mark.parametrize(("joins", "count"), [(1, 1), (2, 3), (3, 6), (4, 16)])
def test_table_3_a_flat_schema(joins: int, count: int) -> None:
    assert len(templates(joins, flat)) == count


@pytest.mark.parametrize(("joins", "count"), [(1, 1), (2, 3), (3, 16), (4, 215)])
def test_table_3_a_complex_schema(joins: int, count: int) -> None:
    assert len(templates(joins, nested)) == count


def three_levels(leaves: Sequence[int]) -> Iterator[Hierarchy]:
    """Yield the minors of a schema whose leaves are two levels below the root."""
    for parts in partitions(leaves):
        groups = tuple(part[0] if len(part) == 1 else tuple(part) for part in parts)
        yield groups[0] if len(groups) == 1 else groups


@pytest.mark.parametrize(("joins_max", "count"), [(2, 2), (3, 6), (4, 22)])
def test_section_6_1_mirrored_templates_are_counted_once(joins_max: int, count: int) -> None:
    found: set[frozenset[Template]] = set()
    for joins in range(1, joins_max + 1):
        leaves = list(range(joins))
        for left, right in product(list(three_levels(leaves)), repeat=2):
            (left_parents, left_leaves), (right_parents, right_leaves) = tree(left), tree(right)
            pairs = tuple((left_leaves[n], right_leaves[n]) for n in leaves)
            template = number_slots(left_parents, right_parents, pairs)[0]
            found.add(frozenset({template, mirror(template)}))
    assert len(found) == count


def random_graph(random: Random) -> tuple[Parents, Parents, Joins]:
    sides = [
        (TOP, *(random.randrange(node) for node in range(1, random.randint(2, 6))))
        for _ in range(2)
    ]
    pairs = list(product(range(len(sides[0])), range(len(sides[1]))))
    joins = random.sample(pairs, random.randint(1, min(5, len(pairs))))
    return sides[0], sides[1], tuple(joins)


def renumbered(random: Random, parents: Parents) -> tuple[Parents, list[int]]:
    """Return the same tree with its nodes in another order, and the new number of each."""
    order = [0]
    open_nodes = [node for node, parent in enumerate(parents) if parent == 0]
    while open_nodes:
        node = open_nodes.pop(random.randrange(len(open_nodes)))
        order.append(node)
        open_nodes += [below for below, parent in enumerate(parents) if parent == node]
    numbers = [order.index(node) for node in range(len(parents))]
    moved = tuple(TOP if parents[n] == TOP else numbers[parents[n]] for n in order)
    return moved, numbers


def test_isomorphic_joins_have_one_template() -> None:
    random = Random(8)
    for _ in range(300):
        left, right, joins = random_graph(random)
        (other_left, lefts), (other_right, rights) = (
            renumbered(random, left),
            renumbered(random, right),
        )
        moved = [(lefts[one], rights[other]) for one, other in joins]
        random.shuffle(moved)
        assert (
            number_slots(left, right, joins)[0]
            == number_slots(other_left, other_right, tuple(moved))[0]
        )


def is_isomorphic(one: tuple[Parents, Parents, Joins], other: Template) -> bool:
    """Say by trying all numberings whether a join has the shape of a template."""
    left, right, joins = one
    if (len(left), len(right), len(joins)) != (len(other.left), len(other.right), len(other.joins)):
        return False

    def keeps(parents: Parents, others: Parents) -> Iterator[tuple[int, ...]]:
        for numbers in permutations(range(len(parents))):
            if all(
                others[numbers[node]] == (TOP if parent == TOP else numbers[parent])
                for node, parent in enumerate(parents)
            ):
                yield numbers

    wanted = set(other.joins)
    return any(
        {(lefts[a], rights[b]) for a, b in joins} == wanted
        for lefts in keeps(left, other.left)
        for rights in keeps(right, other.right)
    )


def test_a_template_has_the_shape_of_its_joins_and_of_no_others() -> None:
    random = Random(9)
    graphs = [random_graph(random) for _ in range(40)]
    for graph in graphs:
        template, left, right = number_slots(*graph)
        assert sorted(left) == list(range(len(graph[0])))
        assert sorted(right) == list(range(len(graph[1])))
        assert is_isomorphic(graph, template)
        for other in graphs:
            same = number_slots(*other)[0] == template
            assert same == is_isomorphic(other, template)


def test_many_equal_leaves_are_numbered_at_once() -> None:
    leaves = 200
    parents = (TOP, *[0] * leaves)
    random = Random(1)
    partners = random.sample(range(1, leaves + 1), leaves)
    joins = tuple(zip(range(1, leaves + 1), partners, strict=True))
    straight = tuple((leaf, leaf) for leaf in range(1, leaves + 1))
    assert number_slots(parents, parents, joins)[0] == number_slots(parents, parents, straight)[0]
