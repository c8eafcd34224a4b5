"""Two workers share the parts of a long movie that nobody wants any more; to cancel its job ends them all."""

import shutil
import subprocess

from drills import Unable

SEE = "`top` shows busy workers, and no job that they have"
# A key frame every 4 s makes parts of 8 s.
SECONDS, FRAMES_PER_SECOND, KEY_FRAME_EVERY = 40, 5, 20


def drill(site):
    make_movie(f"{site.library}/originals/long.mov")
    workers = [site.worker(name, settings={"MINILAB_TEST_STOP_AT": "mid-render"}) for name in ("minilab", "second")]
    site.send("order-7", "long.mov")
    for worker in workers:
        site.child_stands_still(worker)

    said = site.see("minilab top", "active 2", "--once")
    listed = [line.split()[0] for line in said.splitlines() if line.startswith("order-7")]
    assert listed == ["order-7"], f"top lists {listed}"
    site.see("minilab explain order-7", "running for .* (minilab|second) has it")
    site.run("minilab cancel order-7")
    site.until("nobody works on a part", lambda: site.state()["active"] == 0)

    site.send("photo", site.photo("photo.png"))
    site.let_renders_go_on(workers, 1)
    site.is_well(completed=1)
    assert [event["job"] for event in site.events("cancelled")] == ["order-7"]


def make_movie(path):
    if not shutil.which("ffmpeg"):
        raise Unable("there is no ffmpeg; ops/setup test installs it")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=320x240:r={FRAMES_PER_SECOND}:d={SECONDS}",
         "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", str(KEY_FRAME_EVERY), path],
        check=True, stdin=subprocess.DEVNULL)
