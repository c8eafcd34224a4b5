"""The long checks: which command leaves which receipt, and which files it judges."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SOURCES = ["Sources", "Package.swift"]
QUEUE = ["Sources/Queue", "ops/redis.conf", "ops/redis-users.conf", "ops/deploy/secrets"]
DEPLOYMENT = ["Sources/Commands", "Sources/Operations", "ops/deploy", "ops/package", "ops/redis.conf", "ops/redis-users.conf",
              "docker-compose.yml", "ops/lib/podman-here", "ops/lib/redis_restart.py", "ops/lib/logo.py", "ops/lib/png.py", "ops/lib/open_ports.py"]  # fmt: skip
SERVERS = ["redis-7.0", "redis-8.0", "valkey-8.1", "valkey-9.1"]


@dataclass(frozen=True)
class Check:
    """One long check."""

    name: str  # CHECK-SUITE: of its receipt
    command: str
    covers: list[str]
    # By name: a line of the check's output, with the figure as its group. The last line that fits counts.
    figures: dict[str, str] = field(default_factory=dict)
    # A line of the output with the groups `all` and `left_out`: what was left out makes the result partial.
    parts: str = ""


def bench(name: str, covers: list[str] | None = None, **figures: str) -> Check:
    covers = covers or ["Sources/Rendering", "Sources/Children", "Sources/C"]
    return Check(f"bench-{name}", f"ops/bench/run {name}", [*covers, "ops/bench"], figures)


def checks() -> dict[str, Check]:
    from night.things import THINGS

    found = [Check(thing.receipt, f"ops/night --only {thing.name}", thing.covers, {"seen": thing.figure}, thing.parts) for thing in THINGS]
    for suite in ("bookworm", "trixie"):
        newcomer = [*SOURCES, "Tests", "jobs", "ops/setup", "ops/lib/setup", "ops/test", "ops/lib/test", "ops/quickstart", "ops/checks/clean-root"]
        found.append(Check(f"clean-root-{suite}", f"ops/checks/clean-root --suite {suite}", newcomer))
        packages = [*DEPLOYMENT, "ops/monitoring", "ops/checks/package-test"]
        found.append(Check(f"package-test-{suite}", f"ops/checks/package-test PACKAGES-OF-{suite.upper()}", packages))
    for server in SERVERS:
        suites = [*QUEUE, "Tests/QueueTests", "ops/lib/setup/servers", "ops/lib/test/servers", "ops/checks/servers"]
        seen = {"seen": rf"^\| {re.escape(server)} \| (.*) \|$"}
        found.append(Check(f"servers-{server}", f"ops/checks/servers --only {server}", suites, seen))
    rigs = [f"ops/lib/chaos/{name}.py" for name in ("rig", "photo_rig", "gateway_rig", "edits_rig", "verdict")]
    neighbours = [*QUEUE, "Sources/Library", "Sources/Worker", "Sources/Gateway", "Sources/Commands", "Sources/Operations", "jobs/photos",
                  "ops/checks/upgrade", "ops/lib/upgrade", *rigs]  # fmt: skip
    seen = {"beside": r"^upgrade: other is (.*)$", "seen": r"^upgrade: (2 orders, .*)$"}
    found.append(Check("upgrade-neighbours", "ops/checks/upgrade", neighbours, seen))
    for library in ("folder", "s3"):
        words = "" if library == "folder" else " s3"
        found.append(Check(f"container-test-{library}", f"ops/checks/container-test{words}", [*DEPLOYMENT, "ops/checks/container-test"]))
    found.append(Check("kube-test-gateway", "ops/checks/kube-test", [*DEPLOYMENT, "ops/checks/kube-test"]))
    found += [
        bench("render", colour=r"\| minilab-render \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|", megabytes=r"\| minilab-render \|.*\| ([\d.]+) \|$"),
        bench("looks", look=r"\| jpeg \| look \| ours \| [\d.]+ \| [\d.]+ \| \d+ \| ([\d.]+) \|"),
        bench("queue", ["Sources/Queue"]),
        bench("batch"),
        bench("memory"),
        bench("gateway", ["Sources/Gateway"]),
    ]
    return {check.name: check for check in found}
