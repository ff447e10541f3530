"""Random expressions over random documents, held against lxml, with Saxon as arbiter."""

from penstock_testing.adversary.xpath.attack import attack

__all__ = ["attack"]
