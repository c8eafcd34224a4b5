"""Repeats a measurement of several systems so that the machine's noise meets all of them alike."""

import statistics
import subprocess

from peer import PeerFailed


def without_failures(systems, measure):
    """What `measure(system)` gives, by name. A peer that fails is told and left out."""
    found = {}
    for system in systems:
        try:
            found[system.name] = measure(system)
        except (PeerFailed, subprocess.TimeoutExpired) as failure:
            print(f"{system.name} is left out: {failure}", flush=True)
    return found


def interleaved(systems, rounds, measure):
    """The median of `rounds` results of `measure(system)`, field by field, for each system that does not fail.

    One round measures all systems, one after the other, before the next begins.
    """
    results = [without_failures(systems, measure)]
    for _ in range(1, rounds):
        results.append(without_failures([s for s in systems if s.name in results[-1]], measure))
    return {
        name: tuple(map(statistics.median, zip(*(result[name] for result in results)))) for name in results[-1]
    }
