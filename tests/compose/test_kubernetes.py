"""The manifests that kustomize makes fit the published schemas, and say what the Procfile, the pools and the queue say.

Kubernetes itself is not asked: whether it runs them so is not known from here.
"""

import json
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from compose.processes import STAGES
from compose.procfile import read_procfile
from compose.sandbox.child import ROOT
from shared.pools import POOLS, Pool
from shared.process.setting_names import unknown
from shared.queue.streams import GROUP, stream_key
from tests.compose.test_containers import COMMANDS, SCHEMAS

OVERLAYS = ROOT / "compose" / "kubernetes" / "overlays"
STOP_S = {stage.name: stage.stop_timeout_s for stage in STAGES}

pytestmark = pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl, which brings kustomize, is not on PATH")


@cache
def rendered(overlay: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The objects of an overlay, by kind and name."""
    made = subprocess.run(["kubectl", "kustomize", OVERLAYS / overlay], capture_output=True, check=True, timeout=30)
    objects = list(yaml.load_all(made.stdout, yaml.CSafeLoader))
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


@cache
def schema(kind: str) -> Draft202012Validator:
    """That of a kind."""
    if kind == "ScaledObject":
        return Draft202012Validator(json.loads((SCHEMAS / "keda.json").read_text()))
    published = json.loads((SCHEMAS / "kubernetes.json").read_text())
    return Draft202012Validator({"$ref": f"#/$defs/{published['kinds'][kind]}", "$defs": published["$defs"]})


def pod(workload: dict[str, Any]) -> dict[str, Any]:
    """The pod's specification."""
    found: dict[str, Any] = workload["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize("overlay", sorted(each.name for each in OVERLAYS.iterdir()))
def test_every_object_fits_its_schema_and_every_pod_has_the_fewest_rights(overlay: str) -> None:
    """And more time to end than its process needs; only known settings."""
    for (kind, name), each in rendered(overlay).items():
        schema(kind).validate(each)
        if kind == "ConfigMap":
            assert unknown(each["data"]) == []
        if kind not in ("Deployment", "StatefulSet"):
            continue
        assert pod(each)["securityContext"]["runAsNonRoot"] is True, name
        assert pod(each)["automountServiceAccountToken"] is False, name
        (container,) = pod(each)["containers"]
        context = container["securityContext"]
        rights = context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"], context["capabilities"]
        assert rights == (True, False, {"drop": ["ALL"]}), name
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys(), name
        if name not in ("ledger", "queue"):
            balancers_s = 5 if "lifecycle" in container else 0
            assert pod(each)["terminationGracePeriodSeconds"] > STOP_S.get(name, STOP_S[None]) + balancers_s, name


def test_every_pool_runs_what_the_procfile_runs_and_is_scaled_by_its_own_stream() -> None:
    """KEDA adds a pod before the threads of all are busy and before the room for calls is used up."""
    objects = rendered("production")
    for pool in Pool:
        worker = f"worker-{pool}"
        (container,) = pod(objects["Deployment", worker])["containers"]
        values = {each["name"]: each["value"] for each in container["env"]}
        command = [
            word.replace("$(POOL)", values["POOL"]).replace("$(THREADS)", values["THREADS"])
            for word in container["args"]
        ]
        assert command == [*next(line.command for line in read_procfile() if line.name == worker)]

        scaled = objects["ScaledObject", worker]["spec"]
        assert scaled["scaleTargetRef"]["name"] == worker
        assert scaled["minReplicaCount"] >= 1  # no call is sold of a pool without a worker
        streams = [each["metadata"] for each in scaled["triggers"] if each["type"] == "redis-streams"]
        assert {(each["stream"], each["consumerGroup"]) for each in streams} == {(stream_key(pool), GROUP)}
        for each in streams:
            assert int(each.get("pendingEntriesCount", 1)) <= POOLS[pool].threads
            assert int(each.get("lagCount", 1)) < POOLS[pool].room
        budget = objects["PodDisruptionBudget", worker]["spec"]
        assert budget["selector"]["matchLabels"]["coinslot/pool"] == pool


def test_the_exporter_and_the_dashboard_run_what_the_procfile_runs_and_reach_what_they_ask() -> None:
    """Each by a policy of the asking side and one of the asked side; nobody but Prometheus asks the exporter."""
    objects = rendered("production")
    policies = [each["spec"] for (kind, _), each in objects.items() if kind == "NetworkPolicy"]
    for name, asked in (("exporter", {"ledger", "queue", "api", "facilitator"}), ("dashboard", {"queue"})):
        workload = objects["Deployment", name]
        (container,) = pod(workload)["containers"]
        assert container["args"] == COMMANDS[name]
        assert objects["Service", name]["spec"]["selector"] == workload["spec"]["selector"]["matchLabels"]
        for server in asked:
            assert any(_lets(each, "egress", "to", of=name, peer=server) for each in policies), (name, server)
            is_let_in = (_lets(each, "ingress", "from", of=server, peer=name) for each in policies)
            assert server == "api" or any(is_let_in), (name, server)
        assert not any(_lets(each, "ingress", "from", of=name, peer="worker") for each in policies)


def _lets(policy: dict[str, Any], direction: str, which: str, *, of: str, peer: str) -> bool:
    """Whether the policy of one component lets another one in, or lets it out there."""
    named = [each.get("podSelector", {}) for rule in policy.get(direction, ()) for each in rule.get(which, ())]
    return _selects(policy["podSelector"], of) and any(_selects(each, peer) for each in named)


def _selects(selector: dict[str, Any], component: str) -> bool:
    label = "app.kubernetes.io/component"
    listed = [each["values"] for each in selector.get("matchExpressions", ()) if each["key"] == label]
    return selector.get("matchLabels", {}).get(label) == component or any(component in values for values in listed)


def test_only_the_api_is_public_and_only_those_who_ask_others_reach_the_world() -> None:
    """And no private network."""
    policies = {name: each["spec"] for (kind, name), each in rendered("production").items() if kind == "NetworkPolicy"}

    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    public = [name for name, each in policies.items() if any("from" not in rule for rule in each.get("ingress", ()))]
    assert public == ["api"]
    (of_pools,) = policies["world"]["podSelector"]["matchExpressions"]
    assert set(of_pools["values"]) == {"net", "whois", "render", "youtube", "chain"}
    for each in policies.values():
        for rule in each.get("egress", ()):
            assert "to" in rule
            for peer in rule["to"]:
                if "ipBlock" in peer:
                    assert {"10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"} & set(
                        peer["ipBlock"]["except"]
                    )
