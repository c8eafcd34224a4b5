"""How a scenario is named and found."""

import collections

from rig import Rig

Scenario = collections.namedtuple("Scenario", "name what run server_may_lose is_short rig")
SCENARIOS = []


class Skipped(Exception):
    """This machine cannot show it; says why."""


def scenario(name, what, server_may_lose=False, is_short=False, rig=Rig):
    """Registers a function of a rig.

    server_may_lose: Redis may forget writes that it had answered, as its settings allow; the producer then sends
    again, under the same id, what has not ended.
    rig: the class of the rig; PhotoRig where photos are rendered, BucketRig where that is into a bucket.
    """
    def register(run):
        SCENARIOS.append(Scenario(name, what, run, server_may_lose, is_short, rig))
        return run
    return register
