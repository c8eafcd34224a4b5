"""Runs the same batch with a library in a folder and in a stub of an object store."""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from store_bench import stub

SEPIA = '{"filters":[{"name":"CISepiaTone"}]}'
IN, EVENTS = "minilab:{photos}:in", "minilab:{photos}:events"
# The first photos find no child, no connection and no figures of the store.
WARM = 8


def redis(port, *words):
    return subprocess.run(["redis-cli", "-p", str(port), *words], check=True, text=True,
                          capture_output=True).stdout


def start_redis(folder):
    port = 20000 + os.getpid() % 20000
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes",
         "--maxmemory-policy", "noeviction"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        answer = subprocess.run(["redis-cli", "-p", str(port), "ping"], text=True, check=False,
                                capture_output=True)
        if "PONG" in answer.stdout:
            return server, port
        time.sleep(0.05)
    raise SystemExit("redis-server does not answer")


def certificate(folder):
    key, pem = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
         "-out", pem], check=True, capture_output=True)
    return pem, key


def process_figures(pid):
    """Processor time in ms and peak memory in MB of one process, without its children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return ticks * 1000 / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024


def batch(arguments, port, library, settings):
    """Edits all photos and returns photos/s, the worker's ms of processor a photo, and its peak."""
    redis(port, "flushall")
    lines = "".join(f"xadd {IN} * asset p{number}{arguments.photo.suffix} edit '{SEPIA}'\n"
                    for number in range(arguments.photos))
    subprocess.run(["redis-cli", "-p", str(port)], input=lines, text=True, check=True,
                   capture_output=True)
    log = open(arguments.cache / "store-worker.log", "w", encoding="utf-8")
    worker = subprocess.Popen(
        [arguments.minilab, "worker", "--redis", f"redis://127.0.0.1:{port}", "--library", library,
         "--render-reuse", "false", "--slots", str(arguments.slots)],
        env=os.environ | {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"} | settings,
        stderr=log)
    try:
        deadline = time.monotonic() + 600
        while int(redis(port, "xlen", EVENTS)) < arguments.photos:
            if time.monotonic() > deadline or worker.poll() is not None:
                raise SystemExit(f"the worker did not end all jobs: see {log.name}")
            time.sleep(0.05)
        milliseconds, peak = process_figures(worker.pid)
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.wait()
    names = [line for line in redis(port, "xrange", EVENTS, "-", "+").splitlines()
             if "org.minilab.job." in line and '"type"' in line]
    if sum("org.minilab.job.completed" in name for name in names) != arguments.photos:
        raise SystemExit("not all jobs were completed")
    ids = [int(line.split("-")[0]) for line in redis(port, "xrange", EVENTS, "-", "+").splitlines()
           if line.replace("-", "").isdigit()]
    rate = (len(ids) - WARM) * 1000 / (ids[-1] - ids[WARM - 1])
    return rate, milliseconds / arguments.photos, peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=os.cpu_count())
    parser.add_argument("--latency", type=float, default=30)
    parser.add_argument("--rate", type=float, default=60)
    parser.add_argument("--photo", type=pathlib.Path, required=True)
    parser.add_argument("--minilab", required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    photo = arguments.photo.read_bytes()
    print(f"{arguments.photos} photos of {len(photo) / 1e6:.1f} MB, {arguments.latency:g} ms a request, "
          f"{arguments.rate:g} MB/s a connection")
    with tempfile.TemporaryDirectory(dir=arguments.cache.resolve()) as name:
        folder = pathlib.Path(name)
        server, port = start_redis(name)
        try:
            run(arguments, photo, folder, port)
        finally:
            server.terminate()
            server.wait()


def run(arguments, photo, folder, port):
    pem, key = certificate(folder)
    figures = {"folder": [], "bucket": [], "bucket, TLS": []}
    for number in range(arguments.rounds):
        for kind, results in figures.items():
            place = folder / f"{kind.replace(', ', '-')}-{number}"
            if kind == "folder":
                (place / "originals").mkdir(parents=True)
                for index in range(arguments.photos):
                    shutil.copy(arguments.photo, place / "originals" / f"p{index}{arguments.photo.suffix}")
                results.append(batch(arguments, port, str(place), {}))
            else:
                objects = stub.Objects()
                for index in range(arguments.photos):
                    objects.put(f"lab/originals/p{index}{arguments.photo.suffix}", photo, len(photo))
                tls = kind != "bucket"
                store = stub.serve(objects, arguments.latency / 1000, arguments.rate * 1e6,
                                   (pem, key) if tls else None)
                url = (f"s3://photos/lab?region=us-east-1&endpoint=http{'s' if tls else ''}://localhost:"
                       f"{store.server_address[1]}")
                settings = {"MINILAB_SCRATCH": str(place)}
                if tls:
                    settings["MINILAB_S3_CA_FILE"] = str(pem)
                results.append(batch(arguments, port, url, settings))
                store.shutdown()
                store.server_close()
            shutil.rmtree(place, ignore_errors=True)
    base = figures["folder"]
    print(f"\n{'':14}{'photos/s':>10}{'ratio':>8}{'worker ms':>11}{'more':>7}{'peak MB':>9}")
    for kind, results in figures.items():
        ratios = sorted(one[0] / other[0] for one, other in zip(results, base))
        more = sorted(one[1] - other[1] for one, other in zip(results, base))
        middle = len(results) // 2
        print(f"{kind:14}{sorted(one[0] for one in results)[middle]:10.1f}{ratios[middle]:8.2f}"
              f"{sorted(one[1] for one in results)[middle]:11.1f}{more[middle]:7.1f}"
              f"{max(one[2] for one in results):9.0f}")


main()
