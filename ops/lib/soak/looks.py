"""What is looked at while a worker works, and the straight line through it."""

import collections
import os

# Bytes but for counts; `seconds` since the start, `done` jobs by then.
Look = collections.namedtuple("Look", "seconds done worker children files staged zombies")


def look(seconds, done, worker, library, temporary):
    """Looks at a worker process, its children and its folders."""
    below = children(worker)
    resident = files = zombies = 0
    for pid, state in below.items():
        zombies += state == "Z"
        resident += resident_set(pid)
        files += open_files(pid)
    return Look(seconds, done, resident_set(worker), resident, files + open_files(worker),
                entries(f"{library}/staging") + entries(temporary), zombies)


def children(parent):
    """The processes that another has started: pid → state."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if len(fields) > 1 and int(fields[1]) == parent:
                found[int(name)] = fields[0]
    return found


def resident_set(pid):
    fields = read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def open_files(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0  # it ended meanwhile


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it ended meanwhile


def entries(folder):
    """Files below a folder."""
    return sum(len(files) for _, _, files in os.walk(folder))


def line(points):
    """Slope and value at the first x of the least-squares line through (x, y)."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0
    return slope, mean_y + slope * (points[0][0] - mean_x)


def growth(looks, field):
    """How much a field's line rises over the second half of the looks, and where it begins there."""
    half = [(look.seconds, getattr(look, field)) for look in looks[len(looks) // 2:]]
    slope, first = line(half)
    return slope * (half[-1][0] - half[0][0]), first
