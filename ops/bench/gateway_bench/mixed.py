"""How long POSTs take while a bulk of members is received."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading

import gateway
from members import EDIT, call, lines, open_batch
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

P99_MAX = 25.0  # ms
RATES = (500, 3000)
CLIENTS = 50
MEMBERS = 100_000


def measure(options):
    rows = []
    seconds = 4 if options.short else 10
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        os.sched_setaffinity(0, {OTHERS_CPU})
        try:
            key = ours.tenant_key(scopes="enqueue")
            for rate in RATES[:1] if options.short else RATES:
                rows.append(once(ours, key, rate, seconds))
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
    return rows


def once(ours, key, rate, seconds):
    done, taken = threading.Event(), []
    bulk = threading.Thread(target=send_bulk, args=(ours, key, f"m{rate}", done, taken))
    bulk.start()
    try:
        times, failed, reached = posts(ours, key, rate, seconds)
    finally:
        done.set()
        bulk.join()
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    words = (f"p99 {p99:.1f} ms, p50 {p50:.1f} ms at {reached:,.0f}/s; meanwhile {sum(taken) / seconds:,.0f} members/s"
             + (f"; {failed} failed" if failed else ""))
    return Row(f"POST at {rate:,}/s during a bulk upload", f"p99 ≤ {P99_MAX:.0f} ms", words,
               p99 <= P99_MAX and not failed and reached >= 0.9 * rate)


def send_bulk(ours, key, batch, done, taken):
    """One PUT after the other: each goes on where the last one ended."""
    open_batch(ours, key, batch)
    body = lines(MEMBERS, batch)
    while not done.is_set():
        answer = call(ours, key, "PUT", f"/v1/batches/{batch}/members?from={sum(taken)}", body, "application/x-ndjson")
        taken.append(answer["next"] - sum(taken))


def posts(ours, key, rate, seconds):
    """The times in ms, sorted, how many failed, and the rate that was reached; h2load sends at a rate, wrk does not.

    The jobs have no id, so each of the same bodies is a job of its own.
    """
    with tempfile.TemporaryDirectory(prefix="minilab-bench-") as folder:
        body, log = pathlib.Path(folder, "body.json"), pathlib.Path(folder, "log")
        body.write_text(json.dumps({"asset": "bench/IMG_1.JPG", "edit": json.loads(EDIT)}))
        subprocess.run(
            ["h2load", "--h1", f"--clients={CLIENTS}", f"--requests={rate * seconds}", f"--rps={rate // CLIENTS}"]
            + [f"--data={body}", f"--log-file={log}", f"--header=Authorization: Bearer {key}"]
            + ["--header=Content-Type: application/json", f"http://127.0.0.1:{ours.port}/v1/jobs"],
            stdout=subprocess.DEVNULL, check=True, timeout=seconds * 10 + 60)
        rows = [line.split() for line in log.read_text().splitlines()]
    times = sorted(int(row[2]) / 1000 for row in rows)
    failed = sum(row[1] != "202" for row in rows) + rate * seconds - len(rows)
    begun = [int(row[0]) for row in rows]
    return times, failed, len(rows) / max(1e-6, (max(begun) - min(begun)) / 1e6)
