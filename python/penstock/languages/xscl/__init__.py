"""XSCL: blocks over streams, joined by value and time."""

from penstock.languages.xscl.frontend import xscl

__all__ = ["xscl"]
