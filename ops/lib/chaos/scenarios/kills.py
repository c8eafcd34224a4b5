"""Workers that die."""

from processes import eventually
from scenarios.registry import scenario

POINTS = ["after-claim", "mid-render", "after-render", "before-commit", "after-commit", "after-pointer"]
VICTIMS = 6
JOBS_AT_ONCE = 10


def kill_at(point):
    def run(rig):
        rig.start_server()
        rig.worker("healthy", work_ms=10)
        for _ in range(rig.size(VICTIMS)):
            victim = rig.worker("victim", slots=rig.random.randint(1, 8), stop_at=point)
            # Until it has found one, however fast the healthy one is.
            while not victim.is_stopped:
                rig.send(JOBS_AT_ONCE)
                rig.pause(0.05, 0.1)
            rig.kill(victim)
        rig.worker("heir")
    return run


for point in POINTS:
    scenario(f"kill-{point}", f"a worker is killed with SIGKILL {point.replace('-', ' ')}, again and again",
             is_short=point == "before-commit")(kill_at(point))


@scenario("kill-carrying-on", "each worker dies while it carries on what another one had committed")
def kill_carrying_on(rig):
    rig.start_server()
    rig.send(6)
    # The first one takes all jobs, so that there is nothing but to carry on for those that follow.
    for point in ["after-commit"] + ["after-pointer"] * (rig.size(VICTIMS) - 1):
        victim = rig.worker("victim", slots=8, stop_at=point)
        eventually("the victim stops", lambda: victim.is_stopped)
        rig.kill(victim)
    rig.worker("heir")
