"""Workers that stand still past their lease and wake up as zombies."""

import signal

from processes import eventually
from scenarios.registry import scenario

POINTS = ["after-claim", "before-commit", "after-commit", "after-pointer"]
JOBS = 60


def zombie_at(point):
    def run(rig):
        rig.start_server()
        rig.send(rig.size(JOBS))
        zombies = [rig.worker("zombie", slots=8, stop_at=point) for _ in range(2)]
        for zombie in zombies:
            eventually("it stands still", lambda: zombie.is_stopped)
        rig.worker("heir")
        # All jobs end without them; then they wake up, and believe that theirs are still theirs.
        rig.drain()
        for zombie in zombies:
            zombie.signal(signal.SIGCONT)
        rig.send(rig.size(JOBS))
        if point == "before-commit":
            # One that is told so by its heartbeat, or by the commit itself, says that it was fenced.
            eventually("the zombies are fenced", lambda: rig.notes()["fenced"] >= len(zombies))
        if point == "after-commit":
            # They publish what they committed, which whoever carried on has published: the same version.
            eventually("the zombies find their versions published",
                       lambda: rig.notes()["repeated"] >= len(zombies))
    return run


for point in POINTS:
    scenario(f"zombie-{point}", f"workers are stopped {point.replace('-', ' ')}, wake up when others have done "
             "their jobs, and change nothing")(zombie_at(point))


@scenario("stop-and-go", "workers are stopped at random times for up to three leases")
def stop_and_go(rig):
    rig.start_server()
    rig.send(rig.size(1000))
    workers = [rig.worker(slots=8, work_ms=20) for _ in range(3)]
    for _ in range(rig.size(6)):
        victims = rig.random.sample(workers, 2)
        for victim in victims:
            victim.signal(signal.SIGSTOP)
        rig.pause(0.2, 3)
        rig.send(rig.size(100))
        for victim in victims:
            victim.signal(signal.SIGCONT)
        rig.pause(0.1, 0.5)
