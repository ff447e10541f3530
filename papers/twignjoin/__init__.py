"""Twig'n Join: progressive joins of several streams."""
