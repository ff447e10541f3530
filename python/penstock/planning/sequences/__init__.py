"""Queries over sequences become programs: what is read of a document, and what is evaluated."""
