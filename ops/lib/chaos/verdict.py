"""What must be so after every scenario, and the sentences about what is not."""

import collections
import subprocess

from scenarios.registry import Skipped

ENDINGS = {"completed", "drafted", "rendered", "unchanged", "failed"}
# Those that made a version.
MADE = {"completed", "drafted"}
# Those that made files beside a version.
BESIDE = {"rendered"}
RESENDS_MAX = 10
# So many complaints of a kind are told; the rest is counted.
TOLD_MAX = 3


def judged(rig, run, server_may_lose=False):
    """Runs a function of a rig, and ends the rig; gives what is wrong then, and the numbers for the table, if it came that far."""
    found, numbers = [], None
    try:
        run(rig)
        status = settle(rig, server_may_lose)
        found = rig.end_workers()
        sentences, numbers = complaints(rig, status, server_may_lose)
        found += sentences
    except Skipped:
        raise
    except subprocess.CalledProcessError as error:
        found.append(f"{' '.join(error.cmd)} exited with {error.returncode}; {rig.folder}/commands.log")
    except Exception as error:  # whatever it is, it is this scenario's result
        found.append(f"{type(error).__name__}: {error}")
    finally:
        rig.close(keep=bool(found))
    return found, numbers


def settle(rig, server_may_lose):
    """Drains the queue, sends again what the server lost, replays what died, until each job is done."""
    for _ in range(RESENDS_MAX):
        status = rig.drain()
        if server_may_lose:
            ended = {event["data"]["job"] for event in rig.events() if ending(event)}
            lost = [job for job in rig.assets if job not in ended]
            if lost:
                rig.resent += len(lost)
                rig.deliver(lost)
                continue
        if status["dead"] == 0:
            return status
        rig.command("replay", "--all")
    raise TimeoutError("jobs are lost or die again and again")


def ending(event):
    """The kind of an event that ends a generation of a job, or None."""
    of, _, kind = event["type"].rpartition(".")
    return kind if kind in ENDINGS and not of.endswith(".batch") else None


def complaints(rig, status, server_may_lose):
    """What is wrong: nothing, if the guarantee holds. And the numbers for the table."""
    events, effects, notes = rig.events(), rig.effects(), rig.notes()
    found = Complaints()
    ends = collections.defaultdict(list)
    versions = {}
    for event in events:
        if kind := ending(event):
            key = event["data"]["job"], event["data"]["generation"]
            ends[key].append(kind)
            if kind in MADE:
                versions[key] = event["data"]["version"]["id"]
    for key, kinds in ends.items():
        if len(kinds) != 1:
            found.add("generations that ended more than once", f"{key}: {kinds}")
    well = (MADE | {"unchanged"} if server_may_lose else MADE) | BESIDE
    last = {}
    for (job, generation), kinds in ends.items():
        if generation >= last.get(job, (0,))[0]:
            last[job] = generation, kinds[-1]
        if kinds[-1] == "unchanged" and not server_may_lose and job not in rig.may_be_unchanged:
            found.add("effects that nobody had told of", f"{job}: {kinds}")
    for job in rig.assets:
        generation, kind = last.pop(job, (0, "nothing"))
        if kind not in well and not (kind == "unchanged" and job in rig.may_be_unchanged):
            found.add("jobs that did not end well", f"{job}: {kind}")
        if generation != rig.generation_of(job):
            found.add("jobs of another generation than they should be", f"{job}: {generation}")
    for job in last:
        found.add("jobs that nobody sent", job)

    done = {key for key, kinds in ends.items() if kinds[-1] in well - BESIDE}
    for key in done ^ effects.keys():
        found.add("effects and events that differ", f"{key}: {ends.get(key)}, {effects.get(key)}")
    for key, version in versions.items():
        if effects.get(key, version) != version:
            found.add("events that tell of another version", f"{key}: {version}, {effects[key]}")
    if notes["conflict"] and not server_may_lose:
        found.add("second publications that were let through", f"{notes['conflict']}")

    counted = collections.Counter(kind for kinds in ends.values() for kind in kinds)
    for kind in ENDINGS:
        if status["counters"].get(kind, 0) != counted[kind]:
            found.add("counters that differ from the events",
                      f"{kind}: {status['counters'].get(kind, 0)}, {counted[kind]}")
    for state in ("dead", "stuck"):
        if status[state]:
            found.add(f"{state} jobs", f"{status[state]}")
    for complaint in doctor(rig):
        found.add("complaints of minilab doctor", complaint)
    for complaint in rig.complaints():
        found.add("complaints about the library", complaint)
    numbers = {
        "jobs": len(rig.assets), "effects": len(effects),
        "lost": sum(status["counters"].get(name, 0) for name in ("crashed", "voided")),
        "fenced": notes["fenced"], "repeated": notes["repeated"], "unchanged": counted["unchanged"],
        "conflicts": notes["conflict"], "resent": rig.resent,
    }
    return found.sentences(), numbers


class Complaints:
    def __init__(self):
        self.kinds = collections.defaultdict(list)

    def add(self, kind, example):
        self.kinds[kind].append(example)

    def sentences(self):
        return [f"{len(examples)} {kind}: {'; '.join(examples[:TOLD_MAX])}" for kind, examples in self.kinds.items()]


def doctor(rig):
    """What `minilab doctor` finds."""
    try:
        rig.command("doctor")
        return []
    except subprocess.CalledProcessError as error:
        return error.stdout.splitlines() or [f"it exited with {error.returncode}"]
