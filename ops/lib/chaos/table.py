"""The result as a Markdown table."""

import collections

Row = collections.namedtuple("Row", "scenario result sentences numbers seconds")
COLUMNS = [("jobs", "jobs"), ("effects", "effects"), ("lost", "leases lost"), ("fenced", "fenced"),
           ("repeated", "repeated"), ("resent", "sent again"), ("unchanged", "found done")]

PREAMBLE = """\
# The chaos matrix
What happens to jobs when workers, connections and servers fail. Each scenario has real worker processes, a fresh Redis with
`appendonly yes` and `appendfsync everysec`, and leases of a second. A worker's handler publishes an *effect* in place of a
render: a link that only one version can take, on the same way from `commit` to `finalize` as a photo. After each one:

- every job has exactly one `completed` event per generation (one job in 50 dies and is replayed), and its version is the effect's
- every job has exactly one effect per generation; and, where Redis may forget nothing, no second version even tried to publish
- nothing is waiting, held or dead; counters are the number of events; workers obey SIGTERM{doctor}

Where Redis may forget what it had answered (a power cut with `everysec`, a failover without `WAIT`), the producer sends again,
under the same id, what has no end (*sent again*), and a job whose effect is there already ends as `unchanged` (*found done*).

In scenarios about publishing, renders, memory and disks (from `redis-forgets-edits` on) workers render photos into a library: an effect is a version in its
place, `minilab verify` finds all of them whole, and nothing is left in staging. Memory is that of a control group (v1), disks are tmpfs. What a
scenario counted stands below the table.

In the scenarios `server-clock-*` a small library (`server_clock.c`) that is preloaded into redis-server adds seconds to its wall clock. Each photo is
edited in all modes through both ingress streams: replaced, appended to, undone, redone, drafted and published; a batch is open all the while. The
numbers of filters are those of the edits done once and in order, the batch ends with all its members and is not sealed by its age. Leases are of four seconds.

In the scenarios `bucket-*` the library is in a bucket of a real SeaweedFS, and workers share nothing else: each has a scratch folder of its own, which
is empty when it starts. Between them is a proxy that does to single requests what networks and stores do. An effect is a version that a head names or
has put into the trash; `minilab verify --all-versions` finds all of them whole, the numbers of filters of all versions are those of the edits done
once and in order, and nothing is left in the scratch folders of workers that ended well. Leases are of four seconds.

*leases lost*: jobs taken back from workers that died or stood still. *fenced*: late workers that were refused. *repeated*: effects that
were found in place, as the same version, by whoever carried on.
"""


def markdown(rows, command, facts, doctor):
    lines = [PREAMBLE.replace("{doctor}", "\n- `minilab doctor` has nothing to say" if doctor else ""),
             f"`{command}`: {facts}", "",
             "| scenario | what happens | " + " | ".join(title for _, title in COLUMNS) + " | s | result |",
             "|---|---|" + "---:|" * (len(COLUMNS) + 1) + "---|"]
    for row in rows:
        cells = [f"{row.numbers[key]:,}" if row.numbers else "" for key, _ in COLUMNS]
        lines.append(f"| `{row.scenario.name}` | {row.scenario.what} | {' | '.join(cells)} | {row.seconds:.0f} "
                     f"| {row.result} |")
    for row in rows:
        lines += [f"\n`{row.scenario.name}`: {sentence}" for sentence in row.sentences]
    return "\n".join(lines) + "\n"
