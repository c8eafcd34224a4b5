"""Signing in with an identity provider that is not ours: oidc-provider-mock, of PyPI."""

import json
import sys
import urllib.request

from playwright.sync_api import expect
from processes import Child, eventually
from servers import free_port

from visit import FORBIDDEN, Visit

START_SECONDS_MAX = 30
END_SECONDS_MAX = 10
NAME = "Example Photos"
PEOPLE = (
    {"sub": "ada", "email": "ada@example.com", "email_verified": True, "groups": ["everybody", "photo-ops"]},
    {"sub": "bo", "email": "bo@example.com", "email_verified": True, "groups": ["visitors"]},
)


class Provider:
    """A provider with a few people. Its host is another site than the gateway's: 127.0.0.1, not localhost."""

    def __init__(self, folder):
        self.port = free_port()
        people = [word for person in PEOPLE for word in ("--user-claims", json.dumps(person))]
        self.process = Child(
            [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--require-nonce", "true",
             "--port", str(self.port), *people],
            f"{folder}/provider.log")
        eventually("the provider is ready", self.is_ready, START_SECONDS_MAX)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def is_ready(self):
        if not self.process.is_running:
            raise ChildProcessError(f"the provider ended: {open(self.process.log).read()}")
        try:
            return urllib.request.urlopen(f"{self.url}/.well-known/openid-configuration").status == 200
        except OSError:
            return False  # it does not listen yet

    def end(self):
        if self.process.is_running:
            self.process.end(END_SECONDS_MAX)


def with_provider(stage, play):
    """Plays with a provider whose group photo-ops acts with the operator's key."""
    secret = f"{stage.folder}/oidc-secret"
    with open(secret, "w") as file:
        file.write("s3cret\n")
    provider = Provider(stage.folder)
    try:
        stage.end_gateway()
        stage.start_gateway(
            "--origin", stage.url, "--oidc-issuer", provider.url, "--oidc-client-id", "minilab",
            "--oidc-client-secret-file", secret, "--oidc-name", NAME,
            "--oidc-role", f"photo-ops={stage.operator.split('_')[1]}")
        play(provider)
    finally:
        provider.end()


def person_of(browser, stage, script=True):
    """A person with a browser, in which the provider's own pages may look for what is not there."""
    visit = Visit(browser, stage, script=script)
    visit.allow("https://cdn.jsdelivr.net/", "/favicon.ico")
    return visit


def sign_in(visit, person, arrives):
    """Asks for a page, and signs in at the provider by the button."""
    visit.page.goto(arrives)
    visit.at("/signin")
    visit.follow(f"Sign in with {NAME}")
    visit.press(person)
    visit.at(arrives)


def a_person_signs_in_at_a_provider(stage, browser):
    """The button leads to the provider and back to the page that was wanted; the audit names the person."""
    def play(_):
        visit = person_of(browser, stage)
        sign_in(visit, "ada", "/limits")
        visit.sees("ada@example.com", "header")
        visit.page.get_by_label("Why it is paused").fill("stocktaking")
        visit.press("Pause")
        visit.confirm("Pause")
        visit.notices("Paused")
        visit.open("/audit")
        expect(visit.page.get_by_role("row").filter(has_text="pause")).to_contain_text("ada@example.com (Ana)")
        visit.press("Sign out")
        visit.at("/signin")
        visit.judge()

    with_provider(stage, play)


def a_provider_without_script(stage, browser):
    """The same without script; who has no role, or says no at the provider, is told so."""
    def play(_):
        visit = person_of(browser, stage, script=False)
        sign_in(visit, "ada", "/limits")
        visit.sees("ada@example.com", "header")
        visit.judge()
        other = person_of(browser, stage)
        other.allow(FORBIDDEN)
        # This provider leaves the state out of its denial, so it is an answer that nobody asked for.
        for answer, says in (("bo", "visitors"), ("Deny", "Begin again")):
            other.page.goto("/signin")
            other.follow(f"Sign in with {NAME}")
            other.press(answer)
            other.sees(says)
            other.look()
        other.judge()

    with_provider(stage, play)


def a_provider_that_is_away(stage, browser):
    """Nobody can sign in there; who has signed in goes on, and keys open the pages."""
    def play(provider):
        ada = person_of(browser, stage)
        sign_in(ada, "ada", "/limits")
        provider.end()
        other = person_of(browser, stage)
        other.allow("status of 503 ")
        stage.end_gateway()
        stage.start_gateway(*stage.gateway_options)
        other.page.goto("/signin")
        other.follow(f"Sign in with {NAME}")
        other.sees("sign in with a key")
        other.look()
        other.sign_in(stage.operator)
        ada.open("/limits")
        ada.sees("ada@example.com", "header")
        other.judge()
        ada.judge()

    with_provider(stage, play)


FLOWS = [a_person_signs_in_at_a_provider, a_provider_without_script, a_provider_that_is_away]
