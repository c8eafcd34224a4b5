"""Jobs: found, cancelled, dead and replayed; limits."""

from playwright.sync_api import expect

from stage import sepia
from visit import CONFLICT, Visit


def finding(stage, browser):
    """The one box finds a job, a batch, an asset and a code by their names, and says when there is nothing."""
    stage.pause()
    stage.start_worker()
    asset = stage.photo("photos/tulips.jpg")
    job = stage.enqueue(asset, job="order-77")
    stage.wait_for(job, "ready")
    stage.ask("POST", "/v1/batches", {"id": "spring", "edit": sepia(0.5)})
    visit = Visit(browser, stage).sign_in(stage.operator)
    for text, group, page in (
            (job, "Jobs", f"/jobs/{job}"), ("spring", "Batches", "/batches/spring"),
            ("batch:spring", "Batches", "/batches/spring"), (asset, "Assets", f"/assets/{asset}"),
            ("missingAsset", "Dead by code", "/dead")):
        visit.page.keyboard.press("/")
        field = visit.page.locator("#q").or_(visit.page.locator("#find")).first
        expect(field).to_be_focused()
        field.fill(text)
        field.press("Enter")
        visit.at("/find")
        section = visit.page.locator("section").filter(has=visit.page.get_by_role("heading", name=group, exact=True))
        section.get_by_role("link").first.click()
        visit.at(page)
    visit.open("/find?q=nobody")
    visit.sees("Nothing is called")
    visit.judge()


def cancelling(stage, browser):
    """A job that waits is cancelled from its page, after a question."""
    stage.pause()
    stage.start_worker()
    job = stage.enqueue(stage.photo("photos/tulips.jpg"), job="order-78")
    stage.wait_for(job, "ready")
    visit = Visit(browser, stage).sign_in(stage.operator).open(f"/jobs/{job}")
    visit.press("Cancel the job")
    visit.look()
    visit.press("Do nothing", visit.page.get_by_role("dialog"))
    visit.press("Cancel the job")
    visit.confirm("Cancel the job")
    visit.notices("Cancelled.")
    expect(visit.page.locator("#state .state")).to_contain_text("cancelled")
    expect(visit.page.get_by_role("button", name="Cancel the job")).to_have_count(0)
    assert stage.ask("GET", f"/v1/jobs/{job}")["outcome"] == "cancelled"
    visit.judge()


def died(stage, names):
    """Has jobs die of originals that are not there; gives them."""
    stage.start_worker()
    jobs = [stage.enqueue(f"photos/{name}.jpg", job=name) for name in names]
    for job in jobs:
        stage.wait_for(job, "dead")
    return jobs


def replaying(stage, browser):
    """Dead jobs are seen by cause, previewed, replayed with progress, and end well once their originals are there."""
    dead = died(stage, ["one", "two", "three"])
    visit = Visit(browser, stage).sign_in(stage.operator).open("/dead")
    group = visit.page.locator("article.group")
    expect(group).to_have_count(1)
    expect(group).to_contain_text("3")
    visit.follow(group.get_by_role("link", name="Show").inner_text(), group)
    expect(visit.page.locator("tbody tr")).to_have_count(3)
    visit.look()
    for job in dead:
        stage.photo(f"photos/{job}.jpg")
    visit.follow("Replay …")
    visit.sees("Replay 3 dead jobs")
    visit.look()
    visit.press("Replay 3")
    visit.confirm("Replay 3")
    visit.at("/replays/")
    visit.notices("The replay runs.")
    visit.sees("3 of 3 jobs are started again")
    expect(visit.page.locator("#progress .state")).to_contain_text("finished")
    for job in dead:
        stage.wait_for(job, "done")
    visit.open("/dead")
    visit.sees("No job is dead.")
    visit.judge()


def count_changed(stage, browser):
    """An operator who starts a replay after others have changed what is meant is told so, and nothing is started."""
    dead = died(stage, ["one", "two"])
    stage.pause()
    ana, bo = (Visit(browser, stage).sign_in(stage.operator) for _ in range(2))
    ana.open("/dead/replay")
    ana.sees("Replay 2 dead jobs")
    bo.open(f"/jobs/{dead[0]}")
    bo.press("Replay")
    bo.notices("Started again.")
    ana.allow(CONFLICT)
    ana.press("Replay 2")
    ana.confirm("Replay 2")
    ana.sees("The filter means 1 job now, and 2 were expected")
    ana.look()
    assert stage.state(dead[1]) == "dead"
    for visit in (ana, bo):
        visit.judge()


def two_operators(stage, browser):
    """What one operator replays, the other's open pages show without being loaded again."""
    dead = died(stage, ["one", "two"])
    stage.pause()
    ana, bo = (Visit(browser, stage).sign_in(stage.operator) for _ in range(2))
    counted = bo.page.locator("#funnel li").filter(has_text="dead").locator("strong")
    expect(counted).to_have_text("2")
    watched = Visit(browser, stage).sign_in(stage.operator).open(f"/jobs/{dead[0]}")
    expect(watched.page.locator("#state")).to_contain_text("dead")
    ana.open("/dead")
    ana.page.locator("article.group").get_by_role("link", name="Replay").click()
    ana.press("Replay 2")
    ana.confirm("Replay 2")
    ana.at("/replays/")
    expect(counted).to_have_text("0", timeout=20_000)
    expect(watched.page.locator("#state .state")).not_to_contain_text("dead", timeout=20_000)
    for visit in (ana, bo, watched):
        visit.judge()


def limiting(stage, browser):
    """The queue is paused with a reason and resumed; a tenant gets a cap and a weight."""
    stage.start_worker()
    visit = Visit(browser, stage).sign_in(stage.operator).open("/limits")
    visit.page.get_by_label("Why it is paused").fill("the disk is changed")
    visit.press("Pause")
    visit.confirm("Pause")
    visit.notices("Paused")
    visit.sees("the disk is changed")
    visit.look()
    key = stage.tenant_key("acme")
    stage.enqueue(stage.photo("acme/tulips.jpg"), job="order-1", key=key)
    stage.wait_for("acme.order-1", "ready")
    # A look at the queue is a second old at most.
    visit.reload_until("acme")
    row = visit.page.locator("tr").filter(has_text="acme")
    row.get_by_label("Cap of acme").fill("0")
    row.get_by_label("Weight of acme").fill("3")
    visit.press("Set limits of acme")
    visit.notices("The limits hold")
    row = visit.page.locator("tr").filter(has_text="acme")
    expect(row.get_by_label("Cap of acme")).to_have_value("0")
    expect(row.get_by_label("Weight of acme")).to_have_value("3")
    visit.press("Resume")
    visit.notices("Workers begin jobs again.")
    # Its cap holds it alone.
    stage.edit(stage.photo("photos/tulips.jpg"), sepia(0.5))
    assert stage.state("acme.order-1") == "ready"
    row = visit.page.locator("tr").filter(has_text="acme")
    row.get_by_label("Cap of acme").fill("")
    visit.press("Set limits of acme")
    visit.notices("The limits hold")
    stage.wait_for("acme.order-1", "done")
    visit.open("/audit")
    for deed in ("pause", "limitTenant", "resume"):
        visit.sees(deed)
    visit.judge()


FLOWS = [finding, cancelling, replaying, count_changed, two_operators, limiting]
