"""The mistakes of a file, all of them, each with its place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from penstock.definitions.variables import Secrets
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
    "PC0009": "a variable or a secret that is not there",
    "PC0010": "a file that includes itself, or is included twice",
}
"""The codes of ``ConfigurationError`` and what each names."""


_WAYS_OUT = dict.fromkeys(
    CONFIGURATION_CODES, "docs/pipelines.md and docs/tables.md have what may be here"
)
_WAYS_OUT["PC0007"] = "leave one of them out"
_WAYS_OUT["PC0008"] = "paths are taken from the folder of the file that names them"
"""What helps where nothing better is known."""


class ConfigurationError(PenstockError):
    """A pipeline or table cannot be read as it is written; ``line`` and ``column`` count from 1.

    ``others`` are the further mistakes of the file and of those that it includes, file by file, in
    the order of their places.
    """

    def __init__(
        self,
        code: str,
        message: str,
        file: str,
        line: int,
        column: int,
        help: str = "",  # noqa: A002  # the word that users read
        shown: str = "",
        others: tuple[ConfigurationError, ...] = (),
    ) -> None:
        super().__init__(code, message, file, line, column, help, shown, others)
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.help = help
        self.shown = shown
        self.others = others

    def with_others(self, others: Iterable[ConfigurationError]) -> ConfigurationError:
        """Return the same mistake, in front of others."""
        place = (self.file, self.line, self.column)
        return ConfigurationError(
            self.code, self.message, *place, self.help, self.shown, tuple(others)
        )

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}", f"  {self.file}:{self.line}:{self.column}"]
        if self.shown:
            lines.append(self.shown)
        if self.help:
            lines.append(f"help: {self.help}")
        lines += [str(other) for other in self.others]
        return "\n".join(lines)


class Text:
    """The text of a file, and the mistakes that were found in it and in the files beside it."""

    def __init__(
        self, text: str, file: str, beside: Text | None = None, *, is_filled: bool = True
    ) -> None:
        self._is_filled = is_filled
        self.text = text
        self.file = file
        self._mistakes: list[ConfigurationError] = [] if beside is None else beside._mistakes
        self._files: list[str] = [] if beside is None else beside._files
        self._files.append(file)
        self.secrets: Secrets = Secrets() if beside is None else beside.secrets

    def fill(self, value: str) -> str:
        """Return a value of the file with what it takes from the environment and other files.

        Raises:
            LookupError: A variable is not set, or a file cannot be read.
        """
        if not self._is_filled:
            return value
        return self.secrets.fill(value, Path(self.file).absolute().parent)

    def report(self, mistake: ConfigurationError) -> None:
        """Take a mistake down; reading goes on."""
        self._mistakes.append(mistake)

    def require_no_mistakes(self) -> None:
        """Return if nothing was reported.

        Raises:
            ConfigurationError: The first mistake, with all others.
        """
        if self._mistakes:
            # A part that is read twice is reported twice.
            mistakes = {
                (self._number(one), one.line, one.column, one.code, one.message): one
                for one in self._mistakes
            }
            first, *others = (mistakes[place] for place in sorted(mistakes))
            raise first.with_others(others)

    def _number(self, mistake: ConfigurationError) -> int:
        # A file that is no text at all has none here.
        return [*self._files, mistake.file].index(mistake.file)

    def error(
        self, code: str, message: str, start: Any, end: Any, way_out: str = ""
    ) -> ConfigurationError:
        """Return the complaint about what lies between two of YAML's marks."""
        # A block ends where the next thing begins; what is at fault is its first line.
        shown = "\n".join(underline(self.text, (start.index, max(start.index, end.index))))
        line, column = start.line + 1, start.column + 1
        message = self.secrets.redacted(message)
        way_out = self.secrets.redacted(way_out or _WAYS_OUT[code])
        return ConfigurationError(code, message, self.file, line, column, way_out, shown)
