"""The scenarios, in the order of the table."""

import importlib
import sys

from scenarios.registry import SCENARIOS, Skipped

__all__ = ["SCENARIOS", "Skipped", "families"]

for name in ["kills", "stops", "restarts", "connections", "network", "failovers", "memory", "clocks", "server_clock", "publishing",
             "renders", "renditions", "disks", "movies", "long_movie", "bucket", "away", "storm"]:
    importlib.import_module(f"scenarios.{name}")


def families():
    """What fails, as the scenarios' modules say it, each with the names of its scenarios."""
    found = {}
    for scenario in SCENARIOS:
        found.setdefault(sys.modules[scenario.run.__module__].__doc__.rstrip("."), []).append(scenario.name)
    return list(found.items())
