"""MMQJP: many value joins between documents."""
