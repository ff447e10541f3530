"""XPath 1.0, from text to twigs."""

from penstock.languages.xpath.frontend import parse, xpath

__all__ = ["parse", "xpath"]
