"""A rig whose workers edit movies and Live Photos: a movie of two parts, alone and beside a still."""

import os
import re
import struct

from photo_rig import PHOTOS, PhotoRig

# 1080p of 9 s, which is two parts; Apache-2.0, as Tests/Fixtures/LICENSES.md says.
MOVIE = os.path.join(PHOTOS, "../../Tests/Fixtures/Movies/edit_list_positive_shift.mp4")
STILL = os.path.join(PHOTOS, "tulips.jpg")
PARTS = 2
MARK = "602FEBB7-6B59-4799-96E6-9C8484D873C7"
# A corner, because scenarios are not about pixels.
EDIT = {"filters": [{"name": "CICrop", "inputRectangle": [0, 0, 256, 192]}, {"name": "CIColorInvert"}]}


class MovieRig(PhotoRig):
    # Parts of the fleet's work are taken back and carried on again and again.
    LEASE = "3s"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.clip, self.still, self.live = (f"{self.folder}/{name}" for name in ("clip.mp4", "live.jpg", "live.mov"))
        with open(MOVIE, "rb") as file:
            movie = file.read()
        with open(STILL, "rb") as file:
            still = file.read()
        for path, content in [(self.clip, movie), (self.still, marked_still(still)), (self.live, marked_movie(movie))]:
            with open(path, "wb") as file:
                file.write(content)

    # Producer

    def send_clip(self):
        self.send(1, [self.clip], EDIT)

    def send_pair(self):
        """Sends a job for a still whose movie lies beside it."""
        number = len(self.assets)
        self.place_original(self.live, f"{number:06}-live.mov")
        self.send(1, [self.still], EDIT)

    # Looking

    def parts(self):
        """The parts of movies that are kept for whoever goes on: path → inode."""
        found = {}
        for folder, _, files in os.walk(f"{self.library}/segments"):
            for name in files:
                if not name.startswith("."):
                    try:
                        found[f"{folder}/{name}"] = os.stat(f"{folder}/{name}").st_ino
                    except FileNotFoundError:
                        continue  # the movie is done
        return found

    # A worker that wakes up late may keep the part that it was at, which `minilab gc` takes a day later.
    parts_left_max = 0

    def complaints(self):
        found = super().complaints()
        if len(parts := self.parts()) > self.parts_left_max:
            found.append(f"{len(parts)} parts of movies are left: {sorted(parts)[0]}")
        authors = self.authors()
        if len(set(authors)) != len(authors):
            found.append(f"jobs have several versions: {sorted(authors)}")
        pairs = 0
        for folder, _, files in os.walk(f"{self.library}/edits"):
            if "provenance.json" in files and "/versions/" in folder:
                halves = [name for name in files if name.endswith((".jpg", ".mov", ".mp4")) and "-live" in name]
                if not halves:
                    continue
                pairs += 1
                marks = [marks_of(f"{folder}/{name}") for name in halves]
                if len(halves) != 2 or marks[0] != marks[1] or len(marks[0]) != 1 or MARK in marks[0]:
                    found.append(f"{folder}: halves {halves} are marked {marks}")
        wanted = sum(asset.endswith("live.jpg") for asset in self.assets.values())
        if pairs != wanted:
            found.append(f"{pairs} versions of Live Photos, of {wanted} edits")
        return found


def marks_of(path):
    with open(path, "rb") as file:
        return {mark.decode() for mark in re.findall(rb"[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}", file.read())}


def box(kind, content):
    return struct.pack(">I", len(content) + 8) + kind + content


def marked_movie(movie):
    """The movie with a content identifier: moov goes to the end, and leaves room that is free, so that nothing moves."""
    place = 0
    while place + 8 <= len(movie):
        length, kind = struct.unpack(">I4s", movie[place:place + 8])
        if kind == b"moov":
            content = movie[place + 8:place + length]
            return movie[:place + 4] + b"free" + movie[place + 8:] + box(b"moov", content + metadata())
        place += length
    raise ValueError(f"{MOVIE} has no moov")


def metadata():
    keys = bytes(4) + struct.pack(">I", 1) + box(b"mdta", b"com.apple.quicktime.content.identifier")
    value = box(struct.pack(">I", 1), box(b"data", struct.pack(">II", 1, 0) + MARK.encode()))
    return box(b"meta", box(b"keys", keys) + box(b"ilst", value))


def marked_still(photo):
    """The JPEG with a MakerNote of Apple's that has the same identifier (tag 0x0011)."""
    text = MARK.encode() + b"\0"

    def directory(tag, kind, count, value):
        return struct.pack(">HHHII", 1, tag, kind, count, value) + bytes(4)
    note = b"Apple iOS\0\0\1MM" + directory(0x0011, 2, len(text), 14 + 18) + text
    exif = (b"MM\0*" + struct.pack(">I", 8) + directory(0x8769, 4, 1, 26)
            + directory(0x927C, 7, len(note), 44) + note)
    segment = b"Exif\0\0" + exif
    return photo[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + photo[2:]
