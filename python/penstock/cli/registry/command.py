"""The actions of ``penstock registry``."""

from __future__ import annotations

from typing import Any

from penstock.cli.registry import changing, loading, looking, mending, ranking

_EXAMPLES = (
    "penstock registry add rules cheap '//book[price < 11]/title' --owner ann",
    "penstock registry load rules.csv --into rules",
    "penstock registry list rules",
    "penstock registry export rules --output rules.jsonl",
    "penstock registry top rules documents/",
)


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "registry",
        examples=_EXAMPLES,
        help="change, load and list the subscriptions of a folder",
        description="Change, load, list and check the subscriptions of a durable registry.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for module in (looking, changing, loading, ranking, mending):
        module.add_actions(actions)
