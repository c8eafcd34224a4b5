"""Every query of the dashboard, of the rules and of the runbook, asked of a Prometheus that scrapes a real worker and a real gateway.

MINILAB_BIN is the folder of `minilab`, `minilab-gateway` and `minilab-render`; without it ops/release builds them.
"""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import tidy_end
from drill_site import Site
from panels import ROWS
from processes import Child, eventually
from servers import free_port

OPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
START_SECONDS_MAX = 60
DATA_SECONDS_MAX = 90
ANSWER_SECONDS_MAX = 20
END_SECONDS_MAX = 20
EVERY = "1s"
# What Grafana and the operator would choose.
CHOICES = {"$__rate_interval": "1m", "$queue": ".*"}


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="minilab-observe-", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = Site(released(), f"{cls.folder.name}/site", words="")
        cls.addClassCleanup(cls.site.end)
        cls.site.worker()
        gateway = free_port()
        cls.site.gateway(flags=["--status-port", str(gateway)])
        cls.pages = {"worker": f"http://127.0.0.1:{cls.site.status_ports['minilab']}/metrics",
                     "gateway": f"http://127.0.0.1:{gateway}/metrics"}
        cls.address = f"127.0.0.1:{free_port()}"
        cls.prometheus = Child(
            [f"{OPS}/observe", "--worker", f"127.0.0.1:{cls.site.status_ports['minilab']}",
             "--gateway", f"127.0.0.1:{gateway}", "--listen", cls.address, "--every", EVERY],
            f"{cls.folder.name}/prometheus.log")
        cls.addClassCleanup(lambda: cls.prometheus.end(END_SECONDS_MAX))
        eventually("Prometheus answers", cls.is_ready, START_SECONDS_MAX)
        eventually("both are scraped", lambda: len(cls.ask("up == 1")) == 2, DATA_SECONDS_MAX, every=0.2)
        cls.rounds = 0

    @classmethod
    def work(cls):
        """A photo is rendered, and somebody asks the gateway: rates are of what happens while Prometheus looks."""
        cls.rounds += 1
        cls.site.send_photos(1, name=f"round-{cls.rounds}")
        for path in ("/healthz", "/v1/queue", "/openapi.json"):
            cls.site.get(cls.site.address + path)
        cls.site.wait_for_counter("completed", cls.rounds)

    @classmethod
    def is_ready(cls):
        if not cls.prometheus.is_running:
            with open(cls.prometheus.log) as log:
                raise ChildProcessError(f"ops/observe ended: {log.read()}")
        try:
            return urllib.request.urlopen(f"http://{cls.address}/-/ready", timeout=ANSWER_SECONDS_MAX).status == 200
        except OSError:
            return False  # it starts

    @classmethod
    def ask(cls, query):
        """The series that a query gives now; ValueError when Prometheus refuses it."""
        for name, choice in CHOICES.items():
            query = query.replace(name, choice)
        return cls.api("query?" + urllib.parse.urlencode({"query": query}))["result"]

    @classmethod
    def api(cls, path):
        try:
            with urllib.request.urlopen(f"http://{cls.address}/api/v1/{path}", timeout=ANSWER_SECONDS_MAX) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from None

    def has_data(self, query):
        """Whether a query gives a number; nothing divided by nothing is none."""
        return any(sample["value"][1] != "NaN" for sample in self.ask(query))

    def test_every_query_of_the_dashboard_has_data(self):
        panels = [panel for row in ROWS for panel in row.panels]
        for panel in panels:
            if panel.empty:
                for query, _ in panel.queries:
                    self.ask(query)
        missing = [(panel.title, query) for panel in panels if not panel.empty for query, _ in panel.queries]
        deadline = time.monotonic() + DATA_SECONDS_MAX
        while missing and time.monotonic() < deadline:
            self.work()
            missing = [(title, query) for title, query in missing if not self.has_data(query)]
        self.assertEqual(missing, [])

    def test_every_rule_can_be_worked_out(self):
        def rules():
            return [rule for group in self.api("rules")["groups"] for rule in group["rules"]]
        eventually("every rule has been worked out", lambda: all(rule["health"] != "unknown" for rule in rules()), DATA_SECONDS_MAX)
        self.assertGreater(len(rules()), 25)
        self.assertEqual([rule["name"] for rule in rules() if rule["health"] != "ok"], [])

    def test_nothing_is_fired_where_nothing_is_wrong(self):
        self.assertEqual([alert["labels"]["alertname"] for alert in self.api("alerts")["alerts"] if alert["state"] == "firing"], [])

    def test_every_query_of_the_runbook_is_understood(self):
        with open(f"{OPS}/RUNBOOK.md") as file:
            text = file.read()
        queries = []
        for table in text.split("| ask | for |\n|---|---|\n")[1:]:
            for line in table.partition("\n\n")[0].splitlines():
                cell = re.split(r"(?<!\\)\|", line)[1].replace("\\|", "|")
                # `…_parked` is short for a name that was said before.
                queries += [query for query in re.findall(r"`([^`]+)`", cell) if "…" not in query]
        self.assertGreater(len(queries), 20)
        for query in queries:
            with self.subTest(query=query):
                self.ask(query)

    def test_promtool_finds_no_fault_in_what_is_scraped(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                status, text = self.site.get(page)
                self.assertEqual(status, 200)
                judged = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
                self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)


def released():
    """The folder of the programs that ship."""
    return os.environ.get("MINILAB_BIN") or subprocess.run(
        [f"{OPS}/release", "minilab", "minilab-gateway", "minilab-render"], check=True, stdout=subprocess.PIPE,
        text=True).stdout.strip()


if __name__ == "__main__":
    tidy_end.on_signals()
    unittest.main()
