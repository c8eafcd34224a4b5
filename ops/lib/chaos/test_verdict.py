"""Each thing that the verdict looks for is found when it is there."""

import collections
import json
import os
import tempfile
import types
import unittest

from processes import Child, eventually
from scenarios import SCENARIOS, families
from scenarios.storm import StormRig
from table import FAILED, Row, markdown, merged, record, text_of
from verdict import complaints, judged


def event(kind, job="a", generation=1, version="1-5"):
    data = {"job": job, "generation": generation}
    if kind == "completed":
        data["version"] = {"id": version}
    return {"type": f"org.minilab.job.{kind}", "data": data}


class VerdictTests(unittest.TestCase):
    def setUp(self):
        self.events = [event("completed"), event("previewed"), event("failed", "b"), event("completed", "b", 2, "2-9")]
        self.effects = {("a", 1): "1-5", ("b", 2): "2-9"}
        self.counters = {"completed": 2, "failed": 1}
        self.notes = collections.Counter()
        self.dead = 0
        self.left = []
        self.may_be_unchanged = set()

    def kinds(self, server_may_lose=False):
        rig = types.SimpleNamespace(
            events=lambda: self.events, effects=lambda: self.effects, notes=lambda: self.notes, resent=0,
            assets={"a": "photo.jpg", "b": "missing/photo.jpg"}, command=lambda *_: "",
            generation_of=lambda job: {"a": 1, "b": 2}[job], complaints=lambda: self.left,
            may_be_unchanged=self.may_be_unchanged)
        status = {"counters": self.counters, "dead": self.dead, "stuck": 0}
        sentences, _ = complaints(rig, status, server_may_lose)
        return " | ".join(sentences)

    def test_a_clean_run_has_no_complaint(self):
        self.assertEqual(self.kinds(), "")

    def test_an_event_that_is_sent_twice(self):
        self.events.append(event("completed"))
        self.counters["completed"] += 1
        self.assertIn("1 generations that ended more than once", self.kinds())

    def test_a_lost_job(self):
        del self.events[0]
        self.assertIn("jobs that did not end well: a: nothing", self.kinds())

    def test_a_job_that_was_never_replayed(self):
        del self.events[3]
        self.assertIn("jobs that did not end well: b: failed", self.kinds())
        self.assertIn("1 jobs of another generation", self.kinds())

    def test_a_job_that_nobody_sent(self):
        self.events.append(event("completed", "c"))
        self.assertIn("jobs that nobody sent: c", self.kinds())

    def test_an_event_without_its_effect(self):
        del self.effects["a", 1]
        self.assertIn("1 effects and events that differ", self.kinds())

    def test_an_effect_without_its_event(self):
        self.effects["a", 2] = "2-7"
        self.assertIn("1 effects and events that differ", self.kinds())

    def test_an_event_that_tells_of_another_version(self):
        self.effects["a", 1] = "1-6"
        self.assertIn("1 events that tell of another version", self.kinds())

    def test_a_second_publication_that_was_let_through(self):
        self.notes["conflict"] = 1
        self.assertIn("second publications", self.kinds())

    def test_a_counter_that_drifted(self):
        self.counters["completed"] = 3
        self.assertIn("counters that differ from the events: completed: 3, 2", self.kinds())

    def test_what_is_wrong_with_a_library(self):
        self.left = ["a folder is left in staging"]
        self.assertIn("1 complaints about the library: a folder is left", self.kinds())

    def test_a_dead_job(self):
        self.dead = 1
        self.assertIn("dead jobs", self.kinds())

    def test_an_effect_that_nobody_had_told_of_is_allowed_to_a_server_that_may_lose(self):
        self.events[0] = event("unchanged")
        self.counters = {"completed": 1, "unchanged": 1, "failed": 1}
        self.assertIn("effects that nobody had told of", self.kinds())
        self.assertEqual(self.kinds(server_may_lose=True), "")

    def test_files_that_a_killed_attempt_had_made_again_are_allowed_to_jobs_that_remake(self):
        self.events[0] = event("unchanged")
        self.counters = {"completed": 1, "unchanged": 1, "failed": 1}
        del self.effects["a", 1]
        self.may_be_unchanged = {"a"}
        self.assertEqual(self.kinds(), "")

    def test_a_run_that_fails_is_a_complaint_and_keeps_its_logs(self):
        def run(rig):
            raise TimeoutError("a worker does not start")
        kept = []
        found, numbers = judged(types.SimpleNamespace(close=lambda keep: kept.append(keep)), run)
        self.assertEqual((found, numbers, kept), (["TimeoutError: a worker does not start"], None, [True]))


