"""Each thing that the verdict looks for is found when it is there."""

import collections
import os
import tempfile
import types
import unittest

from processes import Child, eventually
from scenarios.storm import StormRig
from table import Row, kept_lines, markdown
from verdict import complaints


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

    def kinds(self, server_may_lose=False):
        rig = types.SimpleNamespace(
            events=lambda: self.events, effects=lambda: self.effects, notes=lambda: self.notes, resent=0,
            assets={"a": "photo.jpg", "b": "missing/photo.jpg"}, command=lambda *_: "",
            generation_of=lambda job: {"a": 1, "b": 2}[job], complaints=lambda: self.left)
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
    def row(self, name, result="ok", jobs=1200):
        numbers = {"jobs": jobs, "lost": 0, "fenced": 2, "repeated": 0, "resent": 0, "unchanged": 0}
        return Row(types.SimpleNamespace(name=name, what="a fault"), result, ["2 | 3 taken back"], numbers, 4.2, "1, abc, load 3")

    def test_a_row_says_what_was_seen_and_leaves_out_zeros(self):
        page = markdown([self.row("client-kill")], "Redis 7.", {}, ["client-kill"])
        self.assertIn("| `client-kill` | a fault | 1,200 |  | 2 |  |  |  | 4 | ok | 2 \\| 3 taken back | 1, abc, load 3 |", page)

    def test_rows_of_scenarios_that_did_not_run_stay_in_their_place(self):
        order = ["client-kill", "proxy-cut", "storm"]
        page = markdown([self.row("client-kill"), self.row("storm")], "Redis 7.", {}, order)
        page = markdown([self.row("proxy-cut"), self.row("storm", "**failed**")], "Redis 7.", kept_lines(page), order)
        lines = kept_lines(page)
        self.assertEqual(list(lines), order)
        self.assertIn("**failed**", lines["storm"])
        self.assertNotIn("**failed**", lines["client-kill"])

    def test_a_page_with_other_columns_keeps_nothing(self):
        self.assertEqual(kept_lines("| scenario | jobs |\n|---|---|\n| `storm` | 3 |\n"), {})


class ChildTests(unittest.TestCase):
    def test_who_waits_for_words_of_a_program_that_has_ended_is_told_its_last_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            child = Child(["sh", "-c", "echo begins; echo there is no library; exit 3"], os.path.join(folder, "log"))
            child.process.wait()
            self.assertTrue(child.has_said("begins"))
            with self.assertRaisesRegex(ChildProcessError, "ended with 3: there is no library"):
                eventually("it starts", lambda: child.has_said("starts"))


unittest.main()
