"""A container engine, and the services of one compose file in it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.time_limits import patience

HEALTHY_WITHIN_S = patience(120.0)
PROJECT = "coinslot-engine"
_LABEL = "com.docker.compose"


@dataclass(frozen=True, slots=True)
class Engine:
    """Podman or Docker.

    Attributes:
        folder: of compose.yaml and here.yaml.
        program: ``podman`` or ``docker``.
        compose_command: what runs a compose file in it.
        logs: where the containers' output is kept that are removed.
    """

    folder: Path
    program: str
    compose_command: Sequence[str]
    logs: Path

    def __call__(self, *arguments: str) -> str:
        """Run a command of the engine and return what it prints. Raises AssertionError when it fails."""
        return self._run([self.program, *arguments])

    def compose(self, *arguments: str) -> None:
        """Run a command of compose. Raises AssertionError when it fails."""
        files = ("-p", PROJECT, "-f", "compose.yaml", "-f", "here.yaml")
        self._run([*self.compose_command, *files, *arguments])

    def containers(self, service: str = "") -> list[str]:
        """The names of a service's containers, or of all."""
        labels = [f"label={_LABEL}.project={PROJECT}", *([f"label={_LABEL}.service={service}"] if service else ())]
        filters = [word for label in labels for word in ("--filter", label)]
        return sorted(self("ps", "-a", *filters, "--format", "{{.Names}}").split())

    def remove_containers(self) -> None:
        """All of them, with those that compose does not count. Volumes stay."""
        for name in self.containers():
            with (self.logs / f"{name}.log").open("a") as file:
                file.write(self.log(name))
        give_up_at = time.monotonic() + HEALTHY_WITHIN_S
        while names := self.containers():
            try:
                self("rm", "-f", *names)
            except AssertionError:  # podman removes none before those that depend on it
                if time.monotonic() > give_up_at:
                    raise

    def clear(self) -> None:
        """Remove everything, with what a run has left that was killed."""
        self.remove_containers()
        self.compose("down", "-v")  # networks and volumes

    def keep_bridges(self) -> None:
        """Give the bridges of podman's networks their own addresses for good.

        Before netavark 1.9 a bridge has the lowest address of what is connected to it. So it changes when a container comes or
        goes, and for a minute the others reach nothing outside (containers/netavark#833). Docker's has one of its own.
        """
        if self.program == "docker":
            return
        for bridge in json.loads(self._run(["ip", "-j", "link", "show", "type", "bridge"])):
            self._run(["ip", "link", "set", bridge["ifname"], "address", bridge["address"]])

    def inspect(self, name: str) -> dict[str, Any]:
        """All that the engine knows of a container."""
        [found] = json.loads(self("inspect", "--type", "container", name))
        return dict(found)

    def address(self, name: str, network: str = "inside") -> str:
        """Of a container in one of its networks."""
        networks = self.inspect(name)["NetworkSettings"]["Networks"]
        return str(networks[f"{PROJECT}_{network}"]["IPAddress"])

    def port(self, name: str, port: int) -> int:
        """Where a port of a container is published."""
        return int(self("port", name, str(port)).splitlines()[0].rpartition(":")[2])

    def kill(self, name: str) -> None:
        """SIGKILL for the container's first process, and so for all, without the engine's knowledge."""
        os.kill(self.inspect(name)["State"]["Pid"], signal.SIGKILL)

    def await_healthy(self, *names: str, pid: int = 0) -> None:
        """Return when the containers' health checks say so.

        Args:
            pid: of a process that is to be replaced first.
        """
        give_up_at = time.monotonic() + HEALTHY_WITHIN_S
        for name in names:
            while not self._is_healthy(name, pid):
                if time.monotonic() > give_up_at:
                    raise AssertionError(f"{name} does not become healthy:\n{self.log_tail(name)}")
                time.sleep(0.3)

    def log(self, name: str) -> str:
        """What a container has printed."""
        done = subprocess.run([self.program, "logs", name], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def log_tail(self, name: str) -> str:
        """The last lines of it."""
        return "\n".join(self.log(name).splitlines()[-30:])

    def _is_healthy(self, name: str, old_pid: int) -> bool:
        state = self.inspect(name)["State"]
        if not state["Running"] or state["Pid"] == old_pid:
            return False
        if self.program == "docker":
            return bool(state["Health"]["Status"] == "healthy")
        # Podman needs systemd for its timers, so it is asked.
        return not subprocess.run(["podman", "healthcheck", "run", name], capture_output=True, check=False).returncode

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        errors = "\n".join(line for line in done.stderr.splitlines() if "systemd" not in line)  # of podman's timers
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}{errors[-4000:]}"
        return done.stdout
