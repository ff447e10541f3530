"""``penstock registry list|show|export``: what is subscribed."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from penstock.cli import exits
from penstock.cli.output import open_output
from penstock.cli.registry.opening import add_folder, existing
from penstock.registry import Subscription
from penstock.registry.columns import columns_of
from penstock.registry.loading.lines import FIELDS, JSON_STARTS


def add_actions(actions: Any) -> None:
    """Add the actions to the others."""
    list_ = actions.add_parser(
        "list",
        examples=(
            "penstock registry list rules",
            "penstock registry list --owner ann --like 'price*' rules",
        ),
        help="list subscriptions: name, mode, language, owner and query",
        description="List subscriptions, one to a line: name, mode, language, owner and query,\n"
        "with tabs between them.",
    )
    add_folder(list_)
    list_.add_argument("--like", metavar="GLOB", help="only those whose names fit the glob")
    list_.add_argument("--owner", help="only those of an owner")
    list_.add_argument("--json", action="store_true", help="lines that `load` reads")
    list_.set_defaults(run=run_list)
    show = actions.add_parser(
        "show",
        examples=("penstock registry show rules", "penstock registry show rules cheap"),
        help="show how much is in a registry, or everything about one subscription",
        description="Show how much is in a registry, or everything about one subscription.",
    )
    add_folder(show)
    show.add_argument("name", nargs="?", metavar="NAME", help="the name of a subscription")
    show.set_defaults(run=run_show)
    export = actions.add_parser(
        "export",
        examples=(
            "penstock registry export rules > rules.jsonl",
            "penstock registry export rules --format csv --output rules.csv",
        ),
        help="write all subscriptions as lines that `load` reads",
        description="Write all subscriptions, in the order of their arrival, as lines that\n"
        "`penstock registry load` reads.",
    )
    add_folder(export)
    export.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    export.add_argument("--output", metavar="FILE", help="write to a file instead of stdout")
    export.set_defaults(run=run_export)


def run_list(options: argparse.Namespace) -> int:
    """Print the subscriptions.

    Raises:
        OSError: There is no registry.
        RegistryError: The folder is no registry.
    """
    found = 0
    for one in existing(options):
        if options.like is not None and not fnmatchcase(one.name, options.like):
            continue
        if options.owner is not None and one.owner != options.owner:
            continue
        found += 1
        if options.json:
            print(_json_line(one), end="")
        else:
            query = " ".join(one.text.split())
            print(f"{one.name}\t{one.mode}\t{_language(one)}\t{one.owner or ''}\t{query}")
    is_filtered = options.like is not None or options.owner is not None
    return exits.DONE if found or not is_filtered else exits.NOTHING_MATCHED


def run_show(options: argparse.Namespace) -> int:
    """Print what is in a registry.

    Raises:
        OSError: There is none.
        RegistryError: The folder is no registry.
    """
    registry = existing(options)
    if options.name is not None:
        return _show(registry[options.name])
    snapshot = registry.snapshot()
    spines, formulas, guards, targets = snapshot.plan.sizes()
    print(f"subscriptions {len(registry)}")
    print(f"version       {snapshot.version}")
    print(f"tiers         {snapshot.plan.tier_count()}")
    print(f"questions     {targets}")
    print(f"steps         {spines}")
    print(f"conditions    {formulas}")
    print(f"guards        {guards}")
    return exits.DONE


def run_export(options: argparse.Namespace) -> int:
    """Write the subscriptions.

    Raises:
        OSError: There is no registry, or the file cannot be written.
        RegistryError: The folder is no registry.
    """
    registry = existing(options)
    with open_output(options.output) as out:
        if options.format == "csv":
            out.write(_csv_line(FIELDS))
        for one in registry:
            line = _json_line(one) if options.format == "jsonl" else _csv_cells(one)
            out.write(line.encode() if isinstance(line, str) else line)
        out.flush()
    return exits.DONE


def record_of(subscription: Subscription) -> dict[str, Any]:
    """Return a subscription as a line of JSON has it; what is the default is left out."""
    columns = columns_of(subscription)
    record: dict[str, Any] = {"name": columns.name, "query": columns.text}
    if columns.language != "xpath":
        record["language"] = columns.language
    if columns.mode != "query":
        record["mode"] = columns.mode
    if columns.owner is not None:
        record["owner"] = columns.owner
    if columns.delivery is not None:
        record["delivery"] = json.loads(columns.delivery)
    record.update(json.loads(columns.options))
    return record


def _show(subscription: Subscription) -> int:
    for name, value in record_of(subscription).items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        print(f"{name:<13} {shown}")
    return exits.DONE


def _language(subscription: Subscription) -> str:
    return columns_of(subscription).language


def _json_line(subscription: Subscription) -> str:
    return json.dumps(record_of(subscription), ensure_ascii=False) + "\n"


def _csv_cells(subscription: Subscription) -> bytes:
    record = record_of(subscription)
    cells = []
    for field in FIELDS:
        value = record.get(field, "")
        is_text = isinstance(value, str)
        if field == "delivery" and field in record and is_text:
            is_text = bool(value) and value[0] not in JSON_STARTS
        cells.append(value if is_text else json.dumps(value, ensure_ascii=False))
    return _csv_line(cells)


def _csv_line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    # A writer quotes a carriage return only where lines end with one.
    if any("\r" in cell for cell in cells):
        writer = csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\n")
    else:
        writer = csv.writer(line, lineterminator="\n")
    writer.writerow(cells)
    return line.getvalue().encode()
