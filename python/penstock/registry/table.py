"""The rows of the table: subscriptions as columns, and the versions that they came with."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.joins.programs import MAGIC as JOINS_MAGIC
from penstock.planning.program import MAGIC
from penstock.registry.memory import name_is_unknown
from penstock.registry.pins import VersionName
from penstock.registry.plans import SUFFIX
from penstock.registry.subscriptions import LANGUAGES, Subscription, compile_text

COLUMNS = "name, language, text, options, mode, owner, delivery, program, compiler"


def last_version(database: sqlite3.Connection) -> int:
    """Return the newest version."""
    version: int = database.execute("SELECT coalesce(max(version), 0) FROM versions").fetchone()[0]
    return version


def version_name(database: sqlite3.Connection, version: int) -> VersionName:
    """Return a version with its mark, made of when and how it came about."""
    chosen = "SELECT change, name, time FROM versions WHERE version = ?"
    row = database.execute(chosen, (version,)).fetchone()
    return VersionName(version, hashlib.blake2b(repr(row).encode(), digest_size=8).hexdigest())


def plan_name(name: VersionName) -> str:
    """Return the name of the file in ``plans`` that holds the plan of a version."""
    # A plan of another compiler may be unreadable, or ask something else.
    mark = hashlib.blake2b(compiler_name().encode(), digest_size=4).hexdigest()
    return f"{name.version}-{name.mark}-{mark}{SUFFIX}"


def begin_version(
    database: sqlite3.Connection, change: Literal["add", "remove", "replace", "load"], name: str
) -> int:
    """Take down a change, and return the version that it makes."""
    version = last_version(database) + 1
    row = (version, change, name, time.time())
    database.execute("INSERT INTO versions VALUES (?, ?, ?, ?)", row)
    return version


def insert(
    database: sqlite3.Connection, values: tuple[Any, ...], version: int, position: int
) -> None:
    """Insert a subscription from a version on."""
    marks = ", ".join("?" * (len(values) + 2))
    database.execute(
        f"INSERT INTO subscriptions ({COLUMNS}, added, position) VALUES ({marks})",
        (*values, version, position),
    )


def position_of(database: sqlite3.Connection, name: str) -> int:
    """Return the place of a subscription among the others.

    Raises:
        RegistryError: There is none of that name.
    """
    chosen = "SELECT position FROM subscriptions WHERE name = ? AND removed IS NULL"
    row = database.execute(chosen, (name,)).fetchone()
    if row is None:
        raise name_is_unknown(name)
    position: int = row[0]
    return position


def end(database: sqlite3.Connection, name: str, version: int) -> None:
    """End the subscription of a name with a version."""
    ended = "UPDATE subscriptions SET removed = ? WHERE name = ? AND removed IS NULL"
    database.execute(ended, (version, name))


def values_of(subscription: Subscription) -> tuple[Any, ...]:
    """Return the columns of a subscription.

    Raises:
        RegistryError: It cannot be written down.
    """
    question = subscription.question
    language, options = (
        (subscription.language, subscription.options)
        if isinstance(question, str)
        else (question.language, question.options)
    )
    if not subscription.text or language not in LANGUAGES:
        message = f"the query of `{subscription.name}` has no text to be kept; make it with"
        raise RegistryError("PR0008", f"{message} xpath() or xscl()")
    try:
        values = (
            subscription.name,
            language,
            subscription.text,
            json.dumps(options),
            subscription.mode,
            subscription.owner,
            None if subscription.delivery is None else json.dumps(subscription.delivery),
            subscription.program,
            compiler_name(),
        )
        for value in values:
            if isinstance(value, str):
                value.encode()
        return values
    except (TypeError, ValueError) as error:
        message = f"`{subscription.name!a}` cannot be written down: {error}"
        raise RegistryError("PR0008", message) from None


def read_row(row: tuple[Any, ...]) -> Subscription:
    """Return the subscription of a row of the columns."""
    name, language, text, options, mode, owner, delivery, program, compiler = row
    if compiler != compiler_name():
        program = compile_row(language, text, options, mode)
    made, read = None if delivery is None else json.loads(delivery), json.loads(options)
    return Subscription(name, text, mode, owner, made, program, read, language)


def compile_row(language: str, text: str, options: str, mode: Any) -> bytes:
    """Compile what an earlier release has written."""
    assert language in LANGUAGES, "a newer registry is refused when it is opened"
    return compile_text(language, text, mode, json.loads(options))


@cache
def compiler_name() -> str:
    """Return what makes the programs of this process: a version, and their formats."""
    try:
        version = version_of("penstock")
    except PackageNotFoundError:
        version = "unknown"
    return f"{version} {MAGIC.decode()} {JOINS_MAGIC.decode()}"
