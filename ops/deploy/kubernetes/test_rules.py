"""The manifests keep to the rules, and each rule notices what breaks it.

usage: test_rules.py FOLDER    # with NAME.yaml, as `kubectl kustomize` made it, for each overlay
"""

import copy
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import cloudcoil.models.keda.v1alpha1 as keda
import yaml

import rules

RENDERED = {
    path.stem: [d for d in yaml.safe_load_all(path.read_text()) if d] for path in sorted(pathlib.Path(sys.argv.pop(1)).glob("*.yaml"))
}


def find(documents, kind, name):
    return next(d for d in documents if d["kind"] == kind and d["metadata"]["name"] == name)


def worker(documents):
    return find(documents, "Deployment", "minilab-worker")["spec"]["template"]["spec"]


def container(documents):
    return worker(documents)["containers"][0]


def config(documents):
    return next(d for d in documents if d["kind"] == "ConfigMap")["data"]


# One change each, and a word of the sentence that it must bring.
HARM = {
    "hostNetwork": lambda d: worker(d).update(hostNetwork=True),
    "path of the node": lambda d: worker(d)["volumes"].append({"name": "x", "hostPath": {"path": "/"}}),
    "port of the node": lambda d: container(d)["ports"].append({"containerPort": 1, "hostPort": 1}),
    "user 10001": lambda d: worker(d)["securityContext"].update(runAsUser=0),
    "seccomp": lambda d: worker(d)["securityContext"].update(seccompProfile={"type": "Unconfined"}),
    "gain privileges": lambda d: container(d)["securityContext"].update(privileged=True),
    "write its image": lambda d: container(d)["securityContext"].pop("readOnlyRootFilesystem"),
    "keeps capabilities": lambda d: container(d)["securityContext"].update(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
    "cannot be confined": lambda d: config(d).pop("MINILAB_REQUIRE_CONFINEMENT"),
    "gives rights": lambda d: d.append({"kind": "RoleBinding", "metadata": {"name": "x"}}),
    "logos and masks": lambda d: config(d).pop("MINILAB_RESOURCES"),
    "hands its token": lambda d: find(d, "ServiceAccount", "minilab-worker").pop("automountServiceAccountToken"),
    "real one": lambda d: d.append({"kind": "Secret", "metadata": {"name": "minilab-worker"}}),
    "token of the cluster": lambda d: worker(d).pop("automountServiceAccountToken"),
    "names of settings": lambda d: worker(d).pop("enableServiceLinks"),
    "secret in its environment": lambda d: container(d)["env"].append({"name": "AWS_SECRET_ACCESS_KEY", "value": "x"}),
    "another image tomorrow": lambda d: container(d).update(image="minilab:latest"),
    "no limit of memory": lambda d: container(d)["resources"]["limits"].pop("memory"),
    "than it asked for": lambda d: container(d)["resources"]["requests"].update(memory="1Gi"),
    "without a bound": lambda d: worker(d)["volumes"][0]["emptyDir"].clear() or worker(d)["volumes"].append({"name": "y", "emptyDir": {}}),
    "folders are full": lambda d: worker(d)["volumes"].append({"name": "y", "emptyDir": {"sizeLimit": "1Ti"}}),
    "beside its downloads": lambda d: config(d).update(MINILAB_SCRATCH_SIZE="15G"),
    "as the node has cores": lambda d: container(d)["env"].clear(),
    "could have been finished": lambda d: config(d).update(MINILAB_RENDER_TIMEOUT="10m"),
    "is killed after": lambda d: worker(d).update(terminationGracePeriodSeconds=300),
    "should ask /healthz": lambda d: container(d)["livenessProbe"]["httpGet"].update(path="/readyz"),
    "should ask /readyz": lambda d: container(d).pop("readinessProbe"),
    "about its egress": lambda d: [p["spec"]["policyTypes"].remove("Egress") for p in d if p["kind"] == "NetworkPolicy" and "Egress" in p["spec"]["policyTypes"]],
    "reaches more": lambda d: find(d, "NetworkPolicy", "minilab-store")["spec"]["egress"][0]["to"][0]["ipBlock"].update(cidr="0.0.0.0/0"),
    "0 disruption budgets": lambda d: d.remove(find(d, "PodDisruptionBudget", "minilab-worker")),
    "from being emptied": lambda d: find(d, "PodDisruptionBudget", "minilab-worker")["spec"].pop("unhealthyPodEvictionPolicy"),
    "one node alone": lambda d: worker(d).pop("topologySpreadConstraints"),
    "says how many": lambda d: find(d, "Deployment", "minilab-worker")["spec"].pop("replicas"),
}


class RulesTests(unittest.TestCase):
    def test_overlays_keep_to_the_rules(self):
        self.assertGreaterEqual(len(RENDERED), 5)
        for name, documents in RENDERED.items():
            self.assertEqual(rules.broken(documents), [], name)

    def test_each_rule_notices_what_breaks_it(self):
        for word, harm in HARM.items():
            with self.subTest(word):
                documents = copy.deepcopy(RENDERED["bucket"])
                harm(documents)
                self.assertTrue(any(word in sentence for sentence in rules.broken(documents)), rules.broken(documents))

    def test_a_worker_that_may_write_the_originals_is_noticed(self):
        documents = copy.deepcopy(RENDERED["folder"])
        for mount in container(documents)["volumeMounts"]:
            mount.pop("readOnly", None)
        self.assertEqual(rules.broken(documents), ["Deployment minilab-worker may write the originals"])

    def test_images_of_one_overlay_are_one(self):
        for name, documents in RENDERED.items():
            self.assertEqual(len({c["image"] for _, t in rules.pods(documents) for c in rules.containers(t)}), 1, name)


class ScalingTests(unittest.TestCase):
    def test_objects_of_keda_are_as_its_models_say(self):
        seen = set()
        for documents in RENDERED.values():
            for document in documents:
                if document["apiVersion"].startswith("keda.sh/"):
                    getattr(keda, document["kind"]).model_validate(document)
                    seen.add((document["kind"], *(t["type"] for t in document["spec"].get("triggers", []))))
        self.assertEqual(seen, {("TriggerAuthentication",), ("ScaledObject", "metrics-api"), ("ScaledObject", "prometheus")})

    def test_gateway_and_autoscaler_agree_on_the_ends(self):
        scaled = find(RENDERED["keda"], "ScaledObject", "minilab-worker")["spec"]
        url = scaled["triggers"][0]["metadata"]["url"]
        slots = container(RENDERED["keda"])["resources"]["limits"]["cpu"]
        self.assertIn(f"min={scaled['minReplicaCount']}&max={scaled['maxReplicaCount']}&slots={slots}", url)
        service = find(RENDERED["keda"], "Service", "minilab-gateway")
        self.assertIn(f"//{service['metadata']['name']}.minilab:{service['spec']['ports'][0]['port']}/", url)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_prometheus_asks_for_as_many_as_the_formula(self):
        query = find(RENDERED["keda-prometheus"], "ScaledObject", "minilab-worker")["spec"]["triggers"][0]["metadata"]["query"]
        # Seconds of work, slots of a worker, jobs by state, paused, and the workers asked for before rounding up. `due` and `lapsed`:
        # delayed jobs whose time has come, and jobs of workers that died.
        stories = [
            (0, 2, {}, 0, 0),
            (1, 2, {"delayed": 3, "due": 1}, 0, 1 / 1200),
            (1, 2, {"active": 1, "lapsed": 1}, 0, 1 / 1200),
            (1, 2, {"active": 1, "lapsed": 1}, 1, 0.1),
            (1, 2, {"delayed": 3, "due": 1}, 1, 0),
            (1200, 2, {"ready": 500}, 0, 1),
            (6000, 2, {"ready": 100, "active": 4, "lanes": 900}, 0, 5),
            (6000, 2, {"ready": 2, "active": 1, "dead": 70, "parked": 9, "delayed": 9}, 0, 1.5),
            (6000, 1, {"incoming": 1000}, 0, 10),
            (6000, 2, {"ready": 100}, 1, 0),
        ]
        tests = []
        for work, slots, jobs, paused, wanted in stories:
            values = {'minilab_queue_work_seconds{queue="photos"': work, 'minilab_queue_worker_slots{queue="photos"': slots}
            values['minilab_queue_paused{queue="photos"'] = paused
            for state in ("incoming", "lanes", "ready", "delayed", "parked", "active", "stuck", "dead"):
                values[f'minilab_queue_jobs{{queue="photos", state="{state}"'] = jobs.get(state, 0)
            for kind, name in (("delayed", "due"), ("lease", "lapsed")):
                values[f'minilab_queue_overdue_jobs{{queue="photos", kind="{kind}"'] = jobs.get(name, 0)
            # Two workers tell the same.
            series = [
                {"series": f'{key}, instance="{instance}"}}', "values": f"{value}x4"}
                for key, value in values.items()
                for instance in ("a", "b")
            ]
            expected = {"expr": query, "eval_time": "1m", "exp_samples": [{"labels": "{}", "value": wanted}]}
            tests.append({"interval": "1m", "input_series": series, "promql_expr_test": [expected]})
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "scale.test.yml")
            file.write_text(yaml.safe_dump({"tests": tests}))
            found = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


if __name__ == "__main__":
    unittest.main()
