"""The drills: a file of ops/lib/drill/symptoms each, found by its name, and the rows of the runbook that have none."""

import glob
import importlib.util
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "symptoms")
# What one sees → why nothing here can cause it.
REASONS = {
    "\"Redis came back poorer\" or \"The library came back poorer\" in a log, from `minilab doctor` or as an alert":
        "Workers compare once a minute; QueueGenerationTests plays each kind of loss at once.",
    "`kubectl get pods` says `OOMKilled` or `Evicted`": "A kubelet evicts pods, and there is none here; ops/checks/kube-test kills pods of podman.",
}


class Unable(Exception):
    """This machine cannot play a drill; says why."""


def load():
    """Name → module, in the order of their names. SEE is a row's first cell; SHORT and ALSO need not be there."""
    found = {}
    for path in sorted(glob.glob(f"{FOLDER}/*.py")):
        name = os.path.basename(path).removesuffix(".py")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.NAME = name
        module.SHORT = getattr(module, "SHORT", False)
        # Chapters that a drill comes to by way of the row's.
        module.ALSO = getattr(module, "ALSO", ())
        found[name] = module
    return found
