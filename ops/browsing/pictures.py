"""The README's pictures: of a queue at work, an asset and dead jobs, light and dark, wide and narrow."""

import io
import os
import signal

from PIL import Image, ImageChops
from playwright.sync_api import expect

import assets
from stage import sepia
from visit import NARROW, WIDE, Visit

KEPT = os.path.join(os.path.dirname(__file__), "pictures")
# The most that fit: pages need few, photos many.
COLOURS = (128, 64, 32, 16)
BYTES_MAX = 120 << 10
# Moments, names of versions and lines of sparks differ each time, and fonts a little between machines.
SHARE_MAX, DIFFERENCE_MAX = 0.03, 32
PHOTO = "acme/dandelion.jpg"
SLOW = {"filters": [{"name": "CIMotionBlur", "inputRadius": 400, "inputAngle": 0.5}]}


def scenes(stage):
    """Sets the stage: what was done, what died, two jobs at work, and what waits. Gives the pages by name."""
    acme, bolt = (stage.tenant_key(tenant) for tenant in ("acme", "bolt"))
    stage.photo(PHOTO, "dandelion.jpg")
    stage.start_worker("--slots", "2", "--lease", "10m")
    for edit in (sepia(0.8), {"filters": [{"name": "CIPhotoEffectMono"}, {"name": "CISepiaTone", "inputIntensity": 0.6}]}):
        stage.wait_for(stage.enqueue(PHOTO, edit, key=acme), "done")
    for number in range(7):
        tenant, key = (("acme", acme), ("bolt", bolt))[number % 2]
        stage.wait_for(stage.enqueue(f"{tenant}/lost/IMG_{number:04}.JPG", job=f"lost-{number}", key=key), "dead")
    stage.pause("the stage is set")
    long = [
        stage.enqueue(stage.photo(f"{tenant}/panorama.jpg", "dandelion.jpg", 5312), SLOW, f"panorama-{tenant}", key)
        for tenant, key in (("acme", acme), ("bolt", bolt))]
    for number in range(12):
        tenant, key = (("acme", acme), ("bolt", bolt))[number % 3 == 0]
        job = stage.enqueue(f"{tenant}/IMG_{number:04}.JPG", job=f"order-{number}", key=key)
        stage.wait_for(job, "ready")
    stage.resume()
    for job in long:
        stage.wait_for(job, "active")
    # It holds its two jobs for as long as pictures are taken.
    stage.worker.signal(signal.SIGSTOP)
    return {"now": "/", "asset": f"/assets/{PHOTO}", "dead": "/dead"}


def taken(stage, browser):
    """Gives each picture's name and PNG."""
    for name, path in scenes(stage).items():
        for dark in (False, True):
            for size in (WIDE, NARROW):
                visit = Visit(browser, stage, size=size, dark=dark).sign_in(stage.operator)
                visit.open(path)
                if name == "asset":
                    assets.pictures_of(visit)
                if name == "now":
                    expect(visit.page.locator("#liveness")).to_have_text("Live")
                    expect(visit.page.locator("#running tbody tr")).to_have_count(2)
                shot = visit.page.screenshot(animations="disabled", caret="hide")
                yield f"{name}-{visit.scheme}-{size[0]}.png", small(shot)
                visit.judge()


def small(shot):
    """The PNG with a palette, of as many colours as its bytes allow."""
    for colours in COLOURS:
        with Image.open(io.BytesIO(shot)) as image:
            reduced = image.convert("RGB").quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        result = io.BytesIO()
        reduced.save(result, "PNG", optimize=True)
        if result.tell() <= BYTES_MAX:
            return result.getvalue()
    raise ValueError(f"a picture has {result.tell()} bytes; at most {BYTES_MAX} are for the README")


def take(stage, browser, folder):
    """Writes all pictures into a folder."""
    os.makedirs(folder, exist_ok=True)
    for name, picture in taken(stage, browser):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(picture)
        print(f"{name}: {len(picture)} bytes")


def share_of_difference(one, other):
    """The share of pixels that differ visibly; 1 when the pictures have different sizes."""
    with Image.open(io.BytesIO(one)) as first, Image.open(io.BytesIO(other)) as second:
        if first.size != second.size:
            return 1
        bands = ImageChops.difference(first.convert("RGB"), second.convert("RGB")).split()
        worst = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
        return sum(worst.histogram()[DIFFERENCE_MAX + 1:]) / (first.width * first.height)


def pictures_hold(stage, browser):
    """The pages look as in the README's pictures."""
    kept = set(os.listdir(KEPT))
    for name, picture in taken(stage, browser):
        if name in kept:
            kept.remove(name)
            with open(os.path.join(KEPT, name), "rb") as file:
                share = share_of_difference(file.read(), picture)
            assert share <= SHARE_MAX, f"{name}: {share:.1%} of its pixels differ; ops/browser --pictures shows how"
    assert not kept, f"no page makes {kept}"


FLOWS = [pictures_hold]
