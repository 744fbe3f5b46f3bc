"""The operator's command: `coinslot-ops payments|doctor|top`.

Exit codes: 0 all is well, 1 something needs a person, 2 wrong usage or settings, 3 what must be read cannot be read.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ops import doctor, payments, top
from shared.settings import InvalidSetting, Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="coinslot-ops", description="For the operator of a Coinslot service.")
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("payments", help="list payments that are unknown or refundable")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    checked = commands.add_parser("doctor", help="check settings, Redis servers, keys, rails, workers and the clock")
    checked.add_argument("--json", action="store_true", help="one JSON object a line")
    shown = commands.add_parser("top", help="show pools, rails, calls per second and the last failures")
    shown.add_argument("--once", action="store_true", help="show it once")
    chosen = parser.parse_args(arguments)
    try:
        settings = Settings.from_env(os.environ)
    except InvalidSetting as error:
        print(f"coinslot-ops: {error}", file=sys.stderr)
        return 2
    try:
        if chosen.command == "doctor":
            return doctor.report(settings, os.environ, as_json=chosen.json)
        if chosen.command == "top":
            return top.report(settings, once=chosen.once)
        return payments.report(settings, as_json=chosen.json)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 0
