"""Schemas as knowledge about documents: which element may hold which, and how often."""

from penstock.schemas.graph import Element, Mode, Name, Occurs, Schema
from penstock.schemas.reading import schema

__all__ = ["Element", "Mode", "Name", "Occurs", "Schema", "schema"]
