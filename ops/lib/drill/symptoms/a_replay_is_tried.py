"""Twelve jobs are dead; a replay tries four of them, its command is killed, a gateway goes on, and half of the four fail again."""

import json
import re
import subprocess

SEE = "very many are dead of one cause, and nobody is sure that it is gone"
JOBS, FIRST = 12, 4


def drill(site):
    worker = site.worker()
    jobs = [f"late-{number}" for number in range(JOBS)]
    for job in jobs:
        site.send(job, f"{job}.png")
    site.until("all are dead", lambda: site.state()["dead"] == JOBS)
    order = [record["job"] for record in json.loads(site.said("dead", "--json"))]
    for number, job in enumerate(order[FIRST // 2:]):
        site.photo(f"{job}.png", seed=number)

    # The trial waits for a worker when its command is killed.
    worker.stop()
    command = "minilab replay --all --first 20 --stop-at 10%"
    site.console.check(command)
    child = subprocess.Popen(
        command.replace("20", str(FIRST)).split(), env=site.console.environment, stderr=subprocess.PIPE, text=True)
    replay = re.match(r"replay (r\w+):", child.stderr.readline()).group(1)
    site.until("the first are started", lambda: site.state()["ready"] == FIRST)
    child.kill()
    child.communicate()
    print(f"  $ {command} (with {FIRST}; killed)", flush=True)

    site.gateway()
    worker.start()
    said = site.run("minilab replay --continue REPLAY", fails=1, REPLAY=replay)
    assert f"{FIRST // 2} of the first {FIRST} jobs failed again" in said, said
    state = site.state()
    assert state["dead"] == JOBS - FIRST // 2, f"the others were replayed, too: {state}"
    replayed = state["counters"]["replayed"]
    assert replayed == FIRST, f"{replayed} jobs were replayed, and {FIRST} were to be tried"

    for job in order[:FIRST // 2]:
        site.photo(f"{job}.png", seed=JOBS)
    said = site.run("minilab replay --continue REPLAY", REPLAY=replay)
    assert f"{JOBS} jobs of {JOBS} replayed" in said, said
    site.run("minilab replay --all")
    site.is_well(completed=JOBS)
