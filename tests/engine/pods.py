"""Each pod of the manifests in podman, one after the other: `scripts/image --pods`, after `scripts/image`.

A pod's command, settings, user, read-only root, mounts and memory are what the manifests say; its probes are made as a kubelet
makes them; its end has to be in order. docs/scaling.md names what only a cluster can show.
"""

import copy
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from compose.sandbox.child import ROOT
from tests.time_limits import patience

OVERLAY = ROOT / "compose" / "kubernetes" / "overlays" / "one-zone"
NETWORK = "coinslot-pods"
SERVERS = ("ledger", "queue")
"""Names that the settings of all others lead to."""
SECRETS = ("coinslot.key", "settler.key", "dashboard.password")
PROBED_WITHIN_S = patience(90.0)
PROBES = ("startupProbe", "livenessProbe")
"""A pod is ready when others are, which are not here."""


def podman(*arguments: str) -> str:
    """Run a command and return what it prints. Raises AssertionError when it fails."""
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"podman {' '.join(arguments)}: {done.stderr}"
    return done.stdout


class Pods:
    """The pods of an overlay, in one network.

    Args:
        folder: for their files.
    """

    def __init__(self, folder: Path) -> None:
        made = subprocess.run(["kubectl", "kustomize", OVERLAY], capture_output=True, check=True)
        objects = list(yaml.load_all(made.stdout, yaml.CSafeLoader))
        self._folder = folder
        self._config = [each for each in objects if each["kind"] == "ConfigMap"]
        for config in self._config:
            config["data"]["COINSLOT_EVM_PAY_TO"] = "0x" + "11" * 20  # as an operator replaces the example
        self._workloads = {
            each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] in ("Deployment", "StatefulSet")
        }
        self._addresses: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        """The servers first."""
        return sorted(self._workloads, key=lambda name: (name not in SERVERS, name))

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """A pod, which starts, is as it should be, and ends in order."""
        spec = self._workloads[name]["template"]["spec"]
        [container] = spec["containers"]
        running = f"{name}-{container['name']}"
        file = self._folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump_all([*self._config, *self._claims(name), self._pod(name)]))
        began = time.monotonic()
        try:
            podman("kube", "play", "--network", NETWORK, str(file))
            self._addresses[name] = self._address(running)
            for probe in PROBES:
                self._await(name, running, container, container[probe])
            self._check_rights(running, spec["securityContext"]["runAsUser"])
            print(f"{name}: started after {time.monotonic() - began:.1f} s", flush=True)
            yield
            began = time.monotonic()
            podman("stop", "-t", str(spec["terminationGracePeriodSeconds"]), running)
            code = podman("inspect", "--type", "container", "--format", "{{.State.ExitCode}}", running).strip()
            assert code == "0", f"{name} ended with {code}"
            print(f"{name}: ended after {time.monotonic() - began:.1f} s", flush=True)
        except AssertionError:
            log = subprocess.run(
                ["podman", "logs", "--tail", "20", running], capture_output=True, text=True, check=False
            )
            print(log.stdout, log.stderr, file=sys.stderr)
            raise
        finally:
            subprocess.run(["podman", "kube", "down", str(file)], capture_output=True, check=False)

    def _pod(self, name: str) -> dict[str, Any]:
        """As a controller makes it of its template. podman has volumes of claims and of this machine's folders, not of secrets,
        and gives its own name to a probe: what it does not know is left out."""
        template = copy.deepcopy(self._workloads[name]["template"])
        spec = template["spec"]
        spec.pop("hostUsers", None)  # it needs ranges of users in /etc/subuid
        [container] = spec["containers"]
        container["image"] = container["image"].replace("registry.example.com/", "localhost/")
        for name_of_part in (*PROBES, "readinessProbe", "ports"):  # podman would publish ports on this machine
            container.pop(name_of_part, None)
        for variable in container.get("env", ()):
            if "valueFrom" in variable:  # of a secret: the address of a node, where there is none
                variable.pop("valueFrom")
                variable["value"] = "http://127.0.0.1:8545"
        values = {each["name"]: each["value"] for each in container.get("env", ())}
        container["args"] = [re.sub(r"\$\((\w+)\)", lambda each: values[each[1]], word) for word in container["args"]]
        for volume in spec.get("volumes", ()):
            if "secret" in volume:
                del volume["secret"]
                volume["hostPath"] = {"path": str(self._secrets(name, spec["securityContext"]["fsGroup"]))}
        claims = self._claims(name)
        spec["volumes"] = [*spec.get("volumes", ()), *(_of_claim(claim) for claim in claims)]
        spec["hostAliases"] = [{"ip": self._addresses[each], "hostnames": [each]} for each in self._addresses]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], "name": name}, "spec": spec}

    def _claims(self, name: str) -> list[dict[str, Any]]:
        """Its volumes, owned as fsGroup has it."""
        workload = self._workloads[name]
        group = str(workload["template"]["spec"]["securityContext"]["fsGroup"])
        made = []
        for claim in workload.get("volumeClaimTemplates", ()):
            owner = {"volume.podman.io/uid": group, "volume.podman.io/gid": group}
            metadata = {"name": f"{NETWORK}-{name}-{claim['metadata']['name']}", "annotations": owner}
            made.append({**claim, "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata})
        return made

    def _secrets(self, name: str, group: int) -> Path:
        """All there are, as fsGroup and defaultMode have them."""
        folder = self._folder / f"{name}-secrets"
        folder.mkdir()
        for secret in SECRETS:
            (folder / secret).write_text(secrets.token_hex(32))
            (folder / secret).chmod(0o440)
        for path in (folder, *folder.iterdir()):
            os.chown(path, 0, group)
        folder.chmod(0o750)
        return folder

    def _address(self, running: str) -> str:
        pod = podman("inspect", "--type", "container", "--format", "{{.Pod}}", running).strip()
        infra = podman("pod", "inspect", "--format", "{{.InfraContainerID}}", pod).strip()
        [found] = json.loads(podman("inspect", "--type", "container", infra))
        return str(found["NetworkSettings"]["Networks"][NETWORK]["IPAddress"])

    def _await(self, name: str, running: str, container: dict[str, Any], probe: dict[str, Any]) -> None:
        give_up_at = time.monotonic() + PROBED_WITHIN_S
        while not self._succeeds(name, running, container, probe):
            has_ended = (
                podman("inspect", "--type", "container", "--format", "{{.RestartCount}}", running).strip() != "0"
            )
            if has_ended or time.monotonic() > give_up_at:
                raise AssertionError(f"{name}: {probe} does not succeed")
            time.sleep(0.5)

    def _succeeds(self, name: str, running: str, container: dict[str, Any], probe: dict[str, Any]) -> bool:
        if "exec" in probe:
            command = ["podman", "exec", running, *probe["exec"]["command"]]
            return not subprocess.run(command, capture_output=True, check=False).returncode
        action = probe.get("httpGet") or probe["tcpSocket"]
        port = next(each["containerPort"] for each in container["ports"] if each["name"] == action["port"])
        with suppress(OSError):
            if "httpGet" in probe:
                url = f"http://{self._addresses[name]}:{port}{action['path']}"
                return bool(urllib.request.urlopen(url, timeout=5).status == 200)
            socket.create_connection((self._addresses[name], port), timeout=5).close()
            return True
        return False

    def _check_rights(self, running: str, user: int) -> None:
        found = podman("exec", running, "sh", "-c", "id -u; grep CapEff /proc/1/status; touch /new 2>&1 || true")
        assert re.fullmatch(rf"{user}\nCapEff:\s+0+\n.*Read-only file system\n", found), found


def _of_claim(claim: dict[str, Any]) -> dict[str, Any]:
    name = claim["metadata"]["name"]
    return {"name": name.rpartition("-")[2], "persistentVolumeClaim": {"claimName": name}}


def main() -> None:
    """Run the pods that the command line names, or all; the servers stay until the end."""
    podman("network", "create", NETWORK)
    try:
        with tempfile.TemporaryDirectory(prefix="coinslot-pods-") as name, ExitStack() as servers:
            Path(name).chmod(0o755)
            pods = Pods(Path(name))
            for each in sys.argv[1:] or pods.names:
                if each in SERVERS:
                    servers.enter_context(pods.running(each))
                else:
                    with pods.running(each):
                        pass
    finally:
        podman("network", "rm", "-f", NETWORK)
        for volume in podman("volume", "ls", "-q", "--filter", f"name={NETWORK}").split():
            podman("volume", "rm", "-f", volume)


if __name__ == "__main__":
    main()