class HistoryTests(unittest.TestCase):
    def setUp(self):
        append = '{"mode":"append","filters":[{"name":"CIVignette"}]}'
        self.edits = {"job-1": '{"filters":[{"name":"CISepiaTone"}]}', "job-2": append, "job-3": append, "job-4": '{"mode":"undo"}'}
        self.told = [("job-1", 1, 1), ("job-2", 2, 2), ("job-3", 3, 3), ("job-4", 4, 2)]  # job, sequence, filters

    def wrong(self, again=(), twice=()):
        events = [{"sequence": str(sequence), "data": {"job": job, "filters": ["filter"] * filters}}
                  for job, sequence, filters in self.told]
        rig = types.SimpleNamespace(
            assets=dict.fromkeys(self.edits, "photo.jpg"), edit_of=self.edits.get, events_of=lambda _: events,
            authors=lambda: [(job, 1) for job in [*self.edits, *twice]], delivered_again=set(again))
        return " | ".join(StormRig.wrong_histories(rig))

    def test_a_clean_history_has_no_complaint(self):
        self.assertEqual(self.wrong(), "")

    def test_an_edit_that_is_published_twice(self):
        self.assertIn("job-2, generation 1, has 2 versions", self.wrong(twice=["job-2"]))

    def test_a_version_that_no_event_tells_of(self):
        del self.told[1]
        self.assertIn("its events tell of the versions [1, 3, 4]", self.wrong())

    def test_an_edit_that_is_done_twice_in_one_version(self):
        self.told[2] = ("job-3", 3, 4)
        self.assertIn("came by [1, 2, 4, 2] filters, expected [1, 2, 3, 2]", self.wrong())

    def test_an_edit_that_overtakes_another_one(self):
        self.told[1:3] = [("job-3", 2, 2), ("job-2", 3, 3)]
        self.assertIn("its edits came as", self.wrong())
        self.assertEqual(self.wrong(again=["job-2"]), "", "a lost one that is sent again comes later")


class TableTests(unittest.TestCase):
    FAMILIES = [("Connections that break", ["client-kill", "proxy-cut"]), ("All at once", ["storm"])]
    ORDER = ["client-kill", "proxy-cut", "storm"]

    def row(self, name, result="ok", jobs=1200):
        numbers = {"jobs": jobs, "lost": 0, "fenced": 2, "repeated": 0, "resent": 0, "unchanged": 0}
        run = {"seed": "1", "commit": "abc", "load": 3, "machine": "Redis 7"}
        return Row(types.SimpleNamespace(name=name, what="a fault"), result, ["2 | 3 taken back"], numbers, 4.2, run)

    def test_a_record_says_what_was_seen_and_under_which_conditions(self):
        self.assertEqual(record(self.row("client-kill")), {
            "scenario": "client-kill", "what": "a fault", "result": "ok", "seconds": 4, "jobs": 1200, "lost": 0, "fenced": 2,
            "repeated": 0, "resent": 0, "unchanged": 0, "seen": ["2 | 3 taken back"], "seed": "1", "commit": "abc", "load": 3,
            "machine": "Redis 7"})

    def test_records_of_scenarios_that_did_not_run_stay_in_their_place(self):
        kept = merged([self.row("client-kill"), self.row("storm")], [], self.ORDER)
        records = merged([self.row("proxy-cut"), self.row("storm", FAILED)], json.loads(text_of(kept)), self.ORDER)
        self.assertEqual([(one["scenario"], one["result"]) for one in records],
                         [("client-kill", "ok"), ("proxy-cut", "ok"), ("storm", FAILED)])

    def test_the_page_adds_up_families_and_names_what_did_not_go_well(self):
        page = markdown(merged([self.row("client-kill"), self.row("proxy-cut", FAILED), self.row("storm", "skipped: no root")], [],
                               self.ORDER), self.FAMILIES)
        self.assertIn("| Connections that break | 2 | 2,400 |  | 4 |  |  |  | `proxy-cut` **failed** |", page)
        self.assertIn("| All at once | 1 | 1,200 |  | 2 |  |  |  | `storm` skipped: no root |", page)

    def test_the_committed_page_is_what_its_records_say(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(folder, "runs.json")) as runs, open(os.path.join(folder, "CHAOS.md")) as page:
            text = runs.read()
            self.assertEqual(page.read(), markdown(json.loads(text), families()))
        self.assertEqual(text, text_of(merged([], json.loads(text), [scenario.name for scenario in SCENARIOS])))


class ChildTests(unittest.TestCase):
    def test_who_waits_for_words_of_a_program_that_has_ended_is_told_its_last_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            child = Child(["sh", "-c", "echo begins; echo there is no library; exit 3"], os.path.join(folder, "log"))
            child.process.wait()
            self.assertTrue(child.has_said("begins"))
            with self.assertRaisesRegex(ChildProcessError, "ended with 3: there is no library"):
                eventually("it starts", lambda: child.has_said("starts"))


unittest.main()
