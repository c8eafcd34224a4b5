"""Movies and Live Photos whose workers and children die, stand still or have no room, at each border of a part."""

import signal

from movie_rig import PARTS, MovieRig
from processes import children, eventually, reach
from scenarios.registry import scenario

MB = 1 << 20
WITHIN = 180


@scenario("movie-worker-kill", "a worker is killed with SIGKILL amid the first part of a movie, behind each part, in "
          "assembly and about its commit; parts that are done stay done", rig=MovieRig)
def movie_worker_kill(rig):
    rig.start_server()
    for send in (rig.send_pair, rig.send_clip)[:max(1, rig.size(2))]:
        done = rig.completed()
        send()
        kill_while_a_child_stands_still(rig, "mid-render")
        kept = {}
        for count in range(1, PARTS + 1):
            worker = rig.worker(slots=1)
            eventually(f"{count} parts are kept", lambda: len(rig.parts()) >= count, WITHIN, every=0.005)
            rig.kill(worker)
            parts = rig.parts()
            assert kept.items() <= parts.items(), f"parts were rendered again: {kept}, then {parts}"
            kept = parts
        kill_while_a_child_stands_still(rig, "after-render")
        for point in ("before-commit", "after-commit", "after-pointer"):
            worker = rig.worker(slots=1, stop_at=point)
            eventually(f"it stands still {point}", lambda: worker.is_stopped, WITHIN)
            rig.kill(worker)
        rig.worker(slots=1)
        rig.wait_for_completed(done + 1)
        rig.kill(rig.workers[0])
    rig.worker(slots=1)
    rig.wait_until_drained()


def kill_while_a_child_stands_still(rig, point):
    worker = rig.worker(slots=1, stop_at=point)
    eventually(f"a child stands still {point}", lambda: "T" in children(worker).values(), WITHIN)
    rig.kill(worker)


@scenario("movie-child-kill", "render children are killed with SIGKILL amid each part of a Live Photo's movie and while "
          "its parts are joined; the parts before stay", rig=MovieRig)
def movie_child_kill(rig):
    rig.may_die_of = {"outOfMemory"}  # what a SIGKILL is taken for
    rig.start_server()
    rig.send_pair()
    worker = rig.worker(slots=1)
    killed = 0
    for count in range(PARTS + 1):
        eventually(f"{count} parts are kept", lambda: len(rig.parts()) >= count or rig.completed(), WITHIN, every=0.005)
        for _ in range(2):
            victims = eventually("there is a child", lambda: sorted(children(worker)) or rig.completed(), WITHIN)
            if victims and not rig.completed():
                killed += reach(victims[-1], signal.SIGKILL)
                rig.pause(0.05, 0.4)
    rig.wait_until_drained()
    rig.remarks.append(f"{killed} children were killed, {rig.attempts_burnt()} attempts burnt")


@scenario("movie-disk-full", "the library's disk is full amid the parts of a Live Photo's movie; then there is room again",
          rig=MovieRig)
def movie_disk_full(rig):
    rig.small_library(64 * MB)
    rig.start_server()
    worker = rig.worker(slots=1)
    eventually("the worker starts", lambda: worker.has_said("worker starts"))
    for leave in (0, 16_384, 65_536):  # no folder, no still, no part has room
        done = rig.completed()
        make_room = rig.ballast(leave)
        rig.send_pair()
        rig.wait_for_retries(len(rig.events_of("retried")) + 2, "noSpace")
        make_room()
        rig.wait_for_completed(done + 1)
    codes = {event["data"]["error"]["code"] for event in rig.events_of("retried")}
    assert codes <= {"noSpace"}, f"a full disk was called {codes}"


@scenario("movie-lease-lost", "a worker is stopped behind the first part of a Live Photo's movie, past its lease; it wakes "
          "up when another one has done the job", rig=MovieRig)
def movie_lease_lost(rig):
    rig.parts_left_max = 1
    rig.start_server()
    rig.send_pair()
    zombie = rig.worker("zombie", slots=1)
    eventually("a part is kept", lambda: rig.parts(), WITHIN, every=0.005)
    zombie.signal(signal.SIGSTOP)
    before = rig.parts()
    heir = rig.worker("heir", slots=1)
    # The heir may take the job only when the lease is over; it finds the part.
    eventually("the heir is done", lambda: rig.counted("completed"), WITHIN)
    zombie.signal(signal.SIGCONT)
    rig.send_clip()
    rig.wait_for_completed(2)
    rig.wait_until_drained()
    assert heir.is_running and before, "the heir has died"
