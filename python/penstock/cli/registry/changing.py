"""``penstock registry add|replace|remove``: one change at a time."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, get_args

from penstock.cli import exits
from penstock.cli.options import add_language_options, query_of
from penstock.cli.registry.opening import add_folder, existing
from penstock.planning.modes import Mode


def add_actions(actions: Any) -> None:
    """Add the actions to the others."""
    for name, what, run, example in (
        ("add", "add a subscription; the folder is created if it is missing", run_add, "add"),
        ("replace", "replace the subscription of the same name", run_replace, "replace"),
    ):
        action = actions.add_parser(
            name,
            examples=(
                f"penstock registry {example} rules cheap '//book[price < 11]/title'",
                f"penstock registry {example} rules late '//a:entry' -n a=urn:a --mode filter",
            ),
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
        )
        add_folder(action)
        action.add_argument("name", metavar="NAME", help="the name of the subscription")
        action.add_argument("query", metavar="QUERY")
        add_language_options(action)
        action.add_argument(
            "--mode", choices=get_args(Mode), default="query", help="what to report"
        )
        action.add_argument("--owner", help="whose it is")
        action.add_argument(
            "--delivery", metavar="TEXT", help="where results go: a name, or a JSON object"
        )
        action.set_defaults(run=run)
    remove = actions.add_parser(
        "remove",
        examples=("penstock registry remove rules cheap late",),
        help="remove subscriptions",
        description="Remove subscriptions: all that are named, or none if one of them is unknown.",
    )
    add_folder(remove)
    remove.add_argument("name", nargs="+", metavar="NAME")
    remove.set_defaults(run=run_remove)


def run_add(options: argparse.Namespace) -> int:
    """Add a subscription.

    Raises:
        QueryError: The query is not valid.
        RegistryError: The name is taken; the folder is no registry.
    """
    from penstock.registry.durable import DurableRegistry

    query = query_of(options.query, options)
    registry = DurableRegistry(options.folder)
    registry.add(options.name, query, options.mode, options.owner, _delivery(options))
    return _say(registry.version, len(registry))


def run_replace(options: argparse.Namespace) -> int:
    """Replace a subscription.

    Raises:
        QueryError: The query is not valid.
        OSError: There is no registry.
        RegistryError: There is no subscription of this name.
    """
    query = query_of(options.query, options)
    registry = existing(options)
    registry.replace(options.name, query, options.mode, options.owner, _delivery(options))
    return _say(registry.version, len(registry))


def run_remove(options: argparse.Namespace) -> int:
    """Remove subscriptions.

    Raises:
        OSError: There is no registry.
        RegistryError: There is no subscription of one of the names.
    """
    registry = existing(options)
    with registry.changes():
        for name in options.name:
            registry.remove(name)
    return _say(registry.version, len(registry))


def _delivery(options: argparse.Namespace) -> Any:
    text = options.delivery
    if text is None or not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        return options.parser.error(f"--delivery is not JSON: {error}")


def _say(version: int, count: int) -> int:
    if sys.stderr.isatty():
        print(f"version {version}: {count:,} subscriptions", file=sys.stderr)
    return exits.DONE
