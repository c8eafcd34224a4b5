"""Makes signals end a program by way of its `finally` and `with`, so that what it has made of the machine is unmade."""

import signal
import sys

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def on_signals():
    def end(number, _):
        # A second one, as from `timeout` to a group, must not cut the tidying short.
        for other in ENDING:
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in ENDING:
        signal.signal(number, end)
