#!/usr/bin/env python3
"""Whether other containers reach the ports of a network namespace that they should, and no others.

usage: ops/lib/open_ports.py PORT...    ends with 1 and a sentence unless exactly these answer

A container's neighbours come by an address that none of its programs names. In a namespace that has a loopback alone, 127.0.0.2 is
such an address: what listens at 127.0.0.1 cannot be reached by it, what listens at all addresses can.
"""

import socket
import sys

NEIGHBOURS_ADDRESS = "127.0.0.2"
LISTENS = "0A"  # proc(5), /proc/net/tcp
SECONDS_MAX = 5


def listening():
    ports = set()
    for family in ("tcp", "tcp6"):
        with open(f"/proc/self/net/{family}", encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
        ports |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENS}
    return ports


def is_open(port):
    with socket.socket() as one:
        one.settimeout(SECONDS_MAX)
        return one.connect_ex((NEIGHBOURS_ADDRESS, port)) == 0


def main(words):
    wanted, found = {int(word) for word in words}, {port for port in listening() if is_open(port)}
    for port in sorted(found - wanted):
        print(f"open_ports: other containers reach port {port}, and should not", file=sys.stderr)
    for port in sorted(wanted - found):
        print(f"open_ports: other containers do not reach port {port}", file=sys.stderr)
    return 0 if found == wanted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
