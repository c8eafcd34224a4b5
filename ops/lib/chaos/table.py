"""What ops/chaos --write makes: a record of the last run of each scenario, in runs.json, and of these a page for readers."""

import collections
import json

Row = collections.namedtuple("Row", "scenario result sentences numbers seconds run")
FAILED = "failed"
COLUMNS = [("jobs", "jobs"), ("lost", "leases lost"), ("fenced", "fenced"), ("repeated", "repeated"), ("resent", "sent again"),
           ("unchanged", "found done")]

HEAD = """\
# The chaos matrix
`ops/chaos` makes workers, connections, servers, clocks, memory and disks fail, and checks that each job is still done once. The
programs are the released ones, the servers real ones, on one machine; leases are short, 1 to 10 s, so that many run out.

## What failed, and what came of it
The last run of each scenario. [`runs.json`](runs.json) has them one by one: what happens, the figures, what was seen, seed,
commit and load. `ops/chaos --write ops/lib/chaos/CHAOS.md` runs them, and writes both files.

*leases lost*: jobs taken back from workers that died or stood still. *fenced*: late workers that were refused. *repeated*: versions that
another worker found in place when it carried on. *sent again*: jobs that Redis had forgotten, as its settings allow.
*found done*: those of them whose version was in place.

"""

JUDGED = """
## How a scenario is judged
At its end the faults are over. The queue is drained, dead jobs are replayed, and then:

- Each job has one final event per generation, and its version is the one that is published.
- Each job is published once per generation. Where Redis may forget nothing, no second attempt to publish was made.
- Nothing waits, runs, is stuck or dead. Counters are the number of events. `minilab doctor` finds nothing. Workers end at SIGTERM.

Redis may forget what it had answered after a power cut (`appendfsync everysec`) or a failover without `WAIT`. In these scenarios the
producer sends jobs without an end again, under the same ids.

| scenarios | what a job does | what is checked beside |
|---|---|---|
| up to `wrong-clocks`, and `storm` | It publishes a link that only one version can take, in place of a render, by the same protocol. One in 50 fails until it is replayed. | |
| `server-clock-*` | A photo is edited in all modes by both ingress streams, beside an open batch. A library preloaded into redis-server (`server_clock.c`) moves its clock. | Versions have the filters of the edits done once, in order. The batch ends with all members, and not by its age. |
| `redis-forgets-edits` to `disk-*`, `storm-cuts` | A photo is rendered into a library. Memory is limited by a control group (v1); disks are tmpfs. | `minilab verify` finds the library whole; nothing is left in staging. |
| `movie-*`, `long-movie` | A Live Photo or a movie is rendered part by part. | Parts that are done are not made again; no part is left over. |
| `bucket-*` | A photo is edited in a bucket of SeaweedFS, behind a proxy that does to single requests what networks and stores do. Workers share nothing, and start with empty scratch folders. | `minilab verify --all-versions`; the filters of all versions; nothing is left in scratch folders. |
| `dead-*`, `nobody-lives`, `machines-differ`, `library-set-back` | A photo is rendered by workers that are away, cannot do it, or lose what they have done: dead jobs are moved and put back, all workers die, each of three machines lacks something, the library goes back to an earlier moment. | Each job is done by whoever can, with no attempt counted for a machine; no revision is told of two versions; no replay goes on for ever. |
| `storm-cuts` | Edits build on each other: replaced, appended, undone. | Each asset's versions are its edits, each once, one upon the other, in the order sent. |
"""


def record(row):
    """The record of a run: what happens, how it ended, figures, what was seen, and under which conditions."""
    numbers = row.numbers or {}
    return {"scenario": row.scenario.name, "what": row.scenario.what, "result": row.result, "seconds": round(row.seconds),
            **{key: numbers.get(key) or 0 for key, _ in COLUMNS}, "seen": row.sentences, **row.run}


def text_of(records):
    """runs.json: a record a line, so that a commit shows which ran."""
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in records) + "\n]\n"


def merged(rows, kept, order):
    """The records of these rows and, of scenarios that did not run, the kept ones: in the order of all scenarios' names."""
    records = {**{one["scenario"]: one for one in kept}, **{row.scenario.name: record(row) for row in rows}}
    return [records[name] for name in order if name in records]


def markdown(records, families):
    """The page. families: what fails, and the names of its scenarios, in the page's order."""
    by_name = {one["scenario"]: one for one in records}
    lines = ["| what fails | scenarios | " + " | ".join(title for _, title in COLUMNS) + " | last runs |",
             "|---|---:|" + "---:|" * len(COLUMNS) + "---|"]
    for family, names in families:
        runs = [by_name[name] for name in names if name in by_name]
        if runs:
            sums = [sum(run[key] for run in runs) for key, _ in COLUMNS]
            lines.append(f"| {family} | {len(runs)} | {' | '.join(f'{number:,}' if number else '' for number in sums)} "
                         f"| {outcome(runs)} |")
    return HEAD + "\n".join(lines) + "\n" + JUDGED


def outcome(runs):
    """How runs ended: ok, or each that did not, by name."""
    others = [f"`{run['scenario']}` " + (f"**{FAILED}**" if run["result"] == FAILED else run["result"])
              for run in runs if run["result"] != "ok"]
    return "; ".join(others) or "ok"
