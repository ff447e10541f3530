"""The database of a durable registry: its tables and checksums, verifying and repairing them."""
