"""``penstock registry top``: which subscriptions cost most."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from penstock.cli import exits
from penstock.cli.files import documents, file_names
from penstock.cli.options import add_namespace_option
from penstock.cli.parsing import positive
from penstock.cli.printing import complaint
from penstock.cli.progress import is_terminal_free, progress
from penstock.cli.registry.opening import add_folder, existing
from penstock.cli.streams import add_stream_options, with_streams


def add_actions(actions: Any) -> None:
    """Add the action to the others."""
    top = actions.add_parser(
        "top",
        examples=(
            "penstock registry top rules documents/",
            "penstock registry top --by matches --count 3 rules one.xml more.zip",
            "penstock registry top --stream 'orders=o*.xml' --time //@at rules documents/",
        ),
        help="list the subscriptions that cost most",
        description="Run a registry over documents and print the subscriptions that cost most.\n"
        "Matches are counted, the work is sampled. Subscriptions that pass a limit alone at three\n"
        "documents in a row are suspended, and shown in any case.",
    )
    add_folder(top)
    top.add_argument("file", metavar="FILE", nargs="+", help="documents, as for `match`")
    top.add_argument(
        "--count", type=positive, default=10, metavar="K", help="so many; 10 without it"
    )
    top.add_argument("--by", choices=("cost", "matches"), default="cost", help="what ranks them")
    add_stream_options(top)
    add_namespace_option(top)
    top.add_argument("--json", action="store_true", help="one JSON object to a line")
    top.add_argument("--quiet", action="store_true", help="no progress and no messages")
    top.set_defaults(run=run_top)


def run_top(options: argparse.Namespace) -> int:
    """Print the subscriptions that cost most.

    Raises:
        OSError: There is no registry.
        RegistryError: The folder is no registry.
    """
    from penstock.engine import Engine

    engine = Engine(existing(options), lateness=options.lateness)
    names, failed = file_names(options.file), 0
    is_shown = not options.quiet and is_terminal_free(is_printed_last=True)
    with progress(names, is_shown=is_shown) as advance:
        for row in engine.run(with_streams(documents(names, advance), options)):
            if row.error is not None:
                failed += 1
                if not options.quiet:
                    print(complaint(row.document, row.error), file=sys.stderr)
    statistics, suspended = engine.statistics(), engine.suspended()
    ranked = statistics.top(options.count, options.by)
    # Who is suspended is shown, wherever it ranks.
    shown = {used.name for used in ranked}
    ranked += [statistics.of(name) for name in sorted(suspended) if name not in shown]
    if not options.json:
        print(f"{'cost':>6}  {'matches':>9}  {'last match':<20}  name")
    for used in ranked:
        last = "" if used.last_match is None else used.last_match.strftime("%Y-%m-%dT%H:%M:%SZ")
        why = suspended.get(used.name)
        if options.json:
            fields = {"name": used.name, "matches": used.matches, "last_match": last or None}
            reason = None if why is None else str(why)
            print(json.dumps({**fields, "cost_share": used.cost_share, "suspended": reason}))
        else:
            note = "" if why is None else f"  suspended: {why}"
            print(f"{used.cost_share:>6.1%}  {used.matches:>9}  {last:<20}  {used.name}{note}")
    return exits.DOCUMENTS_FAILED if failed else exits.DONE
