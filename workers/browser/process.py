"""A browser's processes, seen from the worker: how they are started, and how they end."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workers.browser import launcher
from workers.browser.flags import FIRST_PORT, FLAGS

START_S = 10.0
"""Seconds for the namespaces and the sockets, on a busy machine."""
END_S = 5.0
"""Seconds for the kernel to end everything in the namespace."""


class NotStarted(Exception):
    """The browser could not be started. The text says why: this machine allows no namespaces, for example."""


@dataclass(slots=True)
class BrowserProcess:
    """A started browser. Not thread-safe.

    Attributes:
        control: to the launcher. When it is closed, everything ends.
        commands: the write end of the pipe that the browser reads commands from.
        events: the read end of the pipe that it writes to.
        listening: the sockets that it reaches as its proxies, one for each slot, in the order of their ports.
    """

    control: socket.socket
    commands: int
    events: int
    listening: list[socket.socket]
    _first: int
    _launcher: subprocess.Popen[bytes]
    _is_over: bool = field(default=False)

    @property
    def pid(self) -> int:
        """Of the launcher, which lives as long as the namespace's processes."""
        return self._launcher.pid

    def set_busy(self, is_busy: bool) -> None:
        """Say whether pages are open: only then their memory is looked at often."""
        with contextlib.suppress(OSError):
            self.control.send(launcher.BUSY if is_busy else launcher.IDLE)

    def kill(self) -> None:
        """End every process of the namespace, and wait until the kernel has ended them. The pipes and the listening
        sockets stay open: they belong to whoever uses them."""
        if self._is_over:
            return
        self._is_over = True
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._first, signal.SIGKILL)
        os.close(self._first)
        self.control.close()
        try:
            self._launcher.wait(END_S)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()


def start_browser(program: Path, *, slots: int, authorities: Sequence[str] = (), log: bool = False) -> BrowserProcess:
    """Start a browser and wait until its namespaces are made. The browser itself may take longer.

    Args:
        slots: pages that it is to show at once, each with its own proxy.
        authorities: certificates in PEM that it trusts beside its own. They need `certutil` (Debian: libnss3-tools).
        log: whether what the browser writes to its standard error is shown. It may quote pages.

    Raises:
        NotStarted: it could not be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_commands, commands = os.pipe()
    events, write_events = os.pipe()
    order = {
        "program": str(program),
        "flags": FLAGS,
        "ports": [FIRST_PORT + slot for slot in range(slots)],
        "commands": read_commands,
        "events": write_events,
        "authorities": list(authorities),
        "log": log,
    }
    try:
        started = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, json.dumps(order)],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            pass_fds=(read_commands, write_events),
            env={"LANG": "C.UTF-8"},
            start_new_session=True,  # signals to the worker's group end the worker first, and so its jobs
        )
    except OSError as error:
        for descriptor in (commands, events):
            os.close(descriptor)
        ours.close()
        raise NotStarted(f"the launcher could not be started: {error.strerror}") from None
    finally:
        theirs.close()
        os.close(read_commands)
        os.close(write_events)
    try:
        ours.settimeout(START_S)
        _, descriptors, _, _ = socket.recv_fds(ours, 16, 1 + slots)
        if len(descriptors) != 1 + slots:
            raise NotStarted("this machine allows no network, process and mount namespaces (see the log)")
        ours.setblocking(False)
    except (OSError, NotStarted) as error:
        os.close(commands)
        os.close(events)
        ours.close()
        started.kill()
        started.wait()
        raise NotStarted(str(error) or "the launcher did not answer") from None
    first, *sockets = descriptors
    return BrowserProcess(ours, commands, events, [socket.socket(fileno=each) for each in sockets], first, started)
