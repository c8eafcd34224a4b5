"""The same without a script: what a person must be able to do needs none."""

from playwright.sync_api import expect

import assets
import jobs
from visit import WIDE, Visit


def without_script(stage, browser):
    """With scripts off one signs in, finds a job, cancels it and signs out."""
    stage.pause()
    stage.start_worker()
    job = stage.enqueue(stage.photo("photos/tulips.jpg"), job="order-79")
    stage.wait_for(job, "ready")
    visit = Visit(browser, stage, script=False).sign_in(stage.operator)
    visit.sees("Reload for newer figures.", "footer")
    visit.page.locator("#find").fill(job)
    visit.press("Find")
    visit.at("/find")
    visit.follow(job)
    visit.at(f"/jobs/{job}")
    visit.press("Cancel the job")
    visit.notices("Cancelled.")
    expect(visit.page.locator("#state .state")).to_contain_text("cancelled")
    visit.press("Sign out")
    visit.at("/signin")
    visit.judge()


def replaying_without_script(stage, browser):
    """With scripts off dead jobs are previewed and replayed."""
    dead = jobs.died(stage, ["one", "two"])
    for job in dead:
        stage.photo(f"photos/{job}.jpg")
    visit = Visit(browser, stage, script=False).sign_in(stage.operator).open("/dead")
    visit.page.locator("article.group").get_by_role("link", name="Replay").click()
    visit.press("Replay 2")
    visit.at("/replays/")
    visit.notices("The replay runs.")
    for job in dead:
        stage.wait_for(job, "done")
    visit.page.reload()
    visit.sees("2 of 2 jobs are started again")
    visit.judge()


def undoing_without_script(stage, browser):
    """With scripts off two versions are compared by a button, and the last edit is undone."""
    first, second = assets.edited(stage, assets.sepia(0.5), assets.MONO)
    visit = Visit(browser, stage, script=False, size=WIDE).sign_in(stage.operator).open(f"/assets/{assets.ASSET}")
    visit.page.get_by_label("Before", exact=True).select_option(first)
    visit.press("Compare")
    visit.page.wait_for_url(f"**before={first}**")
    for picture, version in zip(visit.page.locator(".compare img").all(), (first, second)):
        assert version in picture.get_attribute("src")
    visit.page.get_by_role("button", name="Undo to").click()
    visit.notices("A job that undoes the last edit is on its way.")
    stage.until("a third version", lambda: len(stage.versions(assets.ASSET)) == 3)
    visit.open(f"/assets/{assets.ASSET}")
    expect(visit.page.locator(".versions li.current")).to_contain_text("CISepiaTone")
    visit.judge()


FLOWS = [without_script, replaying_without_script, undoing_without_script]
