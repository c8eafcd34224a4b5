"""The README's pictures: of a queue at work, an asset and dead jobs, light and dark, wide and narrow."""

import io
import os
import signal
import time

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
# Jobs in each step of the busy time before the pictures. The gateway takes a sample of its counters every ten seconds, and a
# curve with a shape needs some: three minutes of real work.
WAVE = (2, 3, 5, 6, 8, 7, 9, 10, 8, 6, 5, 6, 8, 9, 7, 5, 4, 3)
STEP_SECONDS = 10
# The steps in which a job fails for good.
LOST_AT = (4, 5, 7, 8, 9, 12, 14)
SLOW = {"filters": [{"name": "CIMotionBlur", "inputRadius": 400, "inputAngle": 0.5}]}


def scenes(stage):
    """Sets the stage: what was done, what died, two jobs at work, and what waits. Gives the pages by name."""
    acme, bolt = (stage.tenant_key(tenant) for tenant in ("acme", "bolt"))
    stage.photo(PHOTO, "dandelion.jpg")
    stage.start_worker("--slots", "2", "--lease", "10m")
    for edit in (sepia(0.8), {"filters": [{"name": "CIPhotoEffectMono"}, {"name": "CISepiaTone", "inputIntensity": 0.6}]}):
        stage.wait_for(stage.enqueue(PHOTO, edit, key=acme), "done")
    busy_time(stage, (("acme", acme), ("bolt", bolt)))
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


def busy_time(stage, tenants):
    """Has the worker do real work for some minutes, now more and now less; seven jobs of it fail for good."""
    photos = {tenant: [stage.photo(f"{tenant}/orders/{number}.jpg") for number in range(5)] for tenant, _ in tenants}
    newest, lost = {}, 0
    for step, jobs in enumerate(WAVE):
        end = time.monotonic() + STEP_SECONDS
        for number in range(jobs):
            tenant, key = tenants[number % 3 == 0]
            photo = photos[tenant][number % 5]
            # Each edit differs from the one before, or there would be nothing to do.
            newest[photo] = stage.enqueue(photo, sepia(0.3 + (step * 7 + number) % 60 / 100), f"hour-{step}-{number}", key)
        if step in LOST_AT:
            tenant, key = tenants[lost % 2]
            stage.wait_for(stage.enqueue(f"{tenant}/lost/IMG_{lost:04}.JPG", job=f"lost-{lost}", key=key), "dead")
            lost += 1
        time.sleep(max(0, end - time.monotonic()))  # paces the work, and waits for nothing
    for job in newest.values():
        stage.wait_for(job, "done")


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
