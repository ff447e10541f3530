"""The command ``penstock``: data on stdout, progress and complaints on stderr."""

from penstock.cli.main import main

__all__ = ["main"]
