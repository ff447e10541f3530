"""A table proposed from sample documents or from an XML Schema."""

from penstock.engine.inference.proposal import Proposal, infer, infer_schema

__all__ = ["Proposal", "infer", "infer_schema"]
