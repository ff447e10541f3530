"""The message broker: many transformations of one small document."""
