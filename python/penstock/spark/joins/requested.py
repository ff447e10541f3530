"""The subscriptions of a registry that join documents, or bindings of several streams."""

from __future__ import annotations

from penstock.planning.program import Request
from penstock.registry.requests import requests_of
from penstock.registry.subscriptions import Snapshot


def all_joined(snapshot: Snapshot) -> dict[str, bytes]:
    """Return the programs of all subscriptions that join, by name."""
    found = {**requests_of(snapshot), **requests_of(snapshot, Request.BINDINGS)}
    return {name: requested.program for name, requested in found.items()}
