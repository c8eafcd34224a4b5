"""How a scenario is named and found."""

import collections

Scenario = collections.namedtuple("Scenario", "name what run server_may_lose is_short")
SCENARIOS = []


class Skipped(Exception):
    """This machine cannot show it; says why."""


def scenario(name, what, server_may_lose=False, is_short=False):
    """Registers a function of a rig.

    server_may_lose: Redis may forget writes that it had answered, as its settings allow; the producer then sends
    again, under the same id, what has not ended.
    """
    def register(run):
        SCENARIOS.append(Scenario(name, what, run, server_may_lose, is_short))
        return run
    return register
