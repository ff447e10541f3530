"""Measurements of Penstock beside what others do, in one run."""
