"""Edits the same photos with Minilab and with RQ + pyvips and prints photos per second.

Called by ops/bench/batch.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from queue_bench.server import Server

SECONDS_MAX = 600  # longest one side may take
WORKERS = 2
PEER = "RQ + pyvips"
EDIT = {"filters": [{"name": "CISepiaTone", "inputIntensity": 0.8}],
        "output": {"format": "jpeg", "quality": 0.9}}


def copies(photo, folder, count):
    """Copies that share the photo's bytes, so that both sides read from the same cached pages."""
    folder.mkdir(parents=True)
    one = shutil.copy(photo, folder.parent / "photo.jpg")
    for number in range(count):
        os.link(one, folder / f"{number}.jpg")


def minilab(given, folder):
    library = folder / "library"
    copies(given.photo, library / "originals", given.photos)
    with Server() as server:
        for number in range(given.photos):
            server.client.xadd("minilab:{photos}:in",
                               {"asset": f"{number}.jpg", "edit": json.dumps(EDIT)})
        start = time.monotonic()
        worker = subprocess.Popen(
            [given.minilab, "worker", "--redis", f"unix://{server.socket}", "--library", library,
             "--slots", str(WORKERS), "--log-level", "error",
             # They are all one photo: else one would be rendered and the rest linked.
             "--render-reuse", "false"])
        done, last = 0, "0-0"
        try:
            while done < given.photos:
                if time.monotonic() - start > SECONDS_MAX or worker.poll() is not None:
                    sys.exit("batch: minilab did not finish")
                streams = server.client.xread(
                    {"minilab:{photos}:events": last}, block=1000) or []
                for _, entries in streams:
                    for last, fields in entries:
                        event = json.loads(fields[b"event"])
                        if not event["type"].endswith("completed"):
                            sys.exit(f"batch: {event}")
                        done += 1
            seconds = time.monotonic() - start
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(timeout=60)
    return seconds


def rq_pyvips(given, folder):
    import rq

    copies(given.photo, folder / "in", given.photos)
    (folder / "out").mkdir()
    with Server() as server:
        queue = rq.Queue(connection=server.client)
        for number in range(given.photos):
            queue.enqueue("batch_jobs.sepia", str(folder / "in" / f"{number}.jpg"),
                          str(folder / "out" / f"{number}.jpg"))
        code = ("import sys, redis, rq, batch_jobs\n"
                "connection = redis.Redis(unix_socket_path=sys.argv[1])\n"
                "queue = rq.Queue(connection=connection)\n"
                "rq.Worker([queue], connection=connection).work(burst=True, logging_level='ERROR')\n")
        here = pathlib.Path(__file__).parent
        start = time.monotonic()
        workers = [
            subprocess.Popen([sys.executable, "-c", code, server.socket], cwd=here,
                             env=dict(os.environ, VIPS_CONCURRENCY="1"))
            for _ in range(WORKERS)]
        for worker in workers:
            worker.wait(timeout=SECONDS_MAX)
        seconds = time.monotonic() - start
        finished = queue.finished_job_registry.count
        if finished != given.photos:
            sys.exit(f"batch: RQ finished {finished} of {given.photos}")
    return seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--photos", type=int, required=True)
    arguments.add_argument("--photo", required=True)
    arguments.add_argument("--minilab", required=True)
    arguments.add_argument("--folder", required=True)
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    rates = {}
    for name, run in (("Minilab", minilab), *(() if given.no_peer else ((PEER, rq_pyvips),))):
        with tempfile.TemporaryDirectory(prefix="batch-", dir=given.folder) as folder:
            rates[name] = given.photos / run(given, pathlib.Path(folder))
    print(f"{given.photos} × {os.path.basename(given.photo)}, {WORKERS} render processes\n")
    print(f"| | photos/s | × {PEER} |\n|---|---:|---:|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:.1f} | {f'{rate / rates[PEER]:.2f}' if PEER in rates else '–'} |")


if __name__ == "__main__":
    main()
