"""What manifests of Minilab must keep to, beyond Kubernetes' own schema: each rule yields a sentence for what breaks it."""

import re

# To hand back what is left, after the grace of the jobs, in seconds.
HAND_BACK_SECONDS = 30
# To publish what was rendered last, in seconds.
PUBLISH_SECONDS = 30
WORKLOADS = {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"}
RIGHTS = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def amount(text):
    """Bytes of `512Mi`, as Kubernetes writes them."""
    number, unit = re.fullmatch(r"(\d+)([KMGT]?i?)", str(text)).groups()
    return int(number) * UNITS[unit]


def setting_bytes(text):
    """Bytes of a setting's `8G`, whose units are powers of 1024."""
    return amount(text + "i" if text[-1:].isalpha() else text)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|m|h)", text).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


def name(document):
    return f"{document['kind']} {document['metadata']['name']}"


def pods(documents):
    """Each workload with the template of its pods."""
    return [(d, d["spec"]["template"]) for d in documents if d["kind"] in WORKLOADS and "template" in d.get("spec", {})]


def containers(template):
    return template["spec"].get("initContainers", []) + template["spec"]["containers"]


def selects(selector, labels):
    assert not selector.get("matchExpressions"), "these manifests select by labels alone"
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def settings(documents, template):
    """What a pod's first container is told by environment, as far as it is text."""
    maps = {d["metadata"]["name"]: d["data"] for d in documents if d["kind"] == "ConfigMap"}
    container, told = containers(template)[0], {}
    for source in container.get("envFrom", []):
        told |= maps[source["configMapRef"]["name"]]
    return told | {e["name"]: e["value"] for e in container.get("env", []) if "value" in e}


def machine_is_out_of_reach(documents):
    for workload, template in pods(documents):
        spec = template["spec"]
        for key in ("hostNetwork", "hostPID", "hostIPC"):
            if spec.get(key):
                yield f"{name(workload)} has {key}"
        for volume in spec.get("volumes", []):
            if "hostPath" in volume:
                yield f"{name(workload)} mounts a path of the node as {volume['name']}"
        for container in containers(template):
            if any("hostPort" in port for port in container.get("ports", [])):
                yield f"{name(workload)} takes a port of the node"


def processes_are_confined(documents):
    for workload, template in pods(documents):
        pod = template["spec"].get("securityContext", {})
        if not (pod.get("runAsNonRoot") and pod.get("runAsUser") == 10001):
            yield f"{name(workload)} does not run as the image's user 10001"
        if pod.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{name(workload)} has no seccomp profile"
        for container in containers(template):
            own = container.get("securityContext", {})
            if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
                yield f"{name(workload)} may gain privileges"
            if not own.get("readOnlyRootFilesystem"):
                yield f"{name(workload)} may write its image"
            if own.get("capabilities") != {"drop": ["ALL"]}:
                yield f"{name(workload)} keeps capabilities"
        if settings(documents, template).get("MINILAB_REQUIRE_CONFINEMENT") != "true":
            yield f"{name(workload)} renders also where its children cannot be confined"


def originals_are_read_only(documents):
    for workload, template in pods(documents):
        library = settings(documents, template).get("MINILAB_LIBRARY", "")
        container = containers(template)[0]
        if container.get("args") != ["worker"] or not library.startswith("/"):
            continue
        # The mount with the longest path holds the folder.
        mounts = [m for m in container.get("volumeMounts", []) if f"{library}/originals/".startswith(m["mountPath"].rstrip("/") + "/")]
        holder = max(mounts, key=lambda m: len(m["mountPath"]), default={})
        if holder.get("readOnly") is not True:
            yield f"{name(workload)} may write the originals"


def cluster_gives_no_rights(documents):
    for document in documents:
        if document["kind"] in RIGHTS:
            yield f"{name(document)} gives rights in the cluster"
        if document["kind"] == "ServiceAccount" and document.get("automountServiceAccountToken") is not False:
            yield f"{name(document)} hands its token to pods"
        if document["kind"] == "Secret":
            yield f"{name(document)} would take the place of the real one at every apply"
    for workload, template in pods(documents):
        if template["spec"].get("automountServiceAccountToken") is not False:
            yield f"{name(workload)} gets a token of the cluster"
        if template["spec"].get("enableServiceLinks") is not False:
            yield f"{name(workload)} gets variables of services, which have names of settings"
        for key, value in settings(documents, template).items():
            if re.search(r"PASSWORD|SECRET|TOKEN|KEY", key) and not value.startswith("/"):
                yield f"{name(workload)} has a secret in its environment: {key}"


def resources_of_edits_are_there(documents):
    for workload, template in pods(documents):
        folder = settings(documents, template).get("MINILAB_RESOURCES", "")
        mounts = [mount["mountPath"] for mount in containers(template)[0].get("volumeMounts", [])]
        if not any(folder == mount or folder.startswith(f"{mount}/") for mount in mounts):
            yield f"{name(workload)} has no folder of the logos and masks that edits name"


