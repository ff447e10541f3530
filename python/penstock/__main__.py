"""``python -m penstock``: the command ``penstock``."""

import sys

from penstock_xml import command

if __name__ == "__main__":
    sys.exit(command())
