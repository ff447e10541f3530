"""``penstock registry verify|repair``: damage, found and mended."""

from __future__ import annotations

import argparse
from typing import Any

from penstock.cli import exits
from penstock.cli.registry.opening import add_folder, existing_folder


def add_actions(actions: Any) -> None:
    """Add the actions to the others."""
    for name, what, run in (
        ("verify", "read everything in a registry, and report what is damaged", run_verify),
        ("repair", "rebuild what can be rebuilt, and report what is lost", run_repair),
    ):
        action = actions.add_parser(
            name,
            examples=(f"penstock registry {name} rules",),
            help=what,
            description=f"{what.capitalize()}.",
        )
        add_folder(action)
        action.set_defaults(run=run)


def run_verify(options: argparse.Namespace) -> int:
    """Print what is damaged in a registry; nothing is changed.

    Raises:
        OSError: There is none.
        RegistryError: The folder is no registry.
    """
    from penstock.registry.storage.verify import verify

    found = verify(existing_folder(options))
    for finding in found.findings:
        print(finding)
    if found.findings:
        return exits.DOCUMENTS_FAILED
    print(f"sound: {found.subscriptions} subscriptions, version {found.version}")
    return exits.DONE


def run_repair(options: argparse.Namespace) -> int:
    """Repair a registry, and print what was damaged and what is lost.

    Raises:
        OSError: There is none, or it cannot be written.
        RegistryError: The folder is no registry, or is in use.
    """
    from penstock.registry.storage.repair import repair

    report = repair(existing_folder(options))
    for finding in report.findings:
        print(f"damaged: {finding}")
    losses = report.losses
    for name in losses.names:
        print(f"lost: {name}")
    for name in losses.uncertain:
        print(f"active again, and maybe removed before: {name}")
    if losses.versions:
        count, first, last = len(losses.versions), losses.versions[0], losses.versions[-1]
        print(f"versions lost: {count}, from {first} to {last}")
    if losses.rows:
        print(f"rows lost: {losses.rows}, with subscriptions that had been removed")
    if report.copy is not None:
        print(f"copies of the files as they were: {report.copy}")
    print(f"sound: {report.subscriptions} subscriptions, version {report.version}")
    return exits.DONE if report.is_complete else exits.DOCUMENTS_FAILED
