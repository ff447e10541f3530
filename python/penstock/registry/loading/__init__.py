"""Subscriptions from files: lines compiled by several processes and inserted together."""
