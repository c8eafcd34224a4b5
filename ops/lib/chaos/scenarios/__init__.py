"""The scenarios, in the order of the table."""

import importlib

from scenarios.registry import SCENARIOS, Skipped

__all__ = ["SCENARIOS", "Skipped"]

for name in ["kills", "stops", "restarts", "connections", "network", "failovers", "memory", "clocks", "server_clock", "publishing",
             "renders", "renditions", "disks", "movies", "long_movie", "bucket", "storm"]:
    importlib.import_module(f"scenarios.{name}")
