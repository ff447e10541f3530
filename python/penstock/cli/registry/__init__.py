"""``penstock registry``: subscriptions in a folder, changed, loaded and looked at."""

from penstock.cli.registry.command import add_parser

__all__ = ["add_parser"]
