"""Runs the flows of the dashboard in a real browser against a real gateway; see ops/browser."""

import argparse
import os
import sys
import tempfile
import time
import traceback

import tidy_end
from playwright.sync_api import sync_playwright

import flows
import pictures
from stage import Stage

CHROMIUM = "/usr/bin/chromium"
FONTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fonts.conf")
# As root, as in containers, Chromium has no sandbox to offer; it visits this machine alone.
# Flows that fail are played once more, unless there are more: that is no accident of timing.
AGAIN_MAX = 3
ARGUMENTS = ["--disable-dev-shm-usage", "--font-render-hinting=none", "--disable-lcd-text"]


def main():
    tidy_end.on_signals()
    given = arguments()
    wanted = [flow for flow in flows.ALL + pictures.FLOWS if given.only in (None, flow.__name__)]
    if not wanted:
        print(f"browser: no flow is called {given.only!r}; --list names them", file=sys.stderr)
        return 64
    if given.list:
        for flow in wanted:
            print(f"{flow.__name__:24} {flow.__doc__}")
        return 0
    failed = []
    with sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS + root, env={**os.environ, "FONTCONFIG_FILE": FONTS})
        if given.pictures:
            with_stage(given.bin, lambda stage: pictures.take(stage, browser, given.pictures))
        else:
            failed = [flow for flow in wanted if not passes(flow, browser, given.bin)]
            if failed and len(failed) <= AGAIN_MAX:
                again = [flow for flow in failed if not passes(flow, browser, given.bin)]
                unsteady = [flow.__name__ for flow in failed if flow not in again]
                if unsteady:
                    print(f"browser: unsteady, failed once and passed then: {' '.join(unsteady)}", file=sys.stderr)
                failed = again
        browser.close()
    if failed:
        print(f"browser: failed: {' '.join(flow.__name__ for flow in failed)}", file=sys.stderr)
    return 1 if failed else 0


def with_stage(binaries, play):
    with tempfile.TemporaryDirectory(prefix="minilab-browser-", ignore_cleanup_errors=True) as folder:
        stage = Stage(binaries, folder)
        try:
            return play(stage)
        except BaseException:
            for name in ("gateway", "worker"):
                tell_end(f"{folder}/{name}.log")
            raise
        finally:
            stage.end()


def tell_end(log, lines=15):
    if os.path.exists(log):
        with open(log, errors="replace") as file:
            print(*(f"  {os.path.basename(log)}: {line.rstrip()[:400]}" for line in file.readlines()[-lines:]),
                  sep="\n", file=sys.stderr)


def passes(flow, browser, binaries):
    began = time.monotonic()
    try:
        with_stage(binaries, lambda stage: flow(stage, browser))
    except Exception as error:  # whatever it is, the other flows are worth running
        print(f"✕ {flow.__doc__} ({flow.__name__})", *where(error), sep="\n  ", file=sys.stderr, flush=True)
        return False
    print(f"✓ {flow.__doc__} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def where(error):
    """The lines of the flow that led to an error, and its words without the whole page's tree."""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(os.path.dirname(__file__)) and "__main__" not in frame.filename:
            yield f"{os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}"
    yield str(error).partition("Aria snapshot")[0].rstrip()[:3000]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only")
    parser.add_argument("--pictures")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
