"""Eight sizes of one photo in turn with others; called by ops/bench/renditions. Run with --peer NAME it is one of the others."""

import argparse
import json
import os
import subprocess
import sys

SIDES = (2048, 1600, 1280, 1024, 800, 640, 320, 160)
QUALITY = 0.8
# Colours alone, as most looks are: a curve, temperature and tint, vibrance.
LOOK = [
    {"name": "CITemperatureAndTint", "targetNeutral": [5500, 0]},
    {"name": "CIToneCurve", "point0": [0, 0.02], "point1": [0.25, 0.22], "point2": [0.5, 0.52], "point3": [0.75, 0.8],
     "point4": [1, 1]},
    {"name": "CIVibrance", "amount": 0.4},
]
PEERS = ("pyvips", "sharp", "pillow")
SUFFIXES = {"jpeg": "jpg"}
# The encoders' settings beside which `quality` 0.8 and the efforts of ours lie.
SAVE = {"jpeg": {"Q": 80, "optimize_coding": True}, "webp": {"Q": 80, "effort": 2}, "avif": {"Q": 50, "effort": 0},
        "jxl": {"Q": 80, "effort": 3}}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--peer", choices=PEERS)
    arguments.add_argument("--child")
    arguments.add_argument("--folder", required=True)
    arguments.add_argument("--formats", type=lambda text: text.split(","), default=["jpeg", "webp", "avif"])
    arguments.add_argument("--photo")
    arguments.add_argument("--megapixels", choices=("24", "sample"), default="24")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--against", action="append", default=[])
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    if given.peer:
        return serve(given.peer, given.folder)
    measure(given)


def measure(given):
    from estimate_photos import Photos

    photos = Photos(given.folder, False, given.photo)
    photo = photos.make("jpeg", given.megapixels)
    ours = {os.path.basename(os.path.dirname(child)) or child: child for child in given.against}
    ours = {"ours": given.child, **ours}
    print(f"{given.megapixels} MP JPEG, {given.rounds} rounds in turn, one thread each; CPU s least, MB highest\n")
    print("| format | look | who | full alone | + largest | + eight | eight ÷ largest | MB largest | MB eight |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for format in given.formats:
        for look in ((), LOOK):
            contenders = {name: Ours(child, given.folder, look, format) for name, child in ours.items()}
            if not given.no_peer and not look:
                contenders |= {name: Peer(name, given.folder, format) for name in PEERS
                               if not (name == "pillow" and format == "jxl")}
            uses = {name: {count: [] for count in (0, 1, len(SIDES))} for name in contenders}
            for turn in range(given.rounds + 1):
                for name, contender in contenders.items():
                    for count in uses[name]:
                        use = contender.render(photo, SIDES[:count])
                        if use and turn:
                            uses[name][count].append(use)
            for name, contender in contenders.items():
                contender.close()
                show(format, look, name, uses[name])
    photos.done(photo)


def show(format, look, name, uses):
    cpu = {count: min((use.cpu for use in some), default=None) for count, some in uses.items()}
    peak = {count: max((use.peak_bytes for use in some), default=None) for count, some in uses.items()}
    one, all = cpu[1], cpu[len(SIDES)]
    cells = [text(cpu[0], "{:.3f}"), text(one, "{:.3f}"), text(all, "{:.3f}"),
             text(all and one and all / one, "{:.2f}"), text(peak[1] and peak[1] / 1e6, "{:.0f}"),
             text(peak[len(SIDES)] and peak[len(SIDES)] / 1e6, "{:.0f}")]
    print(f"| {format} | {'yes' if look else 'no'} | {name} | " + " | ".join(cells) + " |", flush=True)


def text(value, form):
    return form.format(value) if value else "–"


class Ours:
    """A minilab-render, warm. `render` gives what the full render and these renditions took; nil for one that knows none."""

    def __init__(self, program, folder, look, format):
        from render_child import Child

        self.child = Child(program, folder, {"VIPS_CONCURRENCY": "1"})
        self.recipe = {"filters": list(look), "output": {"quality": QUALITY, "format": "jpeg"}}
        self.format = format

    def render(self, photo, sides):
        from render_child import FULL, Refused

        renditions = [{"rendition": {"box": [side, side], "format": self.format, "quality": QUALITY}} for side in sides]
        try:
            return self.child.render(photo, self.recipe, (FULL, *renditions))
        except Refused as refused:
            print(f"renditions: {refused}", file=sys.stderr)
            return None

    def close(self):
        self.child.close()


class Peer:
    """A library in a process that lives as long as ours; it makes the renditions alone, without the full picture."""

    def __init__(self, name, folder, format):
        self.format = format
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--peer", name, "--folder", folder], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, "VIPS_CONCURRENCY": "1", "MALLOC_ARENA_MAX": "2"})

    def render(self, photo, sides):
        from render_child import Meter

        if not sides:
            return None
        meter = Meter(self.process.pid)
        job = {"photo": photo, "sides": sides, "format": self.format}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        use = meter.use
        if "error" in answer:
            print(f"renditions: {answer['error'].strip()}", file=sys.stderr)
            return None
        return use

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve(name, folder):
    make = {"pyvips": by_pyvips, "sharp": in_sharps_order, "pillow": by_pillow}[name]
    for line in sys.stdin:
        job = json.loads(line)
        suffix = SUFFIXES.get(job["format"], job["format"])
        targets = [os.path.join(folder, f"{name}-{side}.{suffix}") for side in job["sides"]]
        try:
            make(job["photo"], job["sides"], job["format"], targets)
            answer = {}
        except Exception as error:  # the asking process prints it
            answer = {"error": repr(error)}
        for target in targets:
            if os.path.exists(target):
                os.remove(target)
        print(json.dumps(answer), flush=True)


def by_pyvips(photo, sides, format, targets):
    import pyvips

    image = pyvips.Image.new_from_file(photo, access="sequential").copy_memory()
    for side, target in zip(sides, targets):
        image.thumbnail_image(side, height=side, size="down", linear=True).write_to_file(target, **SAVE[format])


def in_sharps_order(photo, sides, format, targets):
    import pyvips

    for side, target in zip(sides, targets):
        pyvips.Image.thumbnail(photo, side, height=side, size="down").write_to_file(target, **SAVE[format])


def by_pillow(photo, sides, format, targets):
    from PIL import Image

    image = Image.open(photo)
    image.load()
    for side, target in zip(sides, targets):
        small = image.copy() if max(image.size) <= side else image.resize(fitted(image.size, side), Image.Resampling.LANCZOS)
        small.save(target, quality=80)


def fitted(size, side):
    longest = max(size)
    return tuple(max(1, (2 * length * side + longest) // (2 * longest)) for length in size)


if __name__ == "__main__":
    main()
