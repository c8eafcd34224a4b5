"""Disks that are small, or go away: file systems in memory, mounted for a scenario or a drill."""

import errno
import os
import subprocess

FILL_TRIES_MAX = 10_000


def mount_tmpfs(folder, ends, size, files=10_000):
    """Makes a folder a file system of its own: so many bytes, so many files. Gives the reason why not, or None.

    ends: functions to be called at the end, last first; what unmounts it is added.
    """
    if os.geteuid() != 0:
        return "a file system of its own needs root"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes={files}", "minilab-small", folder],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        return f"no tmpfs can be mounted here: {mounted.stderr.strip()}"
    ends.append(lambda: subprocess.run(["umount", "--lazy", folder]))
    return None


def unmount(folder, ends):
    """Takes a disk away beneath whoever uses it; gives a function that mounts it again."""
    kept = f"{folder}-kept"
    os.mkdir(kept)
    subprocess.run(["mount", "--bind", folder, kept], check=True)
    ends.append(lambda: subprocess.run(["umount", "--lazy", kept]))
    subprocess.run(["umount", "--lazy", folder], check=True)
    return lambda: subprocess.run(["mount", "--bind", kept, folder], check=True)


def fill(path, leave=0):
    """Writes a file that takes the room of its file system, but for so many bytes. Whoever removes it makes room again.

    A file system in memory takes all of a call back that it cannot fulfil. A neighbour that writes and removes a file
    between the question and the call would leave the disk empty, so the question is asked again.
    """
    size = 0
    with open(path, "wb") as file:
        for _ in range(FILL_TRIES_MAX):
            status = os.statvfs(path)
            room = status.f_bavail * status.f_frsize - leave
            if room <= 0:
                return
            try:
                os.posix_fallocate(file.fileno(), size, room)
                size += room
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    raise AssertionError(f"{path} did not fill its disk in {FILL_TRIES_MAX} tries")
