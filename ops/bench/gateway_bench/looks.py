"""Pages and GET routes of a queue with a million jobs, as many dead ones, and 10,000 tenants; viewers of the first page."""

import gzip
import http.client
import re
import selectors
import socket
import statistics
import time
import urllib.parse

import gateway
from filling import Filler
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

JOBS, TENANTS = 1_000_000, 10_000
PAGE_MAX = 0.1
RUNS = 5
VIEWERS, VIEWED_SECONDS = 50, 20
REDIS_SHARE_MAX = 0.02
WEIGHT_MAX, REQUESTS_MAX = 60_000, 6

PAGES = ["/", "/find?q=bench7.w7", "/find?q=bench7/2026/IMG_7dead.JPG", "/find?q=bench7", "/find?q=missingAsset",
         "/jobs/bench7.w7", "/jobs/bench7.d7", "/batches", "/dead", "/dead?code=missingAsset", "/dead?tenant=bench7",
         "/dead/replay?code=missingAsset", "/limits", "/keys", "/webhooks", "/audit", "/signin"]
ROUTES = ["/v1/queue", "/v1/workers", "/v1/jobs/bench7.w7", "/v1/jobs/bench7.d7", "/v1/jobs/bench7.d7/bundle",
          "/v1/batches", "/v1/dead", "/v1/dead?code=missingAsset", "/v1/dead?tenant=bench7", "/v1/dead/groups",
          "/v1/replays", "/v1/keys", "/v1/webhooks", "/v1/events?after=$", "/openapi.json", "/healthz",
          "/readyz"]
SHARED_LOOKS = {"/", "/limits", "/v1/queue"}
# Not among them: the doctor, which walks through all of a queue, for minutes, when a person asks it to.


def measure(options):
    jobs, tenants = (50_000, TENANTS) if options.short else (JOBS, TENANTS)
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        start = time.monotonic()
        ours.redis.client("CONFIG", "SET", "appendonly", "no")  # while it is filled
        filler = Filler(ours.redis)
        for kind in ("waiting", "dead"):
            filler.add(kind, jobs, tenants)
        print(f"filled in {time.monotonic() - start:.0f} s, {ours.redis.memory() / 1e9:.1f} GB of Redis", flush=True)
        key = ours.operator_key()
        cookie = sign_in(ours, key)
        rows = [
            slowest(f"Pages of a queue of {jobs:,} jobs, {tenants:,} tenants, {jobs:,} dead", ours, PAGES,
                    {"Cookie": cookie}),
            slowest("GET routes of the same queue", ours, ROUTES, {"Authorization": f"Bearer {key}"}),
            viewers(ours, cookie, 5 if options.short else VIEWED_SECONDS),
            weight(ours, cookie),
        ]
        return rows


def get(ours, path, headers):
    connection = http.client.HTTPConnection("localhost", ours.port, timeout=600)
    start = time.perf_counter()
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    seconds = time.perf_counter() - start
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"gateway: GET {path}: {answer.status} {text[:300]}")
    return text, seconds


def sign_in(ours, key):
    connection = http.client.HTTPConnection("localhost", ours.port, timeout=60)
    connection.request("POST", "/signin", urllib.parse.urlencode({"key": key}),
                       {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 303:
        raise SystemExit(f"gateway: signing in was answered with {answer.status}")
    return answer.headers["Set-Cookie"].split(";")[0]


def slowest(name, ours, paths, headers):
    """The path that takes most, by the processor time of gateway and Redis: the clock has what else the machine does."""
    found = []
    for path in paths:
        times, before = [], ours.server.cpu_seconds() + ours.redis.cpu_seconds()
        for _ in range(RUNS):
            times.append(get(ours, path, headers)[1])
            if path in SHARED_LOOKS:
                time.sleep(1.1)  # so that it looks again: a look is shared for a second
        cpu = (ours.server.cpu_seconds() + ours.redis.cpu_seconds() - before) / RUNS
        found.append((cpu, statistics.median(times), path))
    found.sort(reverse=True)
    words = ", ".join(f"{path} {cpu * 1e3:.0f} ms (clock {seconds * 1e3:.0f})" for cpu, seconds, path in found[:4])
    return Row(f"{name}: those that take most of {len(paths)}", "≤ 100 ms", words, found[0][0] <= PAGE_MAX)


def viewers(ours, cookie, seconds):
    selector = selectors.DefaultSelector()
    clients = []
    idle = ours.redis.cpu_seconds()
    time.sleep(seconds)  # what Redis takes when nobody looks
    idle = ours.redis.cpu_seconds() - idle
    for _ in range(VIEWERS):
        client = socket.create_connection(("127.0.0.1", ours.port), timeout=60)
        client.sendall(f"GET /ui/live?page=now HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode())
        if not client.recv(65536).startswith(b"HTTP/1.1 200"):
            raise SystemExit("gateway: a viewer was refused")
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
        clients.append(client)
    redis, cpu, start = ours.redis.cpu_seconds(), ours.server.cpu_seconds(), time.monotonic()
    received = 0
    while time.monotonic() - start < seconds:
        for ready, _ in selector.select(0.2):
            received += len(ready.fileobj.recv(1 << 20))
    taken = time.monotonic() - start
    redis = (ours.redis.cpu_seconds() - redis) / taken
    cpu = (ours.server.cpu_seconds() - cpu) / taken
    for client in clients:
        client.close()
    share = redis - idle / seconds
    return Row(f"{VIEWERS} viewers of the first page of the same queue", "Redis ≤ 2 % of a core",
               f"{share * 100:.1f} % (without viewers {idle / seconds * 100:.1f} %); gateway {cpu * 100:.0f} %; "
               f"{received / 1e6:.1f} MB", share <= REDIS_SHARE_MAX)


def weight(ours, cookie):
    """The heaviest page with all that a browser loads for it, compressed as a proxy does it."""
    found = []
    for page in PAGES:
        html = get(ours, page, {"Cookie": cookie})[0]
        open_, loaded = linked(html.decode(), page), {}
        while open_:
            path = open_.pop()
            if path not in loaded:
                loaded[path] = get(ours, path, {"Cookie": cookie})[0]
                if path.endswith(".js"):
                    open_ |= imported(loaded[path].decode(), path)
        sizes = sum(len(gzip.compress(part, 6)) for part in [html, *loaded.values()])
        found.append((sizes, 1 + len(loaded), len(gzip.compress(html, 6)), page))
    size, requests, html, page = max(found)
    most = max(entry[1] for entry in found)
    return Row("Weight of a page, compressed", "≤ 60 KB, ≤ 6 requests",
               f"at most {size / 1e3:.1f} KB ({page}, of it {html / 1e3:.1f} KB the page), {most} requests",
               size <= WEIGHT_MAX and most <= REQUESTS_MAX)


def linked(html, page):
    """Files that a page names: styles, scripts, icons, pictures."""
    names = re.findall(r'<(?:script|img)[^>]*\ssrc="([^"]+)"', html)
    names += [href[1] for tag in re.findall(r"<link[^>]*>", html)
              if (href := re.search(r'\shref="([^"]+)"', tag)) and not re.search(r'rel="(canonical|alternate)"', tag)]
    return {urllib.parse.urljoin(page, name) for name in names if not name.startswith("data:")}


def imported(script, path):
    return {urllib.parse.urljoin(path, name) for name in re.findall(r'(?:from|import)\s*"([./][^"]+)"', script)}
