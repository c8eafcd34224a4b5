"""A thousand clients of GET /v1/events as Server-Sent Events, and how far behind they are."""

import os
import re
import selectors
import socket
import threading
import time

import gateway
from filling import Filler
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

CLIENTS = 1000
RSS_MAX = 100e6
BEHIND_MAX = 1.0
EVENT = re.compile(rb"^id: (\d+)-(\d+)$", re.M)
OPENS_SECONDS_MAX = 60
DRAINS_SECONDS = 3  # after the last event was made


def measure(options):
    rows = []
    for rate in (10,) if options.short else (10, 20):
        with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
            rows.append(once(ours, 100 if options.short else CLIENTS, rate, 5 if options.short else 15))
    return rows


def once(ours, count, rate, seconds):
    os.sched_setaffinity(0, {OTHERS_CPU})
    streams = Streams(ours, ours.tenant_key(), count)
    try:
        streams.open()
        filler = Filler(ours.redis)
        made = rate * seconds
        cpu = ours.server.cpu_seconds()
        maker = threading.Thread(target=make, args=(filler, rate, made))
        maker.start()
        streams.read(until=lambda: not maker.is_alive(), then=DRAINS_SECONDS)
        maker.join()
        cpu = ours.server.cpu_seconds() - cpu
        lost = made * count - streams.events
        rss = ours.server.peak_bytes()
        words = (
            f"{rss / 1e6:.0f} MB; last event {streams.latest:.2f} s behind; {streams.events:,} events, {lost} lost; "
            f"{cpu / max(1, streams.events) * 1e6:.1f} µs of processor an event and client")
        met = rss <= RSS_MAX and streams.latest <= BEHIND_MAX and lost == 0
        return Row(f"{count:,} SSE clients, {rate} events/s", "≤ 100 MB, ≤ 1 s behind", words, met)
    finally:
        streams.close()
        os.sched_setaffinity(0, range(os.cpu_count()))


def make(filler, rate, count):
    start = time.monotonic()
    for number in range(count):
        filler.add("dead", 1, first=number)
        time.sleep(max(0, start + (number + 1) / rate - time.monotonic()))  # keeps to the rate


class Streams:
    """Clients that read all the time; `latest` is the longest time from an event's id, which is Redis' clock, to its arrival."""

    def __init__(self, ours, key, count):
        self.ours, self.key, self.count = ours, key, count
        self.selector = selectors.DefaultSelector()
        self.rest, self.events, self.latest = {}, 0, 0.0

    def open(self):
        head = (f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                f"Authorization: Bearer {self.key}\r\n\r\n").encode()
        for _ in range(self.count):
            client = socket.create_connection(("127.0.0.1", self.ours.port), timeout=OPENS_SECONDS_MAX)
            client.sendall(head)
            answer = client.recv(65536)
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"gateway: a stream was refused: {answer[:300]}")
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_READ)
            self.rest[client] = b""

    def read(self, until, then):
        end = None
        while end is None or time.monotonic() < end:
            if end is None and until():
                end = time.monotonic() + then
            for ready, _ in self.selector.select(0.1):
                self.take(ready.fileobj)

    def take(self, client):
        data = client.recv(65536)
        if not data:
            raise SystemExit("gateway: a stream ended")
        now = time.time()
        data = self.rest[client] + data
        whole, _, self.rest[client] = data.rpartition(b"\n")
        for found in EVENT.finditer(whole):
            self.events += 1
            self.latest = max(self.latest, now - int(found[1]) / 1000)

    def close(self):
        for client in self.rest:
            client.close()
        self.selector.close()
