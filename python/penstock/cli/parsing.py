"""The parser of command lines: help with examples, and suggestions for what is mistyped."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that knows examples, and names what may have been meant.

    Every set of parsed options has the parser that read them as ``parser``, for messages about
    usage that are found later.
    """

    def __init__(
        self,
        *,
        examples: Sequence[str] = (),
        epilog: str = "",
        rest: str | None = None,
        **settings: Any,
    ) -> None:
        self.examples = tuple(examples)
        self.rest = rest
        """The list that takes the words behind options, as in ``match QUERY --json FILE``."""
        shown = [f"  {example}" for example in examples]
        parts = ["\n".join(["examples:", *shown])] if shown else []
        super().__init__(
            epilog="\n\n".join([*parts, *filter(None, [epilog])]) or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )
        self.set_defaults(parser=self)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a command line; unknown options are compared with those of the command."""
        options, unknown = self.parse_known_args(args, namespace)
        parser: Parser = getattr(options, "parser", self)
        flags = [word for word in unknown if word.startswith("-") and word != "-"]
        if parser.rest is not None and not flags:
            getattr(options, parser.rest).extend(unknown)
        elif unknown:
            flags = flags or unknown
            known = list(parser._option_string_actions)
            parser.error(f"there is no option or argument `{flags[0]}`{_meant(flags[0], known)}")
        return options

    def add_argument(self, *flags: Any, **settings: Any) -> argparse.Action:
        """Add an argument; ``-0`` does not make every negative number an option."""
        action = super().add_argument(*flags, **settings)
        self._has_negative_number_optionals.clear()
        return action

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong; exit with 2."""
        self.print_usage()
        self.exit(2, f"{self.prog}: {message}\n")

    def print_usage(self, file: Any = None) -> None:
        """Print the usage where messages go."""
        import sys

        super().print_usage(sys.stderr if file is None else file)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices: Iterable[str] | None = action.choices
        if choices is None or value in choices:
            return
        what = "command" if isinstance(action, argparse._SubParsersAction) else "choice"
        listed = ", ".join(choices)
        raise argparse.ArgumentError(
            None if what == "command" else action,
            f"there is no {what} `{value}`{_meant(value, choices)}; there are {listed}",
        )


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def positive(text: str) -> int:
    """Return a number above zero."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number above zero")
    return value
