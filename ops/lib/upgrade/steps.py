"""What the check does: a release is replaced by another one under load, and comes back."""

from releases import in_order
from upgrade_rig import PREFIX, REFUSED, WORKERS

# Where a worker of the release that leaves dies, so that the one that comes carries on: its version is committed, or readers see it already.
POINTS = {True: "after-pointer", False: "after-commit"}


def play(rig, first, second):
    """All programs of the first release, then of the second one, then of the first one again, as far as the queue's format lets them."""
    older, newer = in_order(first, second)
    rig.start(first)
    rig.wait_for(rig.load())
    has_moved = move(rig, first, second)
    rig.photo("late")
    rig.command("replay", rig.late)
    rig.seal_batch()
    rig.wait_for([rig.late, *rig.members, *rig.load()])
    if has_moved:
        move(rig, second, first)
    if rig.fleet_is_of(older):
        take_over(rig, newer)
        outdate(rig, older, newer)
    rig.assets.update(rig.client.stop())


def move(rig, leaving, coming):
    """Replaces the programs of a release in the documented order: worker by worker, the gateway, the commands.

    Returns whether it could: a release that must not use the queue is refused, and the other one goes on.
    """
    older, newer = in_order(leaving, coming)
    for place in range(WORKERS):
        before = rig.queue_format()
        if not coming.numbers.may_use(before.least):
            rig.must_refuse(coming)
            return False
        jobs = rig.load()
        if place == WORKERS - 1:
            rig.lose_worker(leaving, POINTS[leaving is older], place)
            if leaving is newer:
                set_aside(rig, older, newer, place)
        else:
            rig.end_place(place)
        if not rig.fleet[place]:
            rig.fill_place(place, coming)
        rig.must_have_format(before)
        rig.look([leaving, coming])
        rig.wait_for(jobs)
    if leaving is newer:
        rig.must_leave(older)
    is_over = not leaving.numbers.may_use(rig.queue_format().least)
    if is_over:
        rig.must_end_refused(rig.gateway)
    rig.open_gateway(coming, REFUSED if is_over else 0)
    rig.minilab = coming.minilab
    return True


def set_aside(rig, older, newer, place):
    """Sends jobs that only the newer release admits, and replaces its last worker before one of them is done."""
    rig.command("pause", "the last worker of a release is replaced")
    for other in range(WORKERS):
        if other != place:
            rig.end_place(other)
    rig.fill_place(place, newer)
    rig.send_aside()
    rig.end_place(place)
    for each in range(WORKERS):
        rig.fill_place(each, older)
    rig.command("resume")


def take_over(rig, newer):
    """A worker of the newer release comes beside the older ones, and does what these have left."""
    rig.fleet.append((rig.hire("guest", newer), newer))
    jobs, rig.aside = rig.aside, []
    rig.wait_for(jobs)


def outdate(rig, older, newer):
    """The queue takes a format that the older release must not use: its programs end by themselves, and the newer ones go on.

    The check writes what a worker of a release with such a `least` writes (`raise_format`): where the newer release has one itself,
    the older one does not come back, and this is not reached.
    """
    least = older.numbers.queue + 1
    if not newer.numbers.may_use(least):
        rig.remarks.append("both know the same format of a queue: no queue that the older one must refuse")
        return
    jobs = rig.load()
    rig.server("HSET", f"{PREFIX}virtual", "format", least, "least", least)
    for child, release in rig.fleet:
        if release is older:
            rig.must_end_refused(child)
            rig.workers.remove(child)
    rig.must_end_refused(rig.gateway)
    rig.fleet = [(child, release) for child, release in rig.fleet if release is newer]
    rig.must_refuse(older)
    rig.open_gateway(newer, REFUSED)
    rig.minilab = newer.minilab
    rig.wait_for(jobs)
