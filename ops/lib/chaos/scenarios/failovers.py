"""Masters that die and replicas that take their place."""

import subprocess

from scenarios.registry import Skipped, scenario
from servers import Cluster, WatchedServer

ROUNDS = 3
JOBS_PER_ROUND = 400


@scenario("sentinel-failover", "the master dies under load and a replica takes its place by Sentinel's vote",
          server_may_lose=True)
def sentinel_failover(rig):
    fail_over(rig, WatchedServer)


@scenario("cluster-failover", "the queue's master in a cluster of three dies under load",
          server_may_lose=True)
def cluster_failover(rig):
    fail_over(rig, Cluster)


def fail_over(rig, make):
    server = rig.start_server(make)
    if not knows(rig):
        raise Skipped(f"this minilab does not know {server.url.split(':')[0]}:// addresses")
    for _ in range(2):
        rig.worker(slots=4, work_ms=10)
    rig.wait_for_workers()
    for _ in range(rig.size(ROUNDS)):
        rig.send(rig.size(JOBS_PER_ROUND))
        rig.pause(0.1, 0.5)
        server.fail_over()


def knows(rig):
    try:
        rig.status()
        return True
    except subprocess.CalledProcessError:
        return False
