"""The page that ops/chaos --write makes: how scenarios are judged, and a table of them with the figures of the last runs."""

import collections
import re

Row = collections.namedtuple("Row", "scenario result sentences numbers seconds run")
COLUMNS = [("jobs", "jobs"), ("lost", "leases lost"), ("fenced", "fenced"), ("repeated", "repeated"), ("resent", "sent again"),
           ("unchanged", "found done")]

PREAMBLE = """\
# The chaos matrix
`ops/chaos` makes workers, connections, servers, clocks, memory and disks fail, and checks that each job is still done once. It
writes this page (`--write`). The scenarios below use the released programs and real servers on one machine; leases are short,
1 to 10 s, so that many run out.

## How a scenario is judged
At its end the faults are over. The queue is drained, dead jobs are replayed, and then:

- Each job has one final event per generation, and its version is the one that is published.
- Each job is published once per generation. Where Redis may forget nothing, no second attempt to publish was made.
- Nothing waits, runs, is stuck or dead. Counters are the number of events. `minilab doctor` finds nothing. Workers end at SIGTERM.

Redis may forget what it had answered after a power cut (`appendfsync everysec`) or a failover without `WAIT`. In these scenarios the
producer sends jobs without an end again, under the same ids (*sent again*). A job that finds its version in place ends as `unchanged`
(*found done*).

| scenarios | what a job does | what is checked beside |
|---|---|---|
| up to `wrong-clocks`, and `storm` | It publishes a link that only one version can take, in place of a render, by the same protocol. One in 50 fails until it is replayed. | |
| `server-clock-*` | A photo is edited in all modes by both ingress streams, beside an open batch. A library preloaded into redis-server (`server_clock.c`) moves its clock. | Versions have the filters of the edits done once, in order. The batch ends with all members, and not by its age. |
| `redis-forgets-edits` to `disk-*`, `storm-cuts` | A photo is rendered into a library. Memory is limited by a control group (v1); disks are tmpfs. | `minilab verify` finds the library whole; nothing is left in staging. |
| `movie-*`, `long-movie` | A Live Photo or a movie is rendered part by part. | Parts that are done are not made again; no part is left over. |
| `bucket-*` | A photo is edited in a bucket of SeaweedFS, behind a proxy that does to single requests what networks and stores do. Workers share nothing, and start with empty scratch folders. | `minilab verify --all-versions`; the filters of all versions; nothing is left in scratch folders. |
| `storm-cuts` | Edits build on each other: replaced, appended, undone. | Each asset's versions are its edits, each once, one upon the other, in the order sent. |

## The last runs
*leases lost*: jobs taken back from workers that died or stood still. *fenced*: late workers that were refused. *repeated*: versions that
another worker found in place when it carried on. *run*: seed, commit of this tree, load of the machine at the begin. An empty cell is 0.

"""
HEAD = ("| scenario | what happens | " + " | ".join(title for _, title in COLUMNS) + " | s | result | seen | run |",
        "|---|---|" + "---:|" * (len(COLUMNS) + 1) + "---|---|---|")


def markdown(rows, facts, kept, order):
    """The page. kept: lines of rows by name, of scenarios that did not run; order: the names of all scenarios."""
    lines = {**kept, **{row.scenario.name: line(row) for row in rows}}
    return PREAMBLE + "\n".join([facts, "", *HEAD, *(lines[name] for name in order if name in lines)]) + "\n"


def line(row):
    numbers = [f"{row.numbers[key]:,}" if row.numbers and row.numbers[key] else "" for key, _ in COLUMNS]
    seen = "; ".join(row.sentences).replace("|", "\\|")
    return (f"| `{row.scenario.name}` | {row.scenario.what} | {' | '.join(numbers)} | {row.seconds:.0f} | {row.result} | {seen} "
            f"| {row.run} |")


def kept_lines(page):
    """The lines of a page's table: name → line; nothing of a page with other columns."""
    head, _, table = page.partition(HEAD[0] + "\n")
    return {found[1]: found[0] for found in re.finditer(r"^\| `([a-z-]+)` \|.*$", table, re.M)}
