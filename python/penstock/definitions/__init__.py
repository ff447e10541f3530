"""Definitions in YAML files: values with their places, and all mistakes of a file together."""
