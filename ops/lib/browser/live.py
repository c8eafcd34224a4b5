"""Pages that live: what happens is shown without loading them again, also after a gateway was away."""

from playwright.sync_api import expect

from visit import CUT_OFF, Visit


def now_is_live(stage, browser):
    """A job that a client sends appears on Now, and then among what is done."""
    stage.pause()
    stage.start_worker()
    visit = Visit(browser, stage).sign_in(stage.operator)
    expect(visit.page.locator("#liveness")).to_have_text("Live")
    figures = visit.page.locator("#funnel li")
    key = stage.tenant_key("acme")
    stage.enqueue(stage.photo("acme/tulips.jpg"), job="order-1", key=key)
    expect(figures.filter(has_text="ready").locator("strong")).to_have_text("1", timeout=20_000)
    expect(visit.page.locator("#flows")).to_contain_text("acme")
    expect(visit.page.locator("#health")).to_contain_text("paused")
    visit.look()
    stage.resume()
    expect(figures.filter(has_text="done").locator("strong")).to_have_text("1", timeout=20_000)
    expect(visit.page.locator("#flows")).to_contain_text("No tenant has ready jobs.")
    visit.judge()


def gateway_restarts(stage, browser):
    """While its gateway is away a page says that it is stale; when it is back, the page lives again by itself."""
    visit = Visit(browser, stage).sign_in(stage.operator)
    visit.allow(CUT_OFF)
    liveness = visit.page.locator("#liveness")
    expect(liveness).to_have_text("Live")
    stage.end_gateway()
    expect(liveness).to_contain_text("Stale since", timeout=20_000)
    visit.look()
    stage.start_gateway()
    expect(liveness).to_have_text("Live", timeout=30_000)
    stage.enqueue(stage.photo("photos/tulips.jpg"))
    expect(visit.page.locator("#funnel li").filter(has_text="incoming").locator("strong")).to_have_text("1", timeout=20_000)
    visit.judge()


FLOWS = [now_is_live, gateway_restarts]
