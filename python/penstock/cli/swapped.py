"""A file where the query should be."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from penstock.cli.files import STDIN
from penstock.cli.options import query_of
from penstock.errors import QueryError


def complain_if_swapped(options: argparse.Namespace) -> None:
    """End with a message about usage if the first argument is a file, and the query behind it.

    A name such as ``book`` is a query and may be a file as well, so both sides are looked at.
    """
    first, *others = options.arguments
    if not os.path.exists(first):
        return
    query = next((one for one in others if _is_query_alone(one, options)), None)
    if query is not None:
        files = [one for one in options.arguments if one != query]
        command = shlex.join(["penstock", "match", query, *files])
        options.parser.error(f"the query comes first, and `{first}` is a file: {command}")
    if not others and (os.path.splitext(first)[1] or sys.stdin.isatty()):
        options.parser.error(f"there is no query: `{first}` is a file")


def _is_query_alone(text: str, options: argparse.Namespace) -> bool:
    if text == STDIN or os.path.exists(text):
        return False
    try:
        query_of(text, options)
    except QueryError as error:
        # A prefix or a variable that nobody bound makes it no less of a query.
        return error.code in ("PQ0111", "PQ0115")
    return True
