"""Repeats a measurement of several systems so that the machine's noise meets all of them alike."""

import statistics


def interleaved(systems, rounds, measure):
    """The median of `rounds` results of `measure(system)`, field by field, for each system.

    One round measures all systems, one after the other, before the next begins.
    """
    results = {system.name: [] for system in systems}
    for _ in range(rounds):
        for system in systems:
            results[system.name].append(measure(system))
    return {name: tuple(map(statistics.median, zip(*rows))) for name, rows in results.items()}
