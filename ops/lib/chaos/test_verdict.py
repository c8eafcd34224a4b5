"""Each thing that the verdict looks for is found when it is there."""

import collections
import types
import unittest

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
            assets={"a": "photo.jpg", "b": "missing/photo.jpg"}, minilab="true",
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


unittest.main()
