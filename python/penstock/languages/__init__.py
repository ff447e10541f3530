"""Query languages: from text to the one representation in ``penstock.twigs``."""
