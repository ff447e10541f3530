"""Rewrites of queries, one per file; each keeps the results of every document."""
