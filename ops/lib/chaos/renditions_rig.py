"""A rig whose jobs ask for renditions, and that compares each that an event tells with its file."""

import collections
import hashlib
import os

from photo_rig import PhotoRig

RENDITIONS = {
    "web": {"box": [320, 320], "format": "webp"},
    "square": {"box": [64, 64], "fit": "cover", "focus": [0.4, 0.6]},
    "story": {"box": [90, 160], "fit": "contain", "background": [0.1, 0.1, 0.1], "format": "png"},
}


class RenditionsRig(PhotoRig):
    LEASE = "3s"

    def complaints(self):
        return super().complaints() + list(self.wrong_renditions())

    def sizes(self):
        """The files of renditions, by version's folder."""
        found = collections.defaultdict(list)
        for folder, _, files in os.walk(f"{self.library}/edits"):
            if os.path.basename(os.path.dirname(folder)) == "sizes":
                found[folder] += [f"{folder}/{name}" for name in files if name != "list.json"]
        return found

    def wrong_renditions(self):
        """Where a rendition that an event tells is not in its place with one of the digests that were told of that place."""
        told = collections.defaultdict(set)
        for event in self.events():
            for name, rendition in event["data"].get("renditions", {}).items():
                if "error" in rendition:
                    yield f"{event['data']['job']}: rendition {name} failed: {rendition['error']}"
                else:
                    told[rendition["path"]].add(rendition["sha256"])
        for path, digests in told.items():
            try:
                with open(os.path.join(self.library, path), "rb") as file:
                    found = hashlib.sha256(file.read()).hexdigest()
            except FileNotFoundError:
                yield f"{path} was told, and is not there"
                continue
            if found not in digests:
                yield f"{path} has SHA-256 {found}, told were {sorted(digests)}"
        self.remarks.append(f"{len(told)} renditions were told")
