"""A measuring process that never replies."""

import signal

signal.pause()
