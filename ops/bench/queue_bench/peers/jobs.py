"""The jobs of the Python peers, in a module of its own: RQ takes none from a program's main module."""

import asyncio
import json
import os
import time

ran = []  # the asset of every job that ran, in this process


def edit(asset, recipe):
    """Does nothing, and is counted."""
    ran.append(asset)


def stamp(sent):
    """Says how long ago it was sent; `sent` is `time.monotonic_ns()` of the sender, on this machine."""
    print(json.dumps({"waitedNanoseconds": time.monotonic_ns() - sent}), flush=True)


def started(ledger):
    """Writes one line per start into the file `ledger`; true when this is the first."""
    descriptor = os.open(ledger, os.O_APPEND | os.O_CREAT | os.O_RDWR, 0o600)
    try:
        first = os.fstat(descriptor).st_size == 0
        os.write(descriptor, f"{time.monotonic()}\n".encode())
    finally:
        os.close(descriptor)
    return first


def hang(ledger):
    """Never ends when it is started for the first time, so that its worker can be killed over it."""
    if started(ledger):
        time.sleep(3600)


async def edit_async(asset, recipe):
    edit(asset, recipe)


async def stamp_async(sent):
    stamp(sent)


async def hang_async(ledger):
    if started(ledger):
        await asyncio.sleep(3600)


def count_async(stop, jobs):
    """A callback that calls `stop` after so many calls."""
    left = jobs

    def one_less(*_):
        nonlocal left
        left -= 1
        if left == 0:
            stop()

    return one_less
