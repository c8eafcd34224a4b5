"""Clients that stop reading a download, and uploads side by side."""

import base64
import hashlib
import http.client
import os
import pathlib
import socket
import threading
import time

import gateway
from posts import OTHERS_CPU, SERVER_CPU
from table import Row

DOWNLOADS, UPLOADS = 200, 8
BYTES = 200_000_000
RSS_MAX = 64e6
RECEIVES_BYTES = 4096  # the clients' buffers in the kernel, at least
SIPS, SIP_BYTES, SIP_SECONDS = 20, 1024, 0.5  # what a stalled client takes: above the 240 B/s that it has to


def measure(options):
    size = 20_000_000 if options.short else BYTES
    os.sched_setaffinity(0, {OTHERS_CPU})
    try:
        return [downloads(options, size), uploads(options, size)]
    finally:
        os.sched_setaffinity(0, range(os.cpu_count()))


def downloads(options, size):
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        key = ours.tenant_key()
        path = pathlib.Path(ours.library, "originals/bench/big.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1 << 20) * (size >> 20))
        head = (f"GET /v1/originals/bench/big.jpg HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Authorization: Bearer {key}\r\n\r\n").encode()
        clients = []
        for _ in range(DOWNLOADS):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVES_BYTES)
            client.settimeout(60)
            client.connect(("127.0.0.1", ours.port))
            client.sendall(head)
            clients.append(client)
        if not all(client.recv(64).startswith(b"HTTP/1.1 200") for client in clients):
            raise SystemExit("gateway: a download was refused")
        for _ in range(SIPS):
            for client in clients:
                if not client.recv(SIP_BYTES):
                    raise SystemExit("gateway: a download that is read slowly was cut off")
            time.sleep(SIP_SECONDS)  # so slow are they
        peak = ours.server.peak_bytes()
        for client in clients:
            client.close()
        return Row(f"{DOWNLOADS} stalled downloads of {size // 1_000_000} MB", "≤ 64 MB", f"peak {peak / 1e6:.0f} MB",
                   peak <= RSS_MAX)


def uploads(options, size):
    body = os.urandom(1 << 20) * (size >> 20)
    digest = hashlib.sha256(body).digest()
    with gateway.running(options.programs, SERVER_CPU, OTHERS_CPU) as ours:
        key = ours.tenant_key()
        statuses = []
        threads = [threading.Thread(target=send, args=(ours, key, number, body, digest, statuses))
                   for number in range(UPLOADS)]
        cpu, start = ours.server.cpu_seconds(), time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, cpu = time.monotonic() - start, ours.server.cpu_seconds() - cpu
        if statuses != [201] * UPLOADS:
            raise SystemExit(f"gateway: uploads were answered with {statuses}")
        peak = ours.server.peak_bytes()
        sent = len(body) * UPLOADS / 1e6
        return Row(
            f"{UPLOADS} uploads of {size // 1_000_000} MB at the same time", "≤ 64 MB",
            f"peak {peak / 1e6:.0f} MB; {sent / seconds:,.0f} MB/s, {cpu / sent * 1e3:.2f} ms of processor a MB",
            peak <= RSS_MAX)


def send(ours, key, number, body, digest, statuses):
    connection = http.client.HTTPConnection("127.0.0.1", ours.port, timeout=600)
    connection.request("PUT", f"/v1/originals/bench/up{number}.jpg", body, {
        "Authorization": f"Bearer {key}", "If-None-Match": "*",
        "Content-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:"})
    answer = connection.getresponse()
    answer.read()
    statuses.append(answer.status)
