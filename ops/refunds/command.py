"""The arguments of `coinslot-ops refunds`. Exit codes: 1 something was refused or left out, 3 the ledger is unreadable."""

import argparse
import sys
from pathlib import Path

from ops.refunds import closing, planning
from shared.settings.service import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    actions = parser.add_subparsers(dest="action", required=True)
    plan = actions.add_parser("plan", help="write unsigned transfers for everything that is owed")
    plan.add_argument("--to", type=Path, default=Path("refunds"), metavar="FOLDER", help="the plan is a folder in it")
    plan.add_argument("--again", action="store_true", help="plan anew what is in an open plan, which nobody signs")
    plan.add_argument("--blockhash", help="of the transactions on Solana, in place of the newest one")
    plan.add_argument("--sequence", type=int, help="the last number that the sender on Stellar has used")
    done = actions.add_parser("done", help="close the payments that a transaction has paid back")
    done.add_argument("transaction", metavar="TX", help="its hash or signature on the chain")


def report(settings: Settings, chosen: argparse.Namespace) -> int:
    """Do what was chosen. Returns the exit code. Raises RedisError."""
    try:
        if chosen.action == "done":
            return closing.report(settings, chosen.transaction)
        return planning.report(
            settings, chosen.to, again=chosen.again, blockhash=chosen.blockhash, sequence=chosen.sequence
        )
    except OSError as error:
        print(f"coinslot-ops: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
