"""The command line that every Python peer has; `../peer.py` calls it.

    PEER SOCKET enqueue JOBS   enqueues JOBS edits in bulk; prints {"seconds"}
    PEER SOCKET work JOBS      runs them in this process; prints {"seconds", "effects", "distinct"}
    PEER SOCKET stand          works until it is killed; stamps print {"waitedNanoseconds"}
    PEER SOCKET send           sends one job per line of its input, `stamp` or `hang FILE`
"""

import json
import sys
import time

import jobs

CHUNK = 1000  # jobs of one bulk call


def payloads(count):
    """What Minilab's jobs say: an asset's path, and which recipe."""
    return [(f"2026/11/photo-{number:07}.jpg", "recipe-1") for number in range(count)]


def chunks(items):
    return [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]


def main(enqueue, work, sender):
    """Does what the command line says.

    enqueue(socket, payloads)    in bulk
    work(socket, jobs)           until so many jobs have ended, or for ever when `jobs` is None
    sender(socket)               gives a function of a job's name and its argument
    """
    socket, action, *rest = sys.argv[1:]
    if action == "enqueue":
        items = payloads(int(rest[0]))
        start = time.perf_counter()
        enqueue(socket, items)
        print(json.dumps({"seconds": time.perf_counter() - start}))
    elif action == "work":
        start = time.perf_counter()
        end = work(socket, int(rest[0]))
        seconds = (end or time.perf_counter()) - start
        print(json.dumps({"seconds": seconds, "effects": len(jobs.ran), "distinct": len(set(jobs.ran))}))
    elif action == "stand":
        work(socket, None)
    elif action == "send":
        send = sender(socket)
        for line in sys.stdin:
            name, *argument = line.split()
            if name == "stamp":
                send("stamp", time.monotonic_ns())
            else:
                send("hang", argument[0])
    else:
        sys.exit(f"{action} is not enqueue, work, stand or send")
