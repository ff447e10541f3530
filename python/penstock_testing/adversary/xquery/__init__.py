"""Random queries in XQuery over random documents: kernel, reference and Saxon give one answer."""

from penstock_testing.adversary.xquery.attack import attack

__all__ = ["attack"]
