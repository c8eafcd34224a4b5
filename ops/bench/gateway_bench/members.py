"""Members of a batch by PUT /v1/batches/…/members, one a line."""

import http.client
import json
import os
import statistics

import gateway
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

RATE_MIN = 150_000  # members a second of a core of the gateway
MEMBERS = 1_000_000
PART_BYTES = 1 << 20
EDIT = '{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}'


def lines(count, batch):
    """The body: each member is an object with its own asset and edit, as MemberUpload has to read them."""
    return "".join(
        f'{{"asset":"bench/{batch}/IMG_{number:07}.JPG","edit":{EDIT}}}\n' for number in range(count)).encode()


def open_batch(ours, key, batch):
    call(ours, key, "POST", "/v1/batches", json.dumps({"id": batch, "edit": json.loads(EDIT)}))


def call(ours, key, method, path, body=None, type="application/json"):
    connection = http.client.HTTPConnection("127.0.0.1", ours.port, timeout=600)
    connection.request(method, path, body, {"Authorization": f"Bearer {key}", "Content-Type": type})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status >= 300:
        raise SystemExit(f"gateway: {method} {path}: {answer.status} {text[:500]}")
    return json.loads(text)


def measure(options):
    count = 200_000 if options.short else MEMBERS
    rounds = []
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        os.sched_setaffinity(0, {OTHERS_CPU})
        try:
            key = ours.tenant_key(scopes="enqueue")
            for number in range(1 if options.short else 3):
                batch = f"b{number}"
                open_batch(ours, key, batch)
                body = lines(count, batch)
                ours.server.forget_peak()
                cpu, redis, start = ours.server.cpu_seconds(), ours.redis.cpu_seconds(), os.times().elapsed
                taken = call(
                    ours, key, "PUT", f"/v1/batches/{batch}/members?from=0", body, "application/x-ndjson")
                seconds = os.times().elapsed - start
                if taken["next"] != count:
                    raise SystemExit(f"gateway: {taken} instead of {count} members")
                rounds.append((
                    seconds, ours.server.cpu_seconds() - cpu, ours.redis.cpu_seconds() - redis,
                    ours.server.peak_bytes()))
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
    seconds, cpu, redis, peak = (statistics.median(values) for values in zip(*rounds, strict=True))
    # Of the processor that is the first to be full; the clock also has what else this machine does.
    rate = count / max(cpu, redis, 1e-9)
    words = (
        f"{rate:,.0f} for a second of processor (gateway {cpu / count * 1e6:.2f} µs, Redis {redis / count * 1e6:.2f} µs each); "
        f"{count / seconds:,.0f}/s by the clock; peak {peak / 1e6:.0f} MB")
    return [Row(
        f"NDJSON members, {count:,} of {len(body) // count} bytes", f"≥ {RATE_MIN:,}/s on one core", words,
        rate >= RATE_MIN)]
