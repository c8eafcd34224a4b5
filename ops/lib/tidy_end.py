"""Makes signals end a program by way of its `finally` and `with`, so that what it has made of the machine is unmade."""

import contextlib
import os
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


@contextlib.contextmanager
def later():
    """Keeps signals until its block has ended: for what must not be cut in two, such as starting a process and noting it."""
    kept = []
    before = {number: signal.signal(number, lambda received, _: kept.append(received)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in kept:
            os.kill(os.getpid(), number)