def images_are_named(documents):
    for workload, template in pods(documents):
        for container in containers(template):
            image = container["image"]
            tag = image.rpartition("/")[2].partition(":")[2]
            if "@sha256:" not in image and tag in ("", "latest"):
                yield f"{name(workload)}: {image} is another image tomorrow"


def resources_are_bounded(documents):
    for workload, template in pods(documents):
        for container in containers(template):
            resources = container.get("resources", {})
            for kind in ("cpu", "memory", "ephemeral-storage"):
                limit = resources.get("limits", {}).get(kind)
                if limit is None:
                    yield f"{name(workload)} has no limit of {kind}"
                elif resources.get("requests", {}).get(kind) != limit:
                    yield f"{name(workload)} may use more {kind} than it asked for, and is evicted for it"
        room = amount(containers(template)[0].get("resources", {}).get("limits", {}).get("ephemeral-storage", 0))
        folders = [v["emptyDir"] for v in template["spec"].get("volumes", []) if "emptyDir" in v]
        if any("sizeLimit" not in folder for folder in folders):
            yield f"{name(workload)} has a temporary folder without a bound"
        elif sum(amount(folder["sizeLimit"]) for folder in folders) > room:
            yield f"{name(workload)} is evicted before its temporary folders are full"
        told = settings(documents, template)
        scratch = [
            amount(v["emptyDir"].get("sizeLimit", 0)) for v in template["spec"].get("volumes", []) if v["name"] == "scratch"
        ]
        if scratch and scratch[0] < 2 * setting_bytes(told["MINILAB_SCRATCH_SIZE"]):
            yield f"{name(workload)} has no room for results beside its downloads"
        if not any(e["name"] == "MINILAB_SLOTS" for e in containers(template)[0].get("env", [])):
            yield f"{name(workload)} works on as many jobs as the node has cores"


def renders_are_finished(documents):
    for workload, template in pods(documents):
        if containers(template)[0].get("args") != ["worker"]:
            continue
        told = settings(documents, template)
        longest, grace = seconds(told["MINILAB_RENDER_TIMEOUT"]), seconds(told["MINILAB_SHUTDOWN_GRACE"])
        if grace < longest + PUBLISH_SECONDS:
            yield f"{name(workload)} hands back renders that could have been finished: {grace} s for one of {longest} s"
        killed = template["spec"].get("terminationGracePeriodSeconds", 30)
        if killed < grace + HAND_BACK_SECONDS:
            yield f"{name(workload)} is killed after {killed} s, with {grace} s for its jobs and {HAND_BACK_SECONDS} s to hand back"


def probes_ask_the_process(documents):
    for workload, template in pods(documents):
        for container in containers(template):
            for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                found = container.get(probe, {}).get("httpGet", {})
                if found.get("path") != path or found.get("port") != "status":
                    yield f"{name(workload)}: {probe} should ask {path} of the status port"


def network_is_closed(documents):
    policies = [d["spec"] for d in documents if d["kind"] == "NetworkPolicy"]
    for workload, template in pods(documents):
        labels = template["metadata"]["labels"]
        own = [p for p in policies if selects(p["podSelector"], labels)]
        for direction in ("Ingress", "Egress"):
            if not any(direction in policy["policyTypes"] for policy in own):
                yield f"{name(workload)}: no NetworkPolicy is about its {direction.lower()}"
        if labels["app.kubernetes.io/component"] != "worker":
            continue
        for rule in (rule for policy in own for rule in policy.get("egress", [])):
            if not rule.get("to") or not rule.get("ports") or any(
                peer.get("ipBlock", {}).get("cidr", "").endswith("/0") for peer in rule["to"]
            ):
                yield f"{name(workload)} reaches more than Redis, names and the store"


def disruptions_are_bounded(documents):
    budgets = [d["spec"] for d in documents if d["kind"] == "PodDisruptionBudget"]
    scaled = {d["spec"]["scaleTargetRef"]["name"] for d in documents if d["kind"] == "ScaledObject"}
    for workload, template in pods(documents):
        own = [b for b in budgets if selects(b["selector"], template["metadata"]["labels"])]
        if len(own) != 1:
            yield f"{name(workload)} has {len(own)} disruption budgets"
        elif own[0].get("unhealthyPodEvictionPolicy") != "AlwaysAllow":
            yield f"{name(workload)} keeps nodes from being emptied while Redis is away"
        if not template["spec"].get("topologySpreadConstraints"):
            yield f"{name(workload)} may run on one node alone"
        if ("replicas" in workload["spec"]) == (workload["metadata"]["name"] in scaled):
            yield f"{name(workload)}: either `replicas` or a ScaledObject says how many"


RULES = [
    machine_is_out_of_reach,
    processes_are_confined,
    originals_are_read_only,
    cluster_gives_no_rights,
    resources_of_edits_are_there,
    images_are_named,
    resources_are_bounded,
    renders_are_finished,
    probes_ask_the_process,
    network_is_closed,
    disruptions_are_bounded,
]


def broken(documents):
    """A sentence for each thing that breaks a rule."""
    return [sentence for rule in RULES for sentence in rule(documents)]
