"""An asset's page: the slider, versions compared, undo, a draft, verifying."""

from playwright.sync_api import expect

from stage import sepia
from visit import Visit

MONO = {"filters": [{"name": "CIPhotoEffectMono"}]}
ASSET = "photos/tulips.jpg"


def edited(stage, *edits):
    """Has the asset edited; gives the names of its versions, the oldest first."""
    stage.photo(ASSET)
    stage.start_worker()
    names = []
    for edit in edits:
        stage.edit(ASSET, edit)
        names.append(stage.marked(ASSET, "draft" if edit.get("draft") else "current"))
    return names


def pictures_of(visit):
    """The pictures that are compared, once both are there."""
    pictures = visit.page.locator(".compare img")
    expect(pictures).to_have_count(2)
    for picture in pictures.all():
        expect(picture).to_be_visible()
        visit.page.wait_for_function("picture => picture.complete && picture.naturalWidth > 0", arg=picture.element_handle())
    return pictures


def sliding(stage, browser):
    """The seam between before and after moves by the keyboard alone, and says how far it is."""
    edited(stage, MONO)
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/assets/{ASSET}")
    pictures_of(visit)
    slider = visit.page.get_by_role("slider")
    slider.focus()
    expect(slider).to_have_attribute("aria-valuetext", "50 % before, 50 % after")
    for key, before in (("ArrowLeft", 49), ("ArrowLeft", 48), ("Home", 0), ("End", 100), ("ArrowLeft", 99)):
        slider.press(key)
        expect(slider).to_have_attribute("aria-valuetext", f"{before} % before, {100 - before} % after")
        shown = visit.page.locator(".compare").evaluate("box => box.style.getPropertyValue('--at')")
        assert shown == f"{before}%", shown
    clip = visit.page.locator(".slides figure").nth(1).evaluate("figure => getComputedStyle(figure).clipPath")
    assert "99%" in clip, clip
    visit.look()
    visit.judge()


def comparing(stage, browser):
    """Any two versions are compared by choosing them, and what their edits differ in is said."""
    first, second = edited(stage, sepia(0.5), MONO)
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/assets/{ASSET}")
    visit.page.get_by_label("Before", exact=True).select_option(first)
    visit.page.wait_for_url(f"**before={first}**")
    visit.page.get_by_label("After", exact=True).select_option(second)
    visit.page.wait_for_url(f"**after={second}**")
    for picture, version in zip(pictures_of(visit).all(), (first, second)):
        assert version in picture.get_attribute("src")
    visit.sees("CISepiaTone", ".diff")
    visit.sees("CIPhotoEffectMono", ".diff")
    visit.look()
    visit.judge()


def undoing(stage, browser):
    """Undo makes what was before current again, and redo what was undone."""
    first, second = edited(stage, sepia(0.5), MONO)
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/assets/{ASSET}")
    visit.page.get_by_role("button", name="Undo to").click()
    visit.notices("A job that undoes the last edit is on its way.")
    stage.until("a third version", lambda: len(stage.versions(ASSET)) == 3)
    visit.open(f"/assets/{ASSET}")
    expect(visit.page.locator(".versions li")).to_have_count(3)
    expect(visit.page.locator(".versions li.current")).to_contain_text("CISepiaTone")
    pictures_of(visit)
    visit.page.get_by_role("button", name="Redo to").click()
    visit.notices("A job that redoes the edit is on its way.")
    stage.until("a fourth version", lambda: len(stage.versions(ASSET)) == 4)
    visit.open(f"/assets/{ASSET}")
    expect(visit.page.locator(".versions li.current")).to_contain_text("CIPhotoEffectMono")
    visit.judge()


def drafts(stage, browser):
    """A draft is discarded after a question; another one is published and becomes current."""
    current, _ = edited(stage, sepia(0.5), {**MONO, "draft": True})
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/assets/{ASSET}")
    visit.sees("A draft waits")
    visit.press("Discard the draft")
    visit.look()
    visit.confirm("Discard the draft")
    visit.notices("A job that discards the draft is on its way.")
    stage.until("no draft", lambda: stage.marked(ASSET, "draft") is None)
    visit.open(f"/assets/{ASSET}")
    visit.does_not_see("A draft waits")
    assert stage.marked(ASSET, "current") == current
    stage.edit(ASSET, {**MONO, "draft": True})
    visit.open(f"/assets/{ASSET}")
    visit.press("Publish the draft")
    visit.notices("A job that publishes the draft is on its way.")
    stage.until("another current version", lambda: stage.marked(ASSET, "current") != current)
    visit.open(f"/assets/{ASSET}")
    expect(visit.page.locator(".versions li.current")).to_contain_text("CIPhotoEffectMono")
    visit.judge()


def verifying(stage, browser):
    """Verifying says that all is as it was written."""
    edited(stage, MONO)
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/assets/{ASSET}")
    visit.press("Verify its files")
    visit.sees("verified", "[role=status]")
    visit.look()
    visit.judge()


FLOWS = [sliding, comparing, undoing, drafts, verifying]
