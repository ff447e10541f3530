"""Attacks on Penstock with random input, held against what others say about the same input.

``python -m penstock_testing.adversary xpath|xscl|xquery|documents|costs|views|schemas`` runs one of
them. Every case comes from a seed of its own, so a printed seed repeats it. A case that fails is
shrunk before it is printed, but for those of costs and schemas.
"""
