"""Runs the cells of the table, each contender in turn; prints a line for each, and all as tables at the end."""

import argparse
import os
import statistics
import subprocess
import sys

from estimate_photos import NoRoom, Photos, size_of

from .contenders import Ours, Peer, jpeg_limit
from .edits import FORMATS, codec, edits
from .matrices import matrices


def main():
    arguments = argparse.ArgumentParser()
    for name in ("child", "folder", "limit"):
        arguments.add_argument("--" + name, required=True)
    names = list(edits(1, 1))
    arguments.add_argument("--formats", type=words(FORMATS), default=list(FORMATS))
    arguments.add_argument("--edits", type=words(names), default=names)
    arguments.add_argument("--megapixels", choices=("1", "6", "12", "24", "sample"), default="24")
    arguments.add_argument("--photo")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--against", action="append", default=[])
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--no-peer", action="store_true")
    given = arguments.parse_args()
    photos = Photos(given.folder, given.keep, given.photo)
    print(f"{given.megapixels} MP, {given.rounds} rounds in turn, one thread each; CPU s least, wall s median, MB highest\n")
    print("| format | edit | who | CPU s | wall s | peak MB | × codec | ours × it, CPU | ours × it, MB |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    cells = {}
    for format in given.formats:
        try:
            photo = photos.make(FORMATS[format][0], given.megapixels)
        except (NoRoom, subprocess.CalledProcessError) as error:
            print(f"looks: no photo for {format}: {error!r}", file=sys.stderr)
            continue
        for edit in given.edits:
            cells[format, edit] = measure(given, photo, format, edit)
            show(format, edit, cells[format, edit])
        photos.done(photo)
    print("\nOurs · pyvips:\n\n" + matrices(cells))


def words(known):
    """A reader of a list with commas, of known words."""
    def read(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in known:
                raise argparse.ArgumentTypeError(f"{word}; known are {', '.join(known)}")
        return chosen
    return read


def measure(given, photo, format, edit):
    """What each contender took in each round, the first left out."""
    width, height = size_of(given.megapixels)
    filters, output = edits(width, height)[edit], FORMATS[format][1]
    ours = Ours(given.child, given.folder)
    others = [Ours(program, given.folder) for program in given.against]
    peer = None if given.no_peer or format == "dng" else Peer(given.folder)
    turns = {"ours": lambda: ours.render(photo, filters, output)}
    for number, other in enumerate(others):
        turns[os.path.basename(given.against[number])] = lambda other=other: other.render(photo, filters, output)
    if format.startswith("jpeg"):
        turns["codec"] = lambda: jpeg_limit(given.limit, photo)
    else:
        alone = Ours(given.child, given.folder)
        others.append(alone)
        turns["codec"] = lambda: alone.render(photo, codec(width, height), output)
    if peer:
        turns["pyvips"] = lambda: peer.render(photo, format, edit)
    uses = {name: [] for name in turns}
    for number in range(given.rounds + 1):
        for name, turn in turns.items():
            use = turn()
            if use is not None and number > 0:
                uses[name].append(use)
    for contender in (ours, *others, *([peer] if peer else [])):
        contender.close()
    return uses


def show(format, edit, uses):
    least = {name: min(use.cpu for use in some) for name, some in uses.items() if some}
    peak = {name: max(use.peak_bytes for use in some) for name, some in uses.items() if some}
    for name, some in uses.items():
        if not some:
            print(f"| {format} | {edit} | {name} | – | – | – | – | – | – |", flush=True)
            continue
        wall = statistics.median(use.wall for use in some)
        codec_ratio = f"{least[name] / least['codec']:.2f}" if "codec" in least else "–"
        ratio, memory = "", ""
        if name != "ours" and "ours" in least:
            ratio = f"{least['ours'] / least[name]:.2f}"
            memory = f"{peak['ours'] / peak[name]:.2f}"
        print(f"| {format} | {edit} | {name} | {least[name]:.2f} | {wall:.2f} | {peak[name] / 1e6:.0f} "
              f"| {codec_ratio} | {ratio} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
