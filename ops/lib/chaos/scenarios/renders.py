"""Renders whose processes die, and that lose the memory that they work in."""

import signal
import sys
import time

from photo_rig import PhotoRig
from processes import Child, children, eventually, reach
from scenarios.registry import scenario

MB = 1 << 20
SMALL = ["sketch.png"]
HEAVY = ["waterfall.jpg", "dandelion.jpg", "sketch.png"]  # a render of the second one takes 80 MB


# By what metrics call the death by a signal that is not the worker's; the kernel may not say that it was not its own.
CAUSES = {"SIGKILL": ("killed", "killed_or_oom"), "SIGSEGV": ("SIGSEGV",), "SIGABRT": ("SIGABRT",)}


@scenario("render-kill", "render children are killed by SIGKILL, SIGSEGV and SIGABRT; each death is counted by its "
          "signal", is_short=True, rig=PhotoRig)
def render_kill(rig):
    rig.may_die_of = {"outOfMemory"}  # what a SIGKILL is taken for; alone in a worker there is no second one
    rig.start_server()
    rig.send(rig.size(60), SMALL)
    worker = rig.worker()
    sent = {}
    for number in range(rig.size(25)):
        # The next one dies when some more jobs are done, not after some time: the machine may be slow.
        rig.wait_for_ends(2 * number + 1)
        rig.pause(0, 0.1)
        name = rig.random.choice(list(CAUSES))
        eventually("a child gets the signal", lambda: reach_any(rig, worker, getattr(signal, name)))
        sent[name] = sent.get(name, 0) + 1

    def counted():
        ends = rig.metric(worker, "minilab_child_ends_total")
        return {name: sum(int(number) for labels, number in ends.items()
                          if any(f'"{cause}"' in labels for cause in CAUSES[name])) for name in sent}

    rig.wait_until_drained()
    # A child that had died already when the next signal came has taken one for both.
    eventually("each death is counted", lambda: sum(counted().values()) >= sum(sent.values()) * 0.8)
    assert all(number <= sent[name] for name, number in counted().items()), f"sent {sent}, counted {counted()}"
    rig.remarks.append(f"sent {sent}, counted {counted()}, {rig.attempts_burnt()} attempts burnt")


def reach_any(rig, worker, number):
    """Sends a signal to one of a worker's children; returns whether one was there."""
    pids = sorted(children(worker))
    rig.random.shuffle(pids)
    return any(reach(pid, number) for pid in pids)


@scenario("memory-oom", "the kernel's OOM killer takes render children in a group that is too small, and never the "
          "worker", rig=PhotoRig)
def memory_oom(rig):
    rig.may_die_of = {"outOfMemory"}
    rig.start_server()
    group = rig.memory_group("oom", 512 * MB)
    # It is told that it has more than it has, as when somebody else's limit is around its own.
    worker = rig.worker(prefix=group.command, settings={"MINILAB_MEMORY": "4G"})
    eventually("the worker starts", lambda: worker.has_said("worker starts"))
    group.set_limit(TOO_SMALL)

    def has_killed():
        worker.must_run()
        keep_busy(rig)
        return group.oom_kills >= rig.size(6)
    eventually("the kernel kills", has_killed, 300, every=0.1)
    worker.must_run()
    group.set_limit(2048 * MB)
    rig.wait_until_drained()
    rig.remarks.append(f"{group.oom_kills} children were killed by the kernel, {rig.attempts_burnt()} attempts burnt; "
                       f"ends: {rig.metric(worker, 'minilab_child_ends_total')}")


TOO_SMALL = 60 * MB  # the worker and one idle child fit, a JPEG of 16 MP does not


@scenario("memory-neighbour", "a neighbour in the worker's group takes most of its memory for a minute", rig=PhotoRig)
def memory_neighbour(rig):
    rig.start_server()
    group = rig.memory_group("neighbour", GROUP)
    worker = rig.worker(prefix=group.command)
    eventually("the worker starts", lambda: worker.has_said("worker starts"))
    before = rate(rig, rig.size(30))
    log = f"{rig.folder}/neighbour.log"
    neighbour = Child(group.command([sys.executable, "-c", NEIGHBOUR, NEIGHBOUR_TAKES]), log)
    rig.ends.append(neighbour.kill)
    eventually("the neighbour has its memory",
               lambda: not neighbour.is_running or neighbour.has_said("all taken"), 120)
    meanwhile = rate(rig, rig.size(60))
    assert neighbour.is_running, "the kernel killed the neighbour and not a render child"
    neighbour.kill()
    rig.ends.remove(neighbour.kill)
    rate(rig, rig.size(10))  # it may come back slowly, so as not to fall at once again
    after = rate(rig, rig.size(30))
    rig.wait_until_drained()
    burnt = rig.attempts_burnt()
    rig.remarks.append(f"{before:.1f} photos/s before, {meanwhile:.1f} meanwhile, {after:.1f} after; {burnt} attempts "
                       f"burnt by {len(rig.assets)} jobs; the kernel killed {group.oom_kills}")
    assert after > 0.6 * before, f"{after:.1f} photos/s after the neighbour, {before:.1f} before"
    assert burnt <= max(1, len(rig.assets) / 100), f"{burnt} attempts burnt by {len(rig.assets)} jobs"


GROUP, NEIGHBOUR_TAKES = 320 * MB, 200 * MB
NEIGHBOUR = """
import mmap, sys, time
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for start in range(0, len(memory), 1 << 20):
    memory[start:start + (1 << 20)] = b'.' * (1 << 20)
    time.sleep(0.01)
print('all taken', flush=True)
time.sleep(3600)
"""


def keep_busy(rig):
    """Sends more when there is little left to do."""
    waiting = len(rig.assets) - rig.counted("completed", "failed")
    if waiting < 10:
        rig.send(10, HEAVY)


def rate(rig, seconds):
    """Photos per second while there are always some to do."""
    first, started = rig.completed(), time.monotonic()
    while time.monotonic() - started < seconds:
        keep_busy(rig)
        time.sleep(0.1)
    return (rig.completed() - first) / (time.monotonic() - started)
