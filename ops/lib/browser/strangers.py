"""Texts of strangers that are HTML, in all places where one can put a text."""

import json

from playwright.sync_api import expect

from stage import sepia
from visit import MISSING, UNPROCESSABLE, Visit

# Each would run a script, or break out of an attribute or an element, where a page forgot to escape.
TEXTS = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'onmouseover='alert(1)",
    "</title><svg onload=alert(1)>",
    "{{csrf}}{{{csrf}}}",
    "javascript:alert(1)",
    "&lt;img src=x onerror=alert(1)&gt;",
    "\u202e\u2066gpj.exe\u2069",
]
# No name of a file has a slash. Pages show characters that turn the text around them by number, so they are looked for elsewhere.
IN_PATHS = [text.replace("/", "∕") for text in TEXTS if text.isprintable()]


def hostile_assets(stage, browser):
    """File names that are HTML are texts on the pages of jobs, dead jobs, assets and in what is found."""
    stage.start_worker()
    jobs = []
    for number, text in enumerate(IN_PATHS):
        asset = f"photos/{text}.jpg"
        stage.photo(asset, side=64)
        stage.edit(asset, sepia(0.5))
        jobs.append((asset, stage.enqueue(f"gone/{text}.jpg", job=f"gone-{number}")))
    visit = Visit(browser, stage).sign_in(stage.operator)
    for asset, job in jobs:
        stage.wait_for(job, "dead")
        visit.page.goto("/find")
        visit.page.locator("#q").fill(asset)
        visit.page.locator("#q").press("Enter")
        visit.page.locator(".hits a").first.click()
        expect(visit.page.locator("h1 .path")).to_have_text(asset)
        expect(visit.page.locator(".compare img")).to_have_count(2)
        visit.page.goto(f"/jobs/{job}")
        expect(visit.page.locator(".lead a")).to_have_text(asset.replace("photos/", "gone/"))
    visit.open("/dead?list=1")
    expect(visit.page.locator("tbody tr")).to_have_count(len(jobs))
    visit.open("/dead/replay")
    visit.open("/")
    visit.judge()


def hostile_words(stage, browser):
    """Reasons, names of keys, and what is searched for are texts, too; ids and tenants that are HTML are refused."""
    visit = Visit(browser, stage).sign_in(stage.operator)
    visit.allow(UNPROCESSABLE, MISSING, "status of 400 ")
    for text in TEXTS:
        for field in ("id", "tenant"):
            status, _ = stage.call(
                "POST", "/v1/jobs", {"asset": "a.jpg", "edit": sepia(0.5), field: text}, stage.operator)
            assert 400 <= status < 500, (field, text, status)
        stage.pause(text)
        visit.page.goto("/limits")
        expect(visit.page.locator("main .sentence").first).to_contain_text(text)
        visit.page.goto("/")
        visit.page.goto("/find")
        visit.page.locator("#q").fill(text)
        visit.page.locator("#q").press("Enter")
        expect(visit.page.locator("#q")).to_have_value(text)
        visit.page.goto("/keys")
        visit.page.get_by_label("What people call it").fill(text)
        visit.page.locator("#scope-read").check()
        visit.press("Make the key")
        if text.isprintable():
            expect(visit.page.locator("#secret-heading")).to_contain_text(text)
        else:
            expect(visit.page.get_by_role("alert")).to_be_visible()
        visit.page.locator("#tenant").fill(text)
        visit.page.locator("#scope-read").check()
        visit.press("Make the key")
        expect(visit.page.get_by_role("alert")).to_be_visible()
    stage.resume()
    visit.open("/audit")
    visit.open("/keys")
    visit.judge()


def hostile_jobs(stage, browser):
    """What a producer with XADD alone puts into the stream shows as text, or is refused as a job."""
    stage.start_worker()
    for number, text in enumerate(TEXTS):
        stage.redis(
            "XADD", "minilab:{photos}:in", "*", "asset", f"gone/{number}.jpg", "tenant", text, "id",
            f"direct-{number}", "edit", json.dumps(sepia(0.5)))
        stage.redis(
            "XADD", "minilab:{photos}:in", "*", "asset", "gone/a.jpg", "id", text, "edit", json.dumps(sepia(0.5)))
    last = stage.enqueue("gone/last.jpg", job="last")
    stage.wait_for(last, "dead")
    visit = Visit(browser, stage).sign_in(stage.operator)
    for path in ("/dead", "/dead?list=1", "/dead/replay", "/limits", "/"):
        visit.open(path)
    visit.open("/dead?list=1")
    for link in [one.get_attribute("href") for one in visit.page.locator("tbody th a").all()]:
        visit.page.goto(link)
        expect(visit.page.locator("h1 .kind")).to_have_text("Job")
    visit.judge()


FLOWS = [hostile_assets, hostile_words, hostile_jobs]
