"""The few names and values that documents and expressions share, so that they often meet."""

NAMESPACES = {"p": "urn:p", "q": "urn:q"}
ROOT = "r"
ELEMENTS = ("a", "b", "c", "d")
ATTRIBUTES = ("x", "y", "n")
NUMBERS = ("0", "1", "2", "3", "10", "-1", "0.5", " 2 ")
WORDS = ("u", "v", "w", "uv", " v", "a", "")
TARGETS = ("t", "s")
IDENTIFIER = "i"
LANGUAGES = ("en", "en-GB", "de")
STREAMS = ("S", "S", "S", "T")
STREAM_NAMES = ("a", "b", "b")
STREAM_VALUES = ("u", "u", "1", "1", "v", "2", "")
