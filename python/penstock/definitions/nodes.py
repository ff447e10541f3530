"""YAML with places: every complaint names the line and the column of what is wrong.

Reading goes on after a mistake, so that all mistakes of a file are reported together.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from penstock.definitions.mistakes import ConfigurationError, Text
from penstock.errors import QueryError

_KINDS = {"map": "keys with values", "seq": "a list", "str": "text", "int": "a whole number"}
_SCALARS = ("str", "int", "float", "bool", "timestamp")
_KINDS |= {"float": "a number", "bool": "a truth value", "null": "nothing", "timestamp": "a date"}

_WRITTEN = {
    "keys with values": "keys with values, as in `key: value`",
    "a list": "a list, as in `[one, two]`",
    "text": "text, in quotes if it has other signs than letters",
    "a whole number": "a whole number, as in `1000`",
}
"""How what is wanted is written."""

_SHOWN_MAX = 40
"""So many possible values are listed; subscriptions may be very many."""

T = TypeVar("T")


class Node:
    """A value of the file, with its place; ``key`` is the node of its key, if it has one."""

    def __init__(self, node: Any, text: Text, key: Any = None) -> None:
        self._node = node
        self._text = text
        self._key = key

    @property
    def holder(self) -> Text:
        """The text of the file that it stands in."""
        return self._text

    @property
    def kind(self) -> str:
        """What it is, in YAML's words: map, seq, str, int, float, bool, null."""
        tag: str = self._node.tag
        return tag.removeprefix("tag:yaml.org,2002:")

    def error(self, code: str, message: str, way_out: str = "") -> ConfigurationError:
        """Return a complaint about the value."""
        return self._text.error(code, message, self._node.start_mark, self._node.end_mark, way_out)

    def missing(self, name: str) -> ConfigurationError:
        """Return a complaint about a key that is not there."""
        return self.error("PC0003", f"the key `{name}` is missing here", f"add `{name}: …` here")

    def fields(
        self,
        allowed: Iterable[str],
        required: Iterable[str] = (),
        hints: Mapping[str, str] | None = None,
    ) -> Fields:
        """Return the values by key; keys that are unknown or missing are reported.

        ``hints`` are ways out for keys that people look for here.

        Raises:
            ConfigurationError: It has no keys.
        """
        known = tuple(allowed)
        values = self.entries()
        meant: set[str] = set()
        for name in [name for name in values if name not in known]:
            close = get_close_matches(name, known, 1)
            meant |= set(close)
            way_out = (hints or {}).get(name) or choice_hint(name, known)
            key = values.pop(name)._key
            self._text.report(
                self._text.error(
                    "PC0002",
                    f"there is no key `{name}` here",
                    key.start_mark,
                    key.end_mark,
                    way_out,
                )
            )
        for name in required:
            # One that is misspelt is not missing as well.
            if name not in values and name not in meant:
                self._text.report(self.missing(name))
        return Fields(self, values, meant)

    def entries(self) -> dict[str, Node]:
        """Return the values by key, whatever the keys are.

        A key that is given twice, or is not text, is reported.

        Raises:
            ConfigurationError: It has no keys.
        """
        self._require("map", "keys with values")
        values: dict[str, Node] = {}
        for key, value in self._node.value:
            name = self.attempt(Node(key, self._text).text, "")
            if name in values:
                message, way_out = f"the key `{name}` is given twice", "remove one of the two"
                marks = (key.start_mark, key.end_mark)
                self.report(self._text.error("PC0006", message, *marks, way_out))
            elif name:
                values[name] = Node(value, self._text, key)
        return values

    def report(self, mistake: ConfigurationError) -> None:
        """Take a mistake down; reading goes on."""
        self._text.report(mistake)

    def attempt(self, read: Callable[[], T], default: T) -> T:
        """Return what a call reads; a mistake is reported, and the default returned."""
        try:
            return read()
        except ConfigurationError as mistake:
            self.report(mistake)
            return default

    def items(self) -> list[Node]:
        """Return the items of a list that is not empty.

        Raises:
            ConfigurationError: It is none.
        """
        self._require("seq", "a list")
        if not self._node.value:
            raise self.error("PC0005", "the list is empty", "add an item, or leave the key out")
        return [Node(item, self._text) for item in self._node.value]

    def read_items(self, read: Callable[[Node], T]) -> list[tuple[Node, T]]:
        """Return the items of a list with what a call makes of each; mistakes are reported.

        Raises:
            ConfigurationError: It is no list, or empty.
        """
        made = []
        for item in self.items():
            try:
                made.append((item, read(item)))
            except ConfigurationError as mistake:
                self.report(mistake)
        return made

    def text(self) -> str:
        """Return a text; a number or a truth value is taken as it is written.

        ``${NAME}`` stands for a variable of the environment and ``${file:PATH}`` for the text of a
        file, from which line ends behind it are taken away. ``$${`` is ``${``.

        Raises:
            ConfigurationError: It is none, or empty, or a variable or file is not there.
        """
        if self.kind not in _SCALARS:
            raise self._wrong("text")
        value = self._filled(self._node.value)
        if not value:
            raise self.error("PC0005", "the text is empty", "write a text, or leave the key out")
        return value

    def integer(self) -> int:
        """Return a positive whole number.

        Raises:
            ConfigurationError: It is none.
        """
        self._require("int", "a whole number")
        try:
            value = int(self._node.value.replace("_", ""))
        except ValueError:
            message = "a whole number is written in decimal digits"
            raise self.error("PC0004", message, "write it like: 1000") from None
        if value <= 0:
            message = f"a number above zero is needed, not {value}"
            raise self.error("PC0005", message, "write it like: 1000")
        return value

    def choice(self, allowed: Iterable[str]) -> str:
        """Return one of several words.

        Raises:
            ConfigurationError: It is another.
        """
        known = tuple(allowed)
        value = self.text()
        if value not in known:
            way_out = choice_hint(value, known)
            raise self.error("PC0005", f"`{value}` is none of the possible values", way_out)
        return value

    def texts(self) -> tuple[str, ...]:
        """Return one text or a list of texts as several."""
        if self.kind == "seq":
            texts = [item.attempt(item.text, "") for item in self.items()]
            return tuple(filter(None, texts))
        return (self.text(),)

    def settings(self) -> dict[str, str]:
        """Return texts by key."""
        return {name: value.attempt(value.text, "") for name, value in self.entries().items()}

    def plain(self) -> Any:
        """Return the value in Python's types."""
        import yaml

        constructor = yaml.constructor.SafeConstructor()
        try:
            value = constructor.construct_document(self._node)
        except yaml.YAMLError as error:
            raise self.error("PC0004", f"the value cannot be read: {error}") from None
        return self._filled_in(value)

    def _filled_in(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._filled(value)
        if isinstance(value, list):
            return [self._filled_in(one) for one in value]
        if isinstance(value, dict):
            return {name: self._filled_in(one) for name, one in value.items()}
        return value

    def _filled(self, value: str) -> str:
        try:
            return self._text.fill(value)
        except LookupError as missing:
            raise self.error("PC0009", str(missing.args[0]), "write $${ for ${") from None

    def _require(self, kind: str, wanted: str) -> None:
        if self.kind != kind:
            raise self._wrong(wanted)

    def _wrong(self, wanted: str) -> ConfigurationError:
        found = _KINDS.get(self.kind, self.kind)
        message = f"{wanted} is needed here, not {found}"
        return self.error("PC0004", message, f"write {_WRITTEN.get(wanted, wanted)}")


class Fields:
    """The values of one mapping; a value that is wrong is reported, and its default returned."""

    def __init__(self, node: Node, values: Mapping[str, Node], meant: Collection[str]) -> None:
        self.node = node
        self._values = values
        self._meant = meant

    def is_given(self, name: str) -> bool:
        """Return whether there is a value, or a misspelt key that was probably meant."""
        return name in self._values or name in self._meant

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Node:
        return self._values[name]

    def items(self) -> Iterable[tuple[str, Node]]:
        """Return all values, by key."""
        return self._values.items()

    def read(self, name: str, read: Callable[[Node], T], default: T) -> T:
        """Return what a call makes of a value, or the default if there is none or it is wrong."""
        if name not in self._values:
            return default
        value = self._values[name]
        return value.attempt(lambda: read(value), default)

    def text(self, name: str, default: str = "") -> str:
        """Return a text."""
        return self.read(name, Node.text, default)

    def optional(self, name: str) -> str | None:
        """Return a text, or None."""
        return self.read(name, Node.text, "") or None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return one text or a list of texts as several."""
        return self.read(name, Node.texts, ())

    def settings(self, name: str) -> dict[str, str]:
        """Return texts by key."""
        return self.read(name, Node.settings, {})

    def choice(self, name: str, allowed: Iterable[str], default: str) -> str:
        """Return one of several words."""
        return self.read(name, lambda node: node.choice(allowed), default)


def read_text(data: bytes, file: str) -> str:
    """Return the text of a YAML file, which is in UTF-8 or UTF-16.

    Raises:
        ConfigurationError: It is in another encoding.
    """
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif data[:1] == b"\0":
        encoding = "utf-16-be"
    elif data[1:2] == b"\0":
        encoding = "utf-16-le"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"this is no text in UTF-8: {error.reason} at byte {error.start}"
        way_out = "save the file in UTF-8"
        raise ConfigurationError("PC0001", message, file, line, column, way_out) from None


def parse(
    text: str,
    file: str,
    beside: Text | None = None,
    *,
    contents: str = "a pipeline has sources, a registry and sinks",
    is_filled: bool = True,
) -> tuple[Node, Text]:
    """Return the one document of a YAML text, and where its mistakes are reported.

    Those of a file that another one includes are reported ``beside`` the other's. ``contents``
    says what belongs into the file. Unless it ``is_filled``, ``${`` has no meaning in it.

    Raises:
        ConfigurationError: The text is no YAML, or empty.
    """
    import yaml

    holder = Text(text, file, beside, is_filled=is_filled)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"this is no YAML: {error.problem or error.context}"
        way_out = "look for quotes, brackets and indentation, here and in the line above"
        if mark is not None and text[mark.index : mark.index + 1] == "@":
            way_out = 'put what begins with @ in quotes, as in "@id"'
        raise holder.error("PC0001", message, mark, mark, way_out) from None
    except yaml.YAMLError as error:
        message, way_out = f"this is no YAML: {error}", "save the file as plain text"
        raise ConfigurationError("PC0001", message, file, 1, 1, way_out) from None
    if node is None:
        raise ConfigurationError("PC0001", "the file is empty", file, 1, 1, contents)
    return Node(node, holder), holder


def query_error(node: Node, error: QueryError) -> ConfigurationError:
    """Return the mistake of a query that a file holds."""
    return node.error("PC0005", f"{error.code}: {error.message}", error.help)


def choice_hint(given: str, known: Sequence[str]) -> str:
    """Return the way out for one of several words that is none of them."""
    close = get_close_matches(given, known, 1)
    hint = f"did you mean `{close[0]}`? " if close else ""
    more = f" and {len(known) - _SHOWN_MAX:,} more" if len(known) > _SHOWN_MAX else ""
    return f"{hint}allowed here: {', '.join(known[:_SHOWN_MAX])}{more}"
