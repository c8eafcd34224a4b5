"""A person's browser: what its pages log, and what axe finds on them, ends the flow."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PATIENCE = 20_000  # ms; the machine may be busy
WIDE, NARROW = (1280, 900), (390, 844)
# Chromium says these of an answer that is no success, or that was not heard to its end.
UNAUTHORIZED, FORBIDDEN, MISSING, CONFLICT = (f"status of {status} " for status in (401, 403, 404, 409))
UNPROCESSABLE = "status of 422 "
CUT_OFF = "net::ERR_"
LISTENER = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`))
window.alert = window.confirm = window.prompt = () => console.error('script of a stranger ran')
"""
axe = Axe()


class Complaint(AssertionError):
    """What a page must not do."""


class Visit:
    """One person with a session of their own.

    script: whether their browser runs any; then axe looks as well, in light and dark.
    """

    def __init__(self, browser, stage, script=True, size=WIDE, dark=False):
        self.stage, self.has_script, self.dark = stage, script, dark
        self.context = browser.new_context(
            base_url=stage.url, java_script_enabled=script, reduced_motion="reduce", color_scheme=self.scheme,
            viewport={"width": size[0], "height": size[1]}, locale="en-US", timezone_id="UTC")
        self.context.set_default_timeout(PATIENCE)
        self.logged, self.allowed = [], []
        self.context.on("console", self.hear)
        self.context.on("weberror", lambda error: self.logged.append(f"error: {error.error}"))
        if script:
            self.context.add_init_script(LISTENER)
        self.page = self.context.new_page()

    @property
    def scheme(self):
        return "dark" if self.dark else "light"

    def hear(self, message):
        if message.type in ("error", "warning"):
            self.logged.append(f"{message.type}: {message.text} {message.location.get('url', '')}")

    def allow(self, *words):
        """Lets the console say what has these words in it: a page of a refusal was asked for."""
        self.allowed += words

    def judge(self):
        """Ends the visit.

        - Raises: Complaint, when a page logged an error or broke the policy.
        """
        self.context.close()
        bad = [line for line in self.logged if not any(word in line for word in self.allowed)]
        if bad:
            raise Complaint("the console said:\n" + "\n".join(bad))

    # MARK: What a person does

    def sign_in(self, key, arrives="/"):
        self.page.goto("/signin")
        self.page.get_by_label("Your key").fill(key)
        self.press("Sign in")
        self.at(arrives)
        return self

    def open(self, path):
        """Goes to a page and has axe look at it."""
        self.page.goto(path)
        self.look()
        return self

    def press(self, name, within=None):
        (within or self.page).get_by_role("button", name=name, exact=True).click()

    def confirm(self, name):
        """Says yes to the question that a form asks when there are scripts."""
        if self.has_script:
            self.press(name, self.page.get_by_role("dialog"))

    def follow(self, name, within=None):
        (within or self.page).get_by_role("link", name=name, exact=True).first.click()

    # MARK: What a person sees

    def at(self, path):
        """Is at a page, or at one below a path that ends with a slash; axe looks at it."""
        name = "[^/?#]+" if path.endswith("/") and path != "/" else ""
        expect(self.page).to_have_url(
            re.compile(re.escape(self.stage.url + path) + name + r"([?#].*)?$"), timeout=PATIENCE)
        self.look()

    def sees(self, text, within="main"):
        expect(self.page.locator(within).get_by_text(text).first).to_be_visible(timeout=PATIENCE)

    def does_not_see(self, text, within="main"):
        expect(self.page.locator(within).get_by_text(text)).to_have_count(0, timeout=PATIENCE)

    def reload_until(self, text):
        """Loads a page that is not live again until it says something."""
        self.stage.until(text, lambda: self.page.reload() and text in self.page.locator("main").inner_text())

    def notices(self, text):
        expect(self.page.locator(".notice")).to_contain_text(text, timeout=PATIENCE)

    def look(self):
        """Has axe look at the page, light and dark.

        - Raises: Complaint, naming each violation and the elements.
        """
        if not self.has_script:
            return
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            found = axe.run(self.page).response["violations"]
            if found:
                raise Complaint(f"{self.page.url} in {scheme}: " + "; ".join(
                    f"{rule['id']} ({rule['help']}): " + ", ".join(
                        f"{node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
                        for node in rule["nodes"][:3])
                    for rule in found))
        self.page.emulate_media(color_scheme=self.scheme)
