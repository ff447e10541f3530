"""The reduction keeps what joins and the lowest common ancestors, and nothing else."""

from itertools import combinations
from random import Random

import pytest

from penstock.planning.templates.minors import reduce_tree
from penstock.planning.templates.shapes import TOP

#        0
#       / \
#      1   5
#     / \   \
#    2   4   6
#    |
#    3
PARENTS = [TOP, 0, 1, 2, 1, 0, 5]


@pytest.mark.parametrize(
    ("wanted", "nodes", "parents"),
    [
        ({3}, [3], [TOP]),
        ({3, 4}, [1, 3, 4], [TOP, 0, 0]),
        ({3, 6}, [0, 3, 6], [TOP, 0, 0]),
        ({2, 3}, [2, 3], [TOP, 0]),
        ({3, 4, 6}, [0, 1, 3, 4, 6], [TOP, 0, 1, 1, 0]),
        ({0, 3}, [0, 3], [TOP, 0]),
        (set(), [], []),
    ],
)
def test_examples(wanted: set[int], nodes: list[int], parents: list[int]) -> None:
    assert reduce_tree(PARENTS, wanted) == (nodes, parents)


def ancestors(parents: list[int], node: int) -> list[int]:
    """Return a node and what is above it, from the node up."""
    found = []
    while node != TOP:
        found.append(node)
        node = parents[node]
    return found


def test_random_trees_keep_the_common_ancestors_of_all_pairs() -> None:
    random = Random(3)
    for _ in range(300):
        parents = [TOP, *(random.randrange(node) for node in range(1, random.randint(2, 12)))]
        wanted = set(random.sample(range(len(parents)), random.randint(1, len(parents))))
        common = {
            next(a for a in ancestors(parents, one) if a in ancestors(parents, other))
            for one, other in combinations(wanted, 2)
        }
        nodes, above = reduce_tree(parents, wanted)
        assert set(nodes) == wanted | common
        for node, place in zip(nodes, above, strict=True):
            higher = [a for a in ancestors(parents, node)[1:] if a in nodes]
            assert (TOP if place == TOP else nodes[place]) == (higher[0] if higher else TOP)
