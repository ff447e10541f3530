"""View configurations: ordered lists of XPaths, named by their content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from penstock.errors import QueryError, SettingError
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.routing.paths import Path, Position, bindings_of, positions, view_path

FORMAT = 1
"""The version of what an id is made from, and of configurations as JSON."""
VIEWS_MAX = 4096


@dataclass(frozen=True, slots=True)
class View:
    """One XPath of a configuration; with ``parts`` its element may be parsed for what is inside."""

    path: str
    parts: bool = False


class Configuration:
    """The views that a producer computes for each document, in order.

    ``id`` is made from the content: equal configurations have equal ids, on every machine. A
    view is any path of XPath 1.0. For elements that occur up to k times list the positions
    ``[1]`` to ``[k+1]``: the last one says that there are no more. For nested elements list an
    ancestor with ``parts``: servers parse its element for the paths below it.

    Servers of this process that were given no configurations know all that were made here.

    Raises:
        QueryError: A view is no path, or not one that is evaluated; or it is listed twice.
    """

    def __init__(
        self, views: Iterable[str | View] = (), *, namespaces: NamespaceMap | None = None
    ) -> None:
        self.views = tuple(View(view) if isinstance(view, str) else view for view in views)
        self.bindings = bindings_of(namespaces)
        if len(self.views) > VIEWS_MAX:
            raise SettingError("PV0002", f"there are more than {VIEWS_MAX} views")
        self.paths = tuple(view_path(view.path, self.bindings) for view in self.views)
        self.places: dict[bytes, int] = {}
        for place, path in enumerate(self.paths):
            if self.places.setdefault(path.key, place) != place:
                message = f"the view is the same as `{self.views[self.places[path.key]].path}`"
                span = (0, len(path.text))
                raise QueryError("PQ0603", message, span, "list it once", path.text)
        self.id = sha256(self._content().encode()).digest()[:8]
        KNOWN.setdefault(self.id, self)

    def _content(self) -> str:
        content = [FORMAT, [[view.path, view.parts] for view in self.views], self.bindings]
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    def place(self, path: Path) -> int | None:
        """Return which view a path is, or None."""
        return self.places.get(path.key)

    @cached_property
    def positioned(self) -> dict[tuple[bytes, bytes], dict[int, int]]:
        """By path and step: the views of its positions. The path may be the step itself."""
        found: dict[tuple[bytes, bytes], dict[int, int]] = {}
        for place, path in enumerate(self.paths):
            for position in positions(path):
                found.setdefault(_family(position), {})[position.position] = place
        return found

    def __len__(self) -> int:
        return len(self.views)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Configuration {self.id.hex()}, {len(self)} views>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.views, dict(self.bindings))

    def to_json(self) -> str:
        """Return the configuration as JSON, for a file that producers and servers share."""
        views = [{"path": v.path, "parts": True} if v.parts else v.path for v in self.views]
        content: dict[str, Any] = {"format": FORMAT, "id": self.id.hex(), "views": views}
        if self.bindings:
            content["namespaces"] = {prefix: list(uris) for prefix, uris in self.bindings}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Configuration:
        """Return the configuration that JSON describes; an id in it has to be right.

        Raises:
            SettingError: The text describes none, or its id is that of another one.
            QueryError: A view is no path.
        """
        try:
            content = json.loads(text)
            if content.get("format", FORMAT) != FORMAT:
                message = f"the configuration has format {content['format']!r}; this version of "
                message += f"Penstock reads format {FORMAT}; make it of its views anew"
                raise SettingError("PV0001", message)
            views = [_view(view) for view in content["views"]]
            made = Configuration(views, namespaces=content.get("namespaces"))
            said = content.get("id", made.id.hex())
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SettingError("PV0001", f"this is no view configuration: {error!r}") from None
        if said != made.id.hex():
            raise SettingError(
                "PV0003", f"the id is {said!r}, but the views have {made.id.hex()!r}"
            )
        return made


KNOWN: dict[bytes, Configuration] = {}
"""Every configuration that was made in this process, by id."""


def _view(described: object) -> View:
    if isinstance(described, str):
        return View(described)
    if isinstance(described, Mapping) and isinstance(described.get("path"), str):
        return View(described["path"], bool(described.get("parts", False)))
    raise ValueError(f"{described!r} is no view")


def _rebuild(views: Iterable[View], namespaces: NamespaceMap) -> Configuration:
    return Configuration(views, namespaces=namespaces)


def _family(position: Position) -> tuple[bytes, bytes]:
    return position.base.key, position.step.key
