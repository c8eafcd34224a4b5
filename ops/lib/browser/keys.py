"""Signing in and out, keys made and revoked, and what a tenant's key sees."""

from playwright.sync_api import expect

from visit import FORBIDDEN, MISSING, UNAUTHORIZED, Visit


def signing_in(stage, browser):
    """A wrong key is refused, the right one opens Now, and after signing out nothing is seen."""
    visit = Visit(browser, stage)
    visit.allow(UNAUTHORIZED)
    visit.open("/")
    visit.at("/signin")
    for wrong in ("mlk_wrong", stage.operator[:-1] + ("a" if stage.operator[-1] != "a" else "b")):
        visit.page.get_by_label("Your key").fill(wrong)
        visit.press("Sign in")
        expect(visit.page.get_by_role("alert")).to_be_visible()
        visit.look()
    visit.page.get_by_label("Your key").fill(stage.operator)
    visit.press("Sign in")
    visit.at("/")
    visit.sees("Ana", "header")
    visit.press("Sign out")
    visit.at("/signin")
    visit.notices("You are signed out.")
    visit.page.goto("/dead")
    visit.at("/signin")
    visit.sign_in(stage.operator, arrives="/")
    visit.judge()


def every_page(stage, browser):
    """Each page of the navigation opens, and axe finds nothing."""
    visit = Visit(browser, stage).sign_in(stage.operator)
    for link in ("Now", "Batches", "Dead", "Limits", "Doctor", "Keys", "Webhooks", "Audit"):
        visit.follow(link, visit.page.get_by_role("navigation", name="Pages"))
        expect(visit.page.locator("nav a[aria-current=page]")).to_have_text(link)
        visit.look()
    visit.judge()


def making_and_revoking(stage, browser):
    """A key's secret is shown once; revoked, it ends the session that was begun with it."""
    visit = Visit(browser, stage).sign_in(stage.operator).open("/keys")
    visit.page.get_by_label("What people call it").fill("Bo")
    for scope in ("read", "operate"):
        visit.page.locator(f"#scope-{scope}").check()
    visit.press("Make the key")
    secret = visit.page.locator(".once").inner_text()
    assert secret.startswith("mlk_"), secret
    visit.look()
    other = Visit(browser, stage).sign_in(secret)
    visit.open("/keys")
    assert secret not in visit.page.content(), "the secret is shown twice"
    row = visit.page.get_by_role("row").filter(has_text="Bo")
    row.get_by_role("button").click()
    visit.confirm("Revoke")
    visit.notices("The key is revoked")
    expect(visit.page.get_by_role("row").filter(has_text="Bo")).to_contain_text("revoked")
    other.allow(UNAUTHORIZED, "net::ERR_")
    # Its open page hears no more of the queue, says why, and asks no more.
    expect(other.page.locator("#liveness")).to_contain_text("Signed out", timeout=20_000)
    asked = []
    other.page.on("request", lambda request: asked.append(request.url))
    other.page.wait_for_timeout(5000)  # twice the first wait before another try, and more
    assert not asked, asked
    other.page.goto("/dead")
    other.at("/signin")
    other.allow(UNAUTHORIZED)
    other.page.get_by_label("Your key").fill(secret)
    other.press("Sign in")
    expect(other.page.get_by_role("alert")).to_be_visible()
    other.judge()
    visit.judge()


def a_tenant_sees_its_own(stage, browser):
    """A tenant's key opens its own jobs and photos, and no page of operators."""
    stage.pause()
    stage.start_worker()
    keys = {tenant: stage.tenant_key(tenant, "enqueue,read,operate,admin") for tenant in ("acme", "bolt")}
    for tenant, key in keys.items():
        stage.enqueue(stage.photo(f"{tenant}/tulips.jpg"), job="order-1", key=key)
        stage.wait_for(f"{tenant}.order-1", "ready")
    visit = Visit(browser, stage).sign_in(keys["acme"], arrives="/batches")
    expect(visit.page.locator("nav a")).to_have_text(["Batches", "Dead", "Webhooks"])
    visit.open("/jobs/order-1")
    visit.sees("acme/tulips.jpg")
    visit.allow(FORBIDDEN, MISSING)
    for path in ("/jobs/bolt.order-1", "/assets/bolt/tulips.jpg", "/", "/limits", "/doctor", "/keys", "/audit"):
        visit.open(path)
        expect(visit.page.locator("h1 .kind")).to_have_text("404" if "bolt" in path else "403")
        visit.does_not_see("Ana")
    for name in ("bolt.order-1", "bolt/tulips.jpg"):
        visit.open(f"/find?q={name}")
        visit.sees("Nothing is called")
    visit.judge()


FLOWS = [signing_in, every_page, making_and_revoking, a_tenant_sees_its_own]
