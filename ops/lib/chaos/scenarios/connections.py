"""Connections that break between a Redis and workers that are both well."""

from proxy import Proxy
from scenarios.registry import scenario

JOBS = 1200


@scenario("client-kill", "CLIENT KILL TYPE normal every 10 to 100 ms")
def client_kill(rig):
    server = rig.start_server()
    rig.send(rig.size(JOBS))
    workers_of(rig, server.url)
    for _ in range(rig.size(80)):
        server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        rig.pause(0.01, 0.1)


@scenario("client-pause", "CLIENT PAUSE for up to two leases, of all commands or of writes")
def client_pause(rig):
    server = rig.start_server()
    rig.send(rig.size(JOBS))
    workers_of(rig, server.url)
    for _ in range(rig.size(6)):
        server("CLIENT", "PAUSE", rig.random.randint(100, 2000), rig.random.choice(["ALL", "WRITE"]))
        rig.pause(0.5, 2.5)


@scenario("proxy-reset", "all connections are reset (RST) every 20 to 200 ms")
def proxy_reset(rig):
    proxy = behind_proxy(rig)
    for _ in range(rig.size(60)):
        rig.pause(0.02, 0.2)
        proxy.reset()


@scenario("proxy-cut", "each connection is cut after a random number of bytes, in the middle of commands and of "
          "replies")
def proxy_cut(rig):
    random = rig.random
    proxy = behind_proxy(rig)
    proxy.cut_after = lambda: int(2 ** random.uniform(8, 17))
    proxy.reset()
    rig.wait_for_effects(int(len(rig.assets) * 0.8), within=300)
    proxy.cut_after = None
    assert proxy.cuts > 10, f"only {proxy.cuts} connections were cut"


@scenario("proxy-black-hole", "nothing passes and nothing is refused, for up to three leases")
def proxy_black_hole(rig):
    proxy = behind_proxy(rig)
    for _ in range(rig.size(6)):
        rig.pause(0.1, 0.5)
        proxy.is_black_hole = True
        rig.pause(0.5, 3)
        proxy.is_black_hole = False


@scenario("proxy-cut-off", "one of two workers is cut off for two leases, ten times; with the usual limit of crashes no job dies")
def proxy_cut_off(rig):
    rig.settings = rig.settings_with({"crashes.max": 3})
    server = rig.start_server()
    proxy = Proxy(server.port)
    rig.ends.append(proxy.end)
    rig.send(rig.size(40))
    # Each job takes long enough that its claim is confirmed, and is lost when its worker is cut off.
    rig.worker("cut", slots=4, work_ms=1500, url=proxy.url)
    rig.worker("near", slots=1, work_ms=200)
    rig.wait_for_workers()
    for _ in range(rig.size(10)):
        rig.pause(1.2, 2)
        proxy.is_black_hole = True
        rig.pause(2, 2)
        proxy.is_black_hole = False
    counters = rig.status()["counters"]
    rig.remarks.append(f"{counters.get('pardoned', 0)} of {counters.get('crashed', 0)} crashes were taken back")


@scenario("proxy-latency", "every byte takes one second each way; the lease is 10 s")
def proxy_latency(rig):
    proxy = behind_proxy(rig, lease="10s")
    proxy.delay = 1
    rig.pause(15, 15)
    rig.send(rig.size(100))
    rig.pause(10, 10)
    proxy.delay = 0


def behind_proxy(rig, lease=None):
    """Sends jobs past the proxy and lets workers behind it begin."""
    server = rig.start_server()
    proxy = Proxy(server.port)
    rig.ends.append(proxy.end)
    rig.send(rig.size(JOBS))
    workers_of(rig, proxy.url, lease)
    return proxy


def workers_of(rig, url, lease=None):
    for _ in range(2):
        rig.worker(slots=4, work_ms=10, url=url, lease=lease)
    rig.wait_for_workers()
