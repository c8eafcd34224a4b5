"""The dashboard's JSON has the form that Grafana takes; no Grafana is needed to say so. Every metric is of use to somebody."""

import glob
import json
import os
import re
import unittest

from panels import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
with open(f"{HERE}/minilab.json") as file:
    DASHBOARD = json.load(file)
COLUMNS = 24
# Where a person or a rule asks for metrics.
ASKING = ("panels.py", "../alerts.yml", "../recording.yml", "../../RUNBOOK.md")


class Form(unittest.TestCase):
    def test_ids_are_there_once(self):
        ids = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_panels_lie_in_the_grid_and_on_no_other(self):
        taken = {}
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            self.assertTrue(all(isinstance(place[side], int) for side in "xywh"), panel["title"])
            self.assertLessEqual(place["x"] + place["w"], COLUMNS, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, f"{panel['title']} lies on {taken.get((x, y))}")
                    taken[x, y] = panel["title"]

    def test_every_query_asks_the_source_that_is_chosen(self):
        self.assertEqual([one["name"] for one in DASHBOARD["templating"]["list"]], ["datasource", "queue"])
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                self.assertEqual(target["datasource"], {"type": "prometheus", "uid": "${datasource}"}, panel["title"])
                self.assertTrue(target["expr"].strip(), panel["title"])

    def test_every_panel_of_the_list_is_there_by_a_title_of_its_own(self):
        listed = [panel.title for row in ROWS for panel in row.panels]
        self.assertEqual(listed, [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] != "row"])
        self.assertEqual(len(listed), len(set(listed)))

    def test_a_query_without_data_has_a_reason_that_is_a_sentence(self):
        for row in ROWS:
            for panel in row.panels:
                self.assertTrue(panel.empty is None or len(panel.empty.split()) >= 3, panel.title)

    def test_every_metric_is_asked_for_by_a_panel_a_rule_an_alert_or_the_runbook(self):
        metrics = set()
        for path in glob.glob(f"{HERE}/../../../Sources/**/*.swift", recursive=True):
            metrics.update(re.findall(r'"(minilab_[a-z0-9_]+)"', read(path)))
        self.assertGreater(len(metrics), 70)
        text = "".join(read(f"{HERE}/{path}") for path in ASKING)
        asked = {re.sub("_(bucket|count|sum)$", "", name) for name in re.findall("minilab_[a-z0-9_]+", text)}
        # `…_parked` is short for a name that was said before.
        short = re.findall("`…(_[a-z_]+)`", text)
        unasked = [name for name in sorted(metrics - asked) if not any(name.endswith(end) for end in short)]
        self.assertEqual(unasked, [], "say in the runbook's tables what it is for, or remove it")


def read(path):
    with open(path) as file:
        return file.read()


if __name__ == "__main__":
    unittest.main()
