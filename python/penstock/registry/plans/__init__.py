"""The plan of a registry: tiers that follow its changes, their files, and pinned versions."""
