"""The scenarios, in the order of the table."""

from scenarios.registry import SCENARIOS, Skipped
from scenarios import kills, stops, restarts, connections, network, failovers, memory, clocks, server_clock  # noqa: F401
from scenarios import publishing, renders, disks, movies, long_movie, bucket, storm  # noqa: F401

__all__ = ["SCENARIOS", "Skipped"]
