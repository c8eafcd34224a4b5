"""POST /v1/jobs beside a bare Hummingbird that decodes the same JSON and answers as many bytes."""

import json
import os
import pathlib
import statistics
import subprocess

import gateway
from processes import Server
from table import Row

BARE_PORT = 8192
CONNECTIONS = 32
RATIO_MIN = 0.75
SERVER_CPU, OTHERS_CPU = 0, 1  # the server that is measured has a processor for itself
SCRIPT = pathlib.Path(__file__).with_name("post.lua")
loads = 0


def load(port, key, seconds, connections=CONNECTIONS):
    """What wrk saw in so many seconds."""
    global loads
    loads += 1
    done = subprocess.run(
        ["taskset", "-c", str(OTHERS_CPU), "wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "30"]
        + ["-s", str(SCRIPT), f"http://127.0.0.1:{port}"],
        env={**os.environ, "BENCH_KEY": key, "BENCH_START": f"r{os.getpid()}-{loads}"},
        capture_output=True, text=True, timeout=seconds + 60, check=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    if seen["failed"]:
        raise SystemExit(f"gateway: {seen['failed']} of {seen['requests']} POSTs failed")
    return seen


def measure(options):
    rounds = 1 if options.short else 3
    seconds = 3 if options.short else 6
    seen = {"bare": [], "gateway": []}
    with Server([options.bare, str(BARE_PORT)], BARE_PORT, "/", SERVER_CPU) as bare, gateway.running(
        options.programs, SERVER_CPU, OTHERS_CPU
    ) as ours:
        key = ours.tenant_key(scopes="enqueue")
        sides = {"bare": (bare, BARE_PORT), "gateway": (ours.server, ours.port)}
        for server, port in sides.values():
            load(port, key, 1)  # code and connections that are met for the first time
        for _ in range(rounds):
            for name, (server, port) in sides.items():
                cpu, redis = server.cpu_seconds(), ours.redis.cpu_seconds()
                found = load(port, key, seconds)
                found["cpu"] = (server.cpu_seconds() - cpu) / found["requests"] * 1e6
                found["redis"] = (ours.redis.cpu_seconds() - redis) / found["requests"] * 1e6
                found["rate"] = found["requests"] / found["seconds"]
                seen[name].append(found)
    ratio = statistics.median(
        ours["rate"] / bare["rate"] for ours, bare in zip(seen["gateway"], seen["bare"], strict=True))

    def middle(name, field):
        return statistics.median(round[field] for round in seen[name])

    words = (
        f"{ratio:.2f} × ({middle('gateway', 'rate'):,.0f}/s beside {middle('bare', 'rate'):,.0f}/s; CPU "
        f"{middle('gateway', 'cpu'):.0f} µs and {middle('bare', 'cpu'):.0f} µs; Redis {middle('gateway', 'redis'):.0f} µs; "
        f"p99 {middle('gateway', 'p99'):.1f} ms and {middle('bare', 'p99'):.1f} ms)")
    return [Row("POST of a job, beside a bare Hummingbird", f"≥ {RATIO_MIN} × its rate", words, ratio >= RATIO_MIN)]
