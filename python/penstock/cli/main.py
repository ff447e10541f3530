"""Which command to run, and how it ends."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from penstock.cli import exits
from penstock.cli.advice import advised
from penstock.cli.parsing import Parser
from penstock.definitions.mistakes import ConfigurationError
from penstock.errors import PenstockError, PenstockWarning, QueryError, RegistryError

_EXITS = """exit codes:
  0 done    1 nothing matched    2 bad usage or query    3 some documents (or lines) failed, or
  a registry is damaged    4 could not run    130 interrupted"""
_EXAMPLES = (
    "penstock match '//book[price < 11]/title' shop.xml",
    "penstock check '//book/titel' --sample shop.xml",
    "penstock registry load rules.csv --into rules",
)
COMMANDS = {
    "match": "print what queries select in documents",
    "table": "write records as rows with typed columns",
    "infer": "propose a table: records, columns and types, from samples or a schema",
    "explain": "print when results are decided, what is held, and how much",
    "check": "hold a query against sample documents or a schema and say why it finds nothing",
    "profile": "list namespaces, message types, common paths and sizes of a sample",
    "run": "run a pipeline that a YAML file describes, on Spark",
    "registry": "change, load and list the subscriptions of a folder",
    "views": "choose stream views, stamp documents with headers, and explain hits and misses",
    "completion": "print a script that completes this command line in a shell",
}
"""The commands, each a module of its own, with their help; only the one that runs is loaded."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if arguments is None else [*arguments]
    options = parser(words[:1]).parse_args(words)
    try:
        with warnings.catch_warnings():
            # Commands say it in their own way.
            warnings.simplefilter("ignore", PenstockWarning)
            code: int = options.run(options)
        sys.stdout.flush()
        return code
    except (QueryError, RegistryError) as error:
        print(advised(error), file=sys.stderr)
        return exits.BAD_USAGE
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return exits.BAD_USAGE
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.DONE
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        # The number of the error says nothing to whoever typed the name.
        is_named = error.filename is not None and error.strerror is not None
        said = f"{error.filename}: {error.strerror}" if is_named else str(error)
        print(f"penstock: {said}", file=sys.stderr)
        return exits.COULD_NOT_RUN
    except PenstockError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return exits.COULD_NOT_RUN


def parser(loaded: Sequence[str] = tuple(COMMANDS)) -> Parser:
    """Return the parser of all commands; the others have no more than their help."""
    whole = Parser(
        prog="penstock",
        description="Query XML documents of any size, in one pass.",
        examples=_EXAMPLES,
        epilog=_EXITS,
    )
    whole.add_argument("-V", "--version", action=_Version, help="print the version")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    for name, help_ in COMMANDS.items():
        if name in loaded:
            import_module(f"penstock.cli.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=help_)
    return whole


class _Version(argparse.Action):
    """Reads the version only when somebody asks."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from penstock import __version__

        print(f"penstock {__version__}")
        parser.exit()
