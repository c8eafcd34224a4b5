"""The README's pictures: of a queue at work, an asset and dead jobs, light and dark, wide and narrow."""

import io
import os
import threading
import time

from PIL import Image, ImageChops
from playwright.sync_api import expect

import assets
from stage import sepia
from visit import NARROW, WIDE, Visit

KEPT = os.path.join(os.path.dirname(__file__), "pictures")
# Pages need few colours: the most that fit. Photos need all, so a page with photos is a JPEG.
COLOURS = (128, 64, 32, 16)
QUALITY = 82
BYTES_MAX = 120 << 10
# Moments, names of versions and lines of sparks differ each time, and fonts a little between machines.
SHARE_MAX, DIFFERENCE_MAX = 0.03, 32
PHOTO = "acme/dandelion.jpg"
# Jobs in each step of the busy time before the pictures. The gateway takes a sample of its counters every ten seconds, and a
# curve with a shape needs some: three minutes of real work.
WAVE = (8, 12, 20, 24, 32, 28, 36, 40, 32, 24, 20, 24, 32, 36, 28, 24, 24, 24)
STEP_SECONDS = 10
# While pictures are taken, clients send on at the pace of the last step.
PACE_SECONDS = STEP_SECONDS / WAVE[-1]
LOST = 7
# Two jobs that run for longer than the pictures of the queue take.
LONG = {"filters": [{"name": "CIMotionBlur", "inputRadius": 400, "inputAngle": 0.1 * turn} for turn in range(30)]}


class Clients:
    """Two shops that send edits of their photos, each another one than before, or there would be nothing to do."""

    def __init__(self, stage):
        self.stage, self.sent = stage, 0
        self.keys = {tenant: stage.tenant_key(tenant) for tenant in ("acme", "bolt")}
        self.photos = {tenant: [stage.photo(f"{tenant}/orders/{number}.jpg") for number in range(5)] for tenant in self.keys}

    def send(self):
        tenant = "bolt" if self.sent % 3 == 0 else "acme"
        photo = self.photos[tenant][self.sent % 5]
        self.stage.enqueue(photo, sepia(0.3 + self.sent * 7 % 60 / 100), f"order-{self.sent}", self.keys[tenant])
        self.sent += 1

    def busy_time(self):
        """Sends jobs for some minutes, now more and now less."""
        for jobs in WAVE:
            end = time.monotonic() + STEP_SECONDS
            for number in range(jobs):
                self.send()
                time.sleep(max(0, (end - time.monotonic()) / (jobs - number)))  # paces the work, and waits for nothing

    def __enter__(self):
        """Sends on, from a thread, until it is left."""
        self.is_over, self.fault = threading.Event(), None
        self.thread = threading.Thread(target=self.send_on)
        self.thread.start()
        return self

    def send_on(self):
        try:
            while not self.is_over.wait(PACE_SECONDS):
                self.send()
        except Exception as error:  # told by the thread that takes the pictures
            self.fault = error

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        if self.fault:
            raise self.fault


def taken(stage, browser):
    """Gives each picture's name and its file."""
    clients = Clients(stage)
    stage.photo(PHOTO, "dandelion.jpg")
    stage.start_worker("--slots", "3")
    for edit in (sepia(0.8), {"filters": [{"name": "CIPhotoEffectMono"}, {"name": "CISepiaTone", "inputIntensity": 0.6}]}):
        stage.wait_for(stage.enqueue(PHOTO, edit, key=clients.keys["acme"]), "done")
    clients.busy_time()
    with clients:
        for tenant, key in clients.keys.items():
            long = stage.enqueue(stage.photo(f"{tenant}/panorama.jpg", "dandelion.jpg", 5312), LONG, f"panorama-{tenant}", key)
            stage.wait_for(long, "active")
        yield from shots(stage, browser, "now", "/")
    yield from shots(stage, browser, "asset", f"/assets/{PHOTO}")
    for number in range(LOST):
        tenant, key = list(clients.keys.items())[number % 2]
        stage.wait_for(stage.enqueue(f"{tenant}/lost/IMG_{number:04}.JPG", job=f"lost-{number}", key=key), "dead")
    yield from shots(stage, browser, "dead", "/dead")


def shots(stage, browser, name, path):
    """A page in light and dark, wide and narrow."""
    for dark in (False, True):
        for size in (WIDE, NARROW):
            visit = Visit(browser, stage, size=size, dark=dark).sign_in(stage.operator)
            visit.open(path)
            if name == "asset":
                assets.pictures_of(visit)
            if name == "now":
                expect(visit.page.locator("#liveness")).to_have_text("Live")
                expect(visit.page.locator("#health")).to_contain_text("All is well")
                expect(visit.page.locator("#running")).to_contain_text("panorama-bolt")
            shot = visit.page.screenshot(animations="disabled", caret="hide")
            suffix, file = (".jpg", photograph(shot)) if name == "asset" else (".png", small(shot))
            yield f"{name}-{visit.scheme}-{size[0]}{suffix}", file
            visit.judge()


def photograph(shot):
    """The page as a JPEG with all its colours."""
    result = io.BytesIO()
    with Image.open(io.BytesIO(shot)) as image:
        image.convert("RGB").save(result, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    if result.tell() > BYTES_MAX:
        raise ValueError(f"a picture has {result.tell()} bytes; at most {BYTES_MAX} are for the README")
    return result.getvalue()


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
