"""Pods of manifests, as podman plays them."""

import copy
import json
import subprocess
import urllib.error
import urllib.request

import yaml

# What podman 4.3 has no part for, or nobody to act on.
LEFT_OUT_OF_PODS = ("serviceAccountName", "automountServiceAccountToken", "topologySpreadConstraints")
LEFT_OUT_OF_CONTAINERS = ("ports", "startupProbe", "livenessProbe", "readinessProbe", "lifecycle")


# On every pod, so that no other pod in the same storage is taken for one of ours.
LABEL = ("minilab.check", "kube-test")


def podman(*words, **options):
    """What the command prints; it must end well."""
    result = subprocess.run(["podman", *words], capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise RuntimeError(f"podman {' '.join(words)} ended with {result.returncode}: {result.stderr}")
    return result.stdout.strip()


class Manifests:
    """The objects of an overlay, and what they are told to make them run on one machine."""

    def __init__(self, path, settings, passwords):
        """settings: in place of those of the ConfigMap; passwords: by name of the Secret."""
        with open(path) as file:
            self.documents = [d for d in yaml.safe_load_all(file) if d]
        self.config = copy.deepcopy(next(d for d in self.documents if d["kind"] == "ConfigMap"))
        self.config["data"] |= settings
        self.passwords = passwords
        self.more = []  # objects that pods mount

    def with_resources_of(self, other, deployment, config_map):
        """The same, but a Deployment has the folder of resources that it has in another overlay: a ConfigMap, whose object is given."""
        found = copy.deepcopy(self)
        folder = found.config["data"]["MINILAB_RESOURCES"] = other.config["data"]["MINILAB_RESOURCES"]
        pod, its = found.template(deployment)["spec"], other.template(deployment)["spec"]
        (mount,) = (mount for mount in its["containers"][0]["volumeMounts"] if mount["mountPath"] == folder)
        pod["containers"][0]["volumeMounts"].append(mount)
        pod["volumes"].append(next(volume for volume in its["volumes"] if volume["name"] == mount["name"]))
        found.more = [config_map]
        return found

    def template(self, deployment):
        return next(
            d["spec"]["template"] for d in self.documents if d["kind"] == "Deployment" and d["metadata"]["name"] == deployment
        )

    def pod(self, deployment, name, image, environment):
        """The YAML of one pod of a Deployment, with what it mounts."""
        template = copy.deepcopy(self.template(deployment))
        spec = template["spec"]
        for key in LEFT_OUT_OF_PODS:
            spec.pop(key, None)
        # A Deployment would start another pod; here that is done by name.
        spec["restartPolicy"] = "Never"
        (container,) = spec["containers"]
        for key in LEFT_OUT_OF_CONTAINERS:
            container.pop(key, None)
        container["image"] = image
        for mount in container["volumeMounts"]:
            if folder := mount.pop("subPath", None):
                spec["volumes"].append(volume_of_folder(spec["volumes"], mount, folder))
        told = {e["name"]: e for e in container["env"]}
        container["env"] = list((told | {key: {"name": key, "value": value} for key, value in environment.items()}).values())
        secrets = []
        for volume in spec["volumes"]:
            if source := volume.get("secret"):
                source["optional"] = False  # podman 4.3 ends with a nil pointer without it
                # Podman 4.3 hands data over as they are written, so they are written as they should be read.
                secrets.append(secret(source["secretName"], {"redis-password": self.passwords[source["secretName"]]}))
        labels = template["metadata"]["labels"] | dict([LABEL])
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}
        return yaml.safe_dump_all([self.config, *self.more, *secrets, pod])


def volume_of_folder(volumes, mount, folder):
    """Makes a folder of a volume a volume of its own, to which the mount then refers.

    Podman 4.3 takes no notice of subPath. It mounts the whole volume there instead, and says nothing.
    """
    claim = next(v for v in volumes if v["name"] == mount["name"])["persistentVolumeClaim"]["claimName"]
    mount["name"] += f"-{folder}"
    return {"name": mount["name"], "hostPath": {"path": f"{mountpoint(claim)}/{folder}", "type": "Directory"}}


def mountpoint(volume):
    return podman("volume", "inspect", "--format", "{{.Mountpoint}}", volume)


def secret(name, data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}


class Pod:
    """A pod with one container."""

    def __init__(self, name, text, status_port, grace):
        self.name, self.status_port, self.grace = name, status_port, grace
        self.container = f"{name}-minilab"
        self.text = text

    def start(self):
        for name in yaml.safe_load_all(self.text):
            if name["kind"] == "Secret":
                subprocess.run(["podman", "secret", "rm", name["metadata"]["name"]], capture_output=True, check=False)
        podman("kube", "play", "--network", "host", "-", input=self.text)
        return self

    def inspect(self):
        return json.loads(podman("inspect", self.container))[0]

    def asks(self, path):
        """Whether a probe of this path would be content."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}{path}", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def log(self, lines=None):
        """What the container wrote; the worker writes to its standard error."""
        words = ["podman", "logs", *(["--tail", str(lines)] if lines else []), self.container]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout

    def kill(self):
        podman("kill", "--signal", "KILL", self.container)

    def stop(self):
        """As a kubelet: SIGTERM, and the pod's own grace. Gives the exit code."""
        podman("stop", "--time", str(self.grace), self.container)
        return self.inspect()["State"]["ExitCode"]
