"""What planning makes of a schema: rewrites, one per file, and what they take for granted."""
