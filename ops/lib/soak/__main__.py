"""Sends the jobs, looks until all are done, and judges; see ops/soak."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

import tidy_end
from looks import Look, entries, growth, look
from processes import Child, eventually
from servers import Server

LOOK_EVERY = 0.5  # seconds
LOOKS_MIN = 20
SEND_AT_ONCE = 1000
STALL_SECONDS_MAX = 120
END_SECONDS_MAX = 60
SMALL = 160, 120
EDIT = '{"filters":[{"name":"CISepiaTone","inputIntensity":%.6f}]}'
RISE_MAX, RISE_BYTES_MAX, RISE_FILES_MAX = 0.02, 2e6, 4
# No version keeps what nobody asks for, so that Redis' memory is not what the machine runs out of.
SETTINGS = ["--keep-done", "10m"]


def main():
    tidy_end.on_signals()
    given = arguments()
    with tempfile.TemporaryDirectory(prefix="minilab-soak-") as folder:
        complaints, looks = soak(given, folder)
    if given.csv:
        with open(given.csv, "w") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in [Look._fields, *looks])
    for complaint in complaints:
        print(f"soak: {complaint}", file=sys.stderr)
    print(f"soak: {'failed' if complaints else 'ok'}")
    return 1 if complaints else 0


def soak(given, folder):
    library, originals, temporary = f"{folder}/library", f"{folder}/originals", f"{folder}/tmp"
    for path in (f"{library}/edits", originals, temporary):
        os.makedirs(path)
    photo = given.photo or small_photo(given.minilab, folder)
    server = Server(f"{folder}/redis")
    try:
        send(server, photo, originals, given.jobs)
        worker = Child(
            [given.minilab, "worker", "--library", library, "--originals", originals,
             "--slots", str(given.slots), "--log-level", "notice", *SETTINGS], f"{folder}/worker.log",
            {**server.login("worker"), "TMPDIR": temporary})
        try:
            looks = watch(server, worker, given.jobs, library, temporary)
            complaints = judge(looks, given)
            complaints += failures(server, given.jobs)
            code = worker.end(END_SECONDS_MAX)
            if code not in (0, -signal.SIGTERM):
                complaints.append(f"the worker ended with {code}")
            if left := entries(f"{library}/staging") + entries(temporary):
                complaints.append(f"{left} files are left in staging and temporary folders")
        finally:
            if worker.is_running:
                worker.kill()
    finally:
        server.end()
    return complaints, looks


def small_photo(minilab, folder):
    """A photo so small that what a job costs is not the pixels."""
    photo = f"{folder}/small.jpg"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../jobs/photos/sketch.png")
    subprocess.run([minilab, "preview", source, photo, "--max", str(max(SMALL)), "--filter", "CISepiaTone"],
                   check=True, stdout=subprocess.DEVNULL)
    return photo


def send(server, photo, originals, jobs):
    """Each asset is a link to the photo, and each edit another one, so that none is done by linking a render."""
    for first in range(0, jobs, SEND_AT_ONCE):
        commands = []
        for number in range(first, min(jobs, first + SEND_AT_ONCE)):
            asset = f"{number:07}{os.path.splitext(photo)[1]}"
            os.link(photo, f"{originals}/{asset}")
            commands.append(("XADD", "minilab:{photos}:in", "*", "asset", asset, "edit", EDIT % (number / jobs)))
        server.pipeline(commands)


def watch(server, worker, jobs, library, temporary):
    """Looks until all jobs have ended."""
    started, looks, moved = time.monotonic(), [], time.monotonic()
    while not looks or looks[-1].done < jobs:
        time.sleep(LOOK_EVERY)
        if not worker.is_running:
            raise ChildProcessError(f"the worker ended with {worker.process.returncode}: {open(worker.log).read()[-2000:]}")
        counters = server("HMGET", "minilab:{photos}:counters", "completed", "failed", "unchanged")
        done = sum(int(number or 0) for number in counters)
        looks.append(look(time.monotonic() - started, done, worker.pid, library, temporary))
        if len(looks) < 2 or done > looks[-2].done:
            moved = time.monotonic()
        if time.monotonic() - moved > STALL_SECONDS_MAX:
            raise TimeoutError(f"no job has ended for {STALL_SECONDS_MAX} s, after {done}")
    # What an idle worker holds on to is looked at, too; the last job's staging folder may just be going.
    eventually("nothing is left in staging", lambda: not entries(f"{library}/staging"), 10)
    looks.append(look(time.monotonic() - started, looks[-1].done, worker.pid, library, temporary))
    return looks


def judge(looks, given):
    """Prints what was seen; gives a sentence for each thing that grows or is left."""
    found = []
    seconds = looks[-2].seconds
    print(f"soak: {given.jobs:,} photos in {seconds:.0f} s: {given.jobs / seconds:.1f} photos/s, {given.slots} slots, "
          f"{len(looks)} looks")
    if len(looks) < LOOKS_MIN:
        return [f"only {len(looks)} looks: more --jobs are needed to say anything"]
    for field, unit, least in (("worker", "MB", RISE_BYTES_MAX), ("children", "MB", RISE_BYTES_MAX),
                               ("files", "open files", RISE_FILES_MAX)):
        rise, first = growth(looks, field)
        scale = 1e6 if unit == "MB" else 1
        sentence = (f"{field}: {first / scale:.1f} {unit} at half time, {rise / scale:+.2f} until the end "
                    f"({rise / given.jobs * 2:+.1f} {'bytes' if unit == 'MB' else 'files'} a job)")
        print(f"soak: {sentence}")
        if rise > max(least, RISE_MAX * first):
            found.append(f"it grows: {sentence}")
    quarter = len(looks) // 4
    first, last = (max(look.children for look in part) for part in (looks[:quarter], looks[-quarter:]))
    print(f"soak: children at their highest: {first / 1e6:.1f} MB in the first quarter, {last / 1e6:.1f} MB in the last")
    if last > first * 1.25:
        found.append(f"children came to {last / 1e6:.1f} MB in the last quarter and to {first / 1e6:.1f} MB in the first")
    end = looks[-1]
    print(f"soak: files in staging and temporary folders: at most {max(look.staged for look in looks)}; "
          f"zombies: at most {max(look.zombies for look in looks)}")
    if end.zombies or end.staged:
        found.append(f"at the end {end.zombies} zombies and {end.staged} files are left")
    return found


def failures(server, jobs):
    completed = int(server("HGET", "minilab:{photos}:counters", "completed") or 0)
    return [] if completed == jobs else [f"{jobs - completed} of {jobs} jobs are not completed"]


def arguments():
    parser = argparse.ArgumentParser(prog="ops/soak")
    parser.add_argument("--minilab", required=True)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--slots", type=int, default=os.cpu_count())
    parser.add_argument("--photo")
    parser.add_argument("--csv")
    given = parser.parse_args()
    if not 100 <= given.jobs <= 1_000_000:
        parser.error(f"--jobs is {given.jobs}; expected 100 to 1000000")
    return given


sys.exit(main())
