"""Makes SIGTERM end a program by way of its `finally` and `with`, so that what it has made of the machine is unmade."""

import signal
import sys


def on_sigterm():
    def end(*_):
        # A second one, as from `timeout` to a group, must not cut the tidying short.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
