"""How long the calls of 20 good keys take beside one hostile key, which uses all that a key can use."""

import http.client
import json
import multiprocessing
import os
import socket
import threading
import time

import gateway
from members import EDIT
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

GOOD_KEYS = 20
GOOD_RATE = 10  # calls a second of each good key: a POST of a job, then the job, by turns
FACTOR_MAX = 2.0
# The hostile key tries to hold these; the gateway's limits decide how much of it gets through.
HOSTILE_RATE = 200  # its calls a second, the usual limit of a key
STREAMS = 1_500
IDLE = 3_000
UPLOADS = 64
UPLOAD_BYTES = 4 << 30
WEBHOOKS = 24
SILENT_HOST = "n{}.silent.invalid"


def measure(options):
    seconds = 5 if options.short else 20
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        good = [ours.tenant_key(f"good{number}", "enqueue,read") for number in range(GOOD_KEYS)]
        words = ["key", "create", "--redis", ours.redis.url, "--json", "--tenant", "evil", "--prefix", "evil/"]
        evil = json.loads(gateway.run(options.programs, *words, "--scope", "enqueue,read"))["secret"]
        os.sched_setaffinity(0, {OTHERS_CPU})
        try:
            calls(ours.port, good, 1)  # code and connections that are met for the first time
            alone, _ = calls(ours.port, good, seconds)
            ready, done = multiprocessing.Event(), multiprocessing.Event()
            hostile = multiprocessing.Process(target=attack, args=(ours.port, evil, ready, done))
            hostile.start()
            try:
                ready.wait(60)
                beside, failed = calls(ours.port, good, seconds)
                health = healthy(ours.port)
            finally:
                done.set()
                hostile.join(30)
                hostile.kill()
        finally:
            os.sched_setaffinity(0, range(os.cpu_count()))
    factor = p99(beside) / p99(alone)
    return [Row(
        f"{GOOD_KEYS} good keys beside one hostile key", f"p99 ≤ {FACTOR_MAX:.0f} × alone",
        f"{factor:.2f} × (p99 {p99(beside):.1f} ms beside {p99(alone):.1f} ms, {len(beside):,} calls); {failed} failed; "
        f"/healthz in {health:.0f} ms", factor <= FACTOR_MAX and not failed)]


def p99(times):
    return sorted(times)[int(len(times) * 0.99)]


def calls(port, keys, seconds):
    """The times in ms of all calls of the good keys, and how many failed. A call that is late begins at once."""
    times, failed = [], []

    def one(number, key):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        begin, job = time.monotonic() + number / GOOD_KEYS / GOOD_RATE, None
        for turn in range(seconds * GOOD_RATE):
            time.sleep(max(0, begin + turn / GOOD_RATE - time.monotonic()))  # the pace of a client
            start = time.monotonic()
            try:
                job = call(connection, key, number, turn, job)
            except (OSError, http.client.HTTPException, ValueError) as error:
                failed.append(error)
                connection.close()
            times.append((time.monotonic() - start) * 1000)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(keys)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, len(failed)


def call(connection, key, number, turn, job):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if job is None:
        body = json.dumps({"asset": f"good{number}/IMG_{turn}.JPG", "edit": json.loads(EDIT)})
        connection.request("POST", "/v1/jobs", body, headers)
    else:
        connection.request("GET", f"/v1/jobs/{job}", headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in (200, 202):
        raise ValueError(f"{answer.status}: {body[:200]}")
    return json.loads(body)["job"] if job is None else None


def healthy(port):
    """How long a new connection waits for /healthz, in ms."""
    start = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    return (time.monotonic() - start) * 1000


def attack(port, key, ready, done):
    """Holds streams, uploads, look-ups and idle connections, and sends calls as fast as a key may, until it is done."""
    held = []

    def hold(head):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setblocking(False)
        connection.send(head.format(key=key).encode())
        held.append(connection)

    fields = "HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    for _ in range(STREAMS):
        hold(f"GET /v1/events {fields}Accept: text/event-stream\r\n\r\n")
    for number in range(UPLOADS):
        hold(f"PUT /v1/originals/evil/{number}.JPG {fields}Content-Length: {UPLOAD_BYTES}\r\n\r\nx")
    for number in range(WEBHOOKS):
        body = json.dumps({"url": f"https://{SILENT_HOST.format(number)}/"})
        head = f"POST /v1/webhooks {fields}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        hold(head + body.replace("{", "{{").replace("}", "}}"))
    for _ in range(IDLE):
        held.append(socket.create_connection(("127.0.0.1", port)))
    ready.set()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    turn, begin = 0, time.monotonic()
    while not done.is_set():
        turn += 1
        time.sleep(max(0, begin + turn / HOSTILE_RATE - time.monotonic()))  # the pace of the attack
        try:
            if turn % 10 == 0:
                connection.request("POST", "/signin", "key=x", {"Host": f"localhost:{port}"})
            else:
                body = json.dumps({"asset": f"evil/IMG_{turn}.JPG", "edit": json.loads(EDIT)})
                connection.request("POST", "/v1/jobs", body, headers)
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()
