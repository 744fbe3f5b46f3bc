"""Run the facilitator: `python -m facilitator`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from granian.constants import HTTPModes, Interfaces, Loops
from granian.server import Server

from shared.observability.log_redaction import redact_logs
from shared.observability.logs import granian_config
from shared.process.command_line import command_line, run
from shared.process.forked_workers import prepare_forks
from shared.process.setting_names import read_settings
from shared.process.user import refuse_root
from shared.settings.service import InvalidSetting

if TYPE_CHECKING:
    from litestar import Litestar


def application() -> Litestar:
    """The app that granian's worker loads. Its master does not load it.

    Raises:
        SystemExit: with a sentence about a setting that cannot be used.
    """
    from facilitator.app import create_app

    try:
        app = create_app(cannot_start=_end)
    except InvalidSetting as error:
        sys.exit(f"coinslot facilitator: {error}")
    redact_logs()
    return app


def _end(error: InvalidSetting) -> NoReturn:
    # granian and Litestar would print an exception group, without the sentence.
    print(f"coinslot facilitator: {error}", file=sys.stderr, flush=True)
    os._exit(1)


def main() -> None:
    """Serve until SIGTERM, in one process: account numbers are ordered in its memory."""
    command_line("python -m facilitator", "Settle payments.").parse_args()
    settings = read_settings(os.environ)
    refuse_root(settings)
    prepare_forks()
    Server(
        "facilitator.__main__:application",
        factory=True,
        address=settings.facilitator_host,
        port=settings.facilitator_port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        loop=Loops.uvloop,
        websockets=False,
        log_dictconfig=granian_config(settings.log),
        workers=1,
        workers_kill_timeout=20,
    ).serve()


if __name__ == "__main__":
    run("coinslot facilitator", main)
