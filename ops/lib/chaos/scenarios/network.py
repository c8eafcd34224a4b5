"""A network that loses packets: a namespace of its own, whose kernel drops them."""

import os
import shutil
import subprocess

from scenarios.registry import Skipped, scenario

LOSS_PERCENT = 30


@scenario("packet-loss", f"the kernel drops {LOSS_PERCENT} % of all packets between workers and Redis")
def packet_loss(rig):
    name = f"minilab-chaos-{os.getpid()}"
    rig.ends.append(lambda: subprocess.run(["ip", "netns", "del", name], capture_output=True))
    inside = namespace(name)
    server = rig.start_server(prefix=inside)
    for _ in range(2):
        rig.worker(slots=4, work_ms=10, lease="5s", prefix=inside)
    # A worker that gets no answer at its start ends, and its supervisor starts it again; there is none here.
    rig.wait_for_workers()
    set_loss(inside, server.port, LOSS_PERCENT)
    rig.send(rig.size(600))
    rig.wait_for_effects(int(len(rig.assets) * 0.9), within=300)
    set_loss(inside, server.port, 0)


def namespace(name):
    """Makes a network namespace with a loopback; gives the words that run a command in it."""
    for tool in ("ip", "nft"):
        if not shutil.which(tool):
            raise Skipped(f"{tool} is not installed (ops/setup chaos)")
    inside = ["ip", "netns", "exec", name]
    for command in (["ip", "netns", "add", name], ["ip", "-n", name, "link", "set", "lo", "up"],
                    [*inside, "nft", "add table inet chaos"]):
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode != 0:
            raise Skipped(f"no network namespaces here: {' '.join(command)}: {made.stderr.strip()}")
    return inside


def set_loss(inside, port, percent):
    rules = "flush ruleset\n"
    if percent:
        rules += ("table inet chaos { chain input { type filter hook input priority 0;\n"
                  f"tcp dport {port} numgen random mod 100 < {percent} drop\n"
                  f"tcp sport {port} numgen random mod 100 < {percent} drop\n}}\n}}\n")
    subprocess.run([*inside, "nft", "-f", "-"], input=rules, text=True, check=True)
