"""YAML with places: every complaint names the line and the column of what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from penstock.errors import PenstockError, underline

CONFIGURATION_CODES = {
    "PC0001": "the file is no YAML",
    "PC0002": "an unknown key",
    "PC0003": "a missing key",
    "PC0004": "a value of the wrong kind",
    "PC0005": "a value that is not allowed",
    "PC0006": "a key given twice",
    "PC0007": "keys that do not go together",
    "PC0008": "a file or folder that is not there",
}
"""The codes of ``ConfigurationError`` and what each names."""

_KINDS = {"map": "keys with values", "seq": "a list", "str": "text", "int": "a whole number"}
_SCALARS = ("str", "int", "float", "bool", "timestamp")
_KINDS |= {"float": "a number", "bool": "a truth value", "null": "nothing", "timestamp": "a date"}


class ConfigurationError(PenstockError):
    """A pipeline cannot run as it is written; ``line`` and ``column`` count from one."""

    def __init__(
        self,
        code: str,
        message: str,
        file: str,
        line: int,
        column: int,
        help: str = "",  # noqa: A002  # the word that users read
        shown: str = "",
    ) -> None:
        super().__init__(code, message, file, line, column, help, shown)
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.help = help
        self.shown = shown

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}", f"  {self.file}:{self.line}:{self.column}"]
        if self.shown:
            lines.append(self.shown)
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class Text:
    """The text of a file, for complaints about parts of it."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file

    def error(
        self, code: str, message: str, start: Any, end: Any, way_out: str = ""
    ) -> ConfigurationError:
        """Return the complaint about what lies between two of YAML's marks."""
        # A block ends where the next thing begins; what is at fault is its first line.
        shown = "\n".join(underline(self.text, (start.index, max(start.index, end.index))))
        line, column = start.line + 1, start.column + 1
        return ConfigurationError(code, message, self.file, line, column, way_out, shown)


class Node:
    """A value of the file, with its place; ``key`` is the node of its key, if it has one."""

    def __init__(self, node: Any, text: Text, key: Any = None) -> None:
        self._node = node
        self._text = text
        self._key = key

    @property
    def kind(self) -> str:
        """What it is, in YAML's words: map, seq, str, int, float, bool, null."""
        tag: str = self._node.tag
        return tag.removeprefix("tag:yaml.org,2002:")

    def error(self, code: str, message: str, way_out: str = "") -> ConfigurationError:
        """Return a complaint about the value."""
        return self._text.error(code, message, self._node.start_mark, self._node.end_mark, way_out)

    def fields(self, allowed: Iterable[str], required: Iterable[str] = ()) -> dict[str, Node]:
        """Return the values by key.

        Raises:
            ConfigurationError: It has no keys, or an unknown one, or one twice, or one is missing.
        """
        known = tuple(allowed)
        found = self.entries()
        for name, value in found.items():
            if name not in known:
                close = get_close_matches(name, known, 1)
                hint = f"did you mean `{close[0]}`? " if close else ""
                way_out = f"{hint}allowed here: {', '.join(known)}"
                key = value._key
                raise self._text.error(
                    "PC0002",
                    f"there is no key `{name}` here",
                    key.start_mark,
                    key.end_mark,
                    way_out,
                )
        for name in required:
            if name not in found:
                raise self.error("PC0003", f"the key `{name}` is missing here")
        return found

    def entries(self) -> dict[str, Node]:
        """Return the values by key, whatever the keys are.

        Raises:
            ConfigurationError: It has no keys, or one twice, or one that is not text.
        """
        self._require("map", "keys with values")
        found: dict[str, Node] = {}
        for key, value in self._node.value:
            name = Node(key, self._text).text()
            if name in found:
                message = f"the key `{name}` is given twice"
                raise self._text.error("PC0006", message, key.start_mark, key.end_mark)
            found[name] = Node(value, self._text, key)
        return found

    def items(self) -> list[Node]:
        """Return the items of a list that is not empty.

        Raises:
            ConfigurationError: It is none.
        """
        self._require("seq", "a list")
        if not self._node.value:
            raise self.error("PC0005", "the list is empty")
        return [Node(item, self._text) for item in self._node.value]

    def text(self) -> str:
        """Return a text; a number or a truth value is taken as it is written.

        Raises:
            ConfigurationError: It is none, or empty.
        """
        if self.kind not in _SCALARS:
            raise self._wrong("text")
        value: str = self._node.value
        if not value:
            raise self.error("PC0005", "the text is empty")
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
            raise self.error("PC0004", "a whole number is written in decimal digits") from None
        if value <= 0:
            raise self.error("PC0005", f"a number above zero is needed, not {value}")
        return value

    def choice(self, allowed: Iterable[str]) -> str:
        """Return one of several words.

        Raises:
            ConfigurationError: It is another.
        """
        known = tuple(allowed)
        value = self.text()
        if value not in known:
            close = get_close_matches(value, known, 1)
            hint = f"did you mean `{close[0]}`? " if close else ""
            way_out = f"{hint}allowed here: {', '.join(known)}"
            raise self.error("PC0005", f"`{value}` is none of the possible values", way_out)
        return value

    def texts(self) -> tuple[str, ...]:
        """Return one text or a list of texts as several."""
        if self.kind == "seq":
            return tuple(item.text() for item in self.items())
        return (self.text(),)

    def settings(self) -> dict[str, str]:
        """Return texts by key."""
        return {name: value.text() for name, value in self.entries().items()}

    def plain(self) -> Any:
        """Return the value in Python's types."""
        import yaml

        constructor = yaml.constructor.SafeConstructor()
        try:
            return constructor.construct_document(self._node)
        except yaml.YAMLError as error:
            raise self.error("PC0004", f"the value cannot be read: {error}") from None

    def _require(self, kind: str, wanted: str) -> None:
        if self.kind != kind:
            raise self._wrong(wanted)

    def _wrong(self, wanted: str) -> ConfigurationError:
        found = _KINDS.get(self.kind, self.kind)
        return self.error("PC0004", f"{wanted} is needed here, not {found}")


def parse(text: str, file: str) -> Node:
    """Return the one document of a YAML text.

    Raises:
        ConfigurationError: The text is no YAML, or empty.
        ImportError: PyYAML is not installed; ``pip install penstock[spark]`` does that.
    """
    import yaml

    holder = Text(text, file)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"this is no YAML: {error.problem or error.context}"
        raise holder.error("PC0001", message, mark, mark) from None
    except yaml.YAMLError as error:
        raise ConfigurationError("PC0001", f"this is no YAML: {error}", file, 1, 1) from None
    if node is None:
        raise ConfigurationError("PC0001", "the file is empty", file, 1, 1)
    return Node(node, holder)
