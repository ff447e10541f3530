"""Compiling many texts of few shapes: a shape is compiled once, its queries are filled in.

The first text of a skeleton, with the same kinds of things in its slots, is compiled by itself. The
next one compiles the skeleton with a mark in each slot, its paths left as they are written; that
gives a *recipe*, which holds for all such texts whose variables refer to each other alike. A query
is then made by putting its own names and constants in the place of the marks, and only paths that
never occurred before are brought into normal form. The rows are those that the text would have been
compiled to by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xscl import xscl
from penstock.languages.xscl.skeletons import Role, Skeleton, roles_of, split
from penstock.planning.templates.compiling import compile_join
from penstock.planning.templates.recipes import Recipe, Slots, make_recipe
from penstock.planning.templates.rows import JoinQuery
from penstock.twigs import Event, Query

SHAPES_MAX = 2_000
"""Skeletons that are remembered; the table starts anew when it is full."""

ONCE_MAX = 100_000
"""Skeletons of which it is remembered that they occurred."""

RECIPES_MAX = 64
"""Recipes of one skeleton: variables that refer to each other in another way need another."""

_References = tuple[int, ...]
_Key = tuple[Skeleton, str, str]


class JoinTexts:
    """Compiles texts in XSCL, and remembers their shapes.

    It is a cache of pure results: which texts came before never changes a row.
    """

    def __init__(self) -> None:
        self._shapes: dict[_Key, _Shape | None] = {}
        self._once: set[int] = set()

    def compile(
        self, text: str, options: Mapping[str, Any] | None = None, query: Query | None = None
    ) -> JoinQuery | Query:
        """Return the rows of a text; of a bare block, which joins nothing, the query itself.

        ``options`` are those of ``xscl``; ``query`` is what the text was read to, if it was.

        Raises:
            QueryError: The text is no query, or contains what is not evaluated yet.
        """
        found = split(text)
        if found is None or (options and "variables" in options):
            return _compile(text, options, query)
        skeleton, slots = found
        kinds = "".join([_kind(slot) for slot in slots])
        key = (skeleton, kinds, json.dumps(options, sort_keys=True) if options else "")
        shape = self._shapes.get(key)
        made = None if shape is None else shape.fill(slots)
        if made is not None:
            return made
        compiled = _compile(text, options, query)
        if not isinstance(compiled, JoinQuery):
            return compiled
        if shape is None and self._is_repeated(key):
            roles = roles_of(text)
            shape = self._shapes[key] = None if roles is None else _Shape(roles)
        if shape is not None:
            shape.learn(skeleton, slots, options)
        return compiled

    def _is_repeated(self, key: _Key) -> bool:
        """Whether it is the second text of a shape, which makes the recipe."""
        # Most shapes of a varied set never come again; all that is kept of them is a hash.
        if key in self._shapes:
            return False
        if len(self._shapes) >= SHAPES_MAX:
            self._shapes.clear()
        if len(self._once) >= ONCE_MAX:
            self._once.clear()
        number = hash(key)
        is_known = number in self._once
        self._once.add(number)
        return is_known


class _Shape:
    """The recipes of one skeleton, by how its variables refer to each other."""

    def __init__(self, roles: list[Role]) -> None:
        self._roles = roles
        self._bindings = [n for n, role in enumerate(roles) if role is Role.BINDING]
        self._references = [n for n, role in enumerate(roles) if role is Role.REFERENCE]
        self._recipes: dict[_References, Recipe] = {}

    def fill(self, slots: Slots) -> JoinQuery | None:
        """Return the rows of a text by its slots, or None where there is no recipe for it."""
        references = self._resolve(slots)
        recipe = None if references is None else self._recipes.get(references)
        try:
            return None if recipe is None else recipe.fill(slots)
        except QueryError:
            return None  # the error is raised with the text

    def learn(self, skeleton: Skeleton, slots: Slots, options: Mapping[str, Any] | None) -> None:
        """Make the recipe for a text that compiles."""
        references = self._resolve(slots)
        if references is not None and len(self._recipes) < RECIPES_MAX:
            targets = dict(zip(self._references, references, strict=True))
            self._recipes[references] = make_recipe(skeleton, slots, self._roles, targets, options)

    def _resolve(self, slots: Slots) -> _References | None:
        """Return for each reference the slot of its binding; None where names are at fault."""
        bound = {slots[number]: number for number in self._bindings}
        if len(bound) < len(self._bindings):
            return None
        found = tuple([bound.get(slots[number], -1) for number in self._references])
        return None if -1 in found else found


def _kind(slot: str) -> str:
    """Return whether a slot holds a literal, a number or a name: one never stands for another."""
    if slot[0] in "\"'":
        return "l"
    return "n" if slot[0] in ".0123456789" else "w"


def _compile(
    text: str, options: Mapping[str, Any] | None, query: Query | None
) -> JoinQuery | Query:
    read = xscl(text, **(options or {})) if query is None else query
    return compile_join(read) if isinstance(read.output, Event) else read
