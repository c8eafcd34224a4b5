"""Workers whose clock is wrong."""

import shutil

from scenarios.registry import Skipped, scenario


@scenario("wrong-clocks", "the clock of one worker is an hour ahead, of another an hour behind; workers are killed")
def wrong_clocks(rig):
    clocks = [(), shifted("+1h"), shifted("-1h")]
    rig.start_server()
    rig.send(rig.size(800))
    workers = [rig.worker(slots=4, work_ms=10, prefix=clock) for clock in clocks]
    for round in range(rig.size(6)):
        rig.pause(0.3, 1)
        # Each clock finds leases that another one has set.
        index = round % len(workers)
        rig.kill(workers[index])
        rig.send(rig.size(100))
        rig.pause(0.5, 1.5)
        workers[index] = rig.worker(slots=4, work_ms=10, prefix=clocks[index])


def shifted(by):
    """Words that run a command with the wall clock shifted; nobody sets a machine's monotonic one."""
    if not shutil.which("faketime"):
        raise Skipped("faketime is not installed (ops/setup chaos)")
    # faketime stays the parent: what kills it has to kill the worker.
    return ("env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "faketime", "-f", by, "setpriv", "--pdeathsig", "KILL")
