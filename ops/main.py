"""The operator's command: `coinslot-ops payments|refunds|doctor|rehearse|listing|top|revenue|books|ledger|restart|scale|
reload|rotate-key|new-endpoint`.

Exit codes: 0 all is well, 1 something needs a person, 2 wrong usage or settings, 3 what must be read cannot be read, 130
Ctrl-C.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from redis.exceptions import RedisError, ResponseError

from ops import control, doctor, ledger_copy, ledger_spread, listing, new_endpoint, payments, rotation, top
from ops.books import keeper as books
from ops.books import report as revenue
from ops.queries import Failed, unreadable
from ops.refunds import command as refunds
from ops.rehearsal import command as rehearsal
from shared.process.command_line import command_line
from shared.process.setting_names import read_settings
from shared.servers.ledger_start import WrongLedger
from shared.settings import sandbox_path
from shared.settings.service import InvalidSetting, Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns its exit code."""
    parser = command_line("coinslot-ops", "For the operator of a Coinslot service.")
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("payments", help="list payments that are unknown or refundable")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    listed.add_argument("--id", help="show the record and the journal of this payment instead")
    refunds.add_arguments(commands.add_parser("refunds", help="pay back what was charged and never answered"))
    checked = commands.add_parser("doctor", help="check settings, Redis servers, keys, rails, workers and the clock")
    checked.add_argument("--json", action="store_true", help="one JSON object a line")
    rehearsal.add_options(commands.add_parser("rehearse", help="buy a call on each rail, and check every step of it"))
    indexed = commands.add_parser("listing", help="show what indexers need of each call, and where it is listed")
    indexed.add_argument("--json", action="store_true", help="one JSON object a line")
    shown = commands.add_parser("top", help="show pools, rails, calls per second and the last failures")
    shown.add_argument("--once", action="store_true", help="show it once")
    restarted = commands.add_parser("restart", help="restart the processes of scripts/run one after the other")
    restarted.add_argument("name", nargs="*", help="a line of the Procfile; without any: all")
    resized = commands.add_parser("scale", help="run lines of the Procfile more or less often")
    resized.add_argument("count", nargs="+", metavar="NAME=N", help="such as worker-fast=3")
    commands.add_parser("reload", help="sell at the prices that COINSLOT_PRICES_FILE has now")
    revenue.add_options(commands.add_parser("revenue", help="show what was sold, received and spent, from the books"))
    kept = commands.add_parser("books", help="write into the books what is new; the exporter does it all the time")
    kept.add_argument("--rebuild", action="store_true", help="write all that the ledger and the chains still know")
    kept.add_argument(
        "--since", type=revenue.day, metavar="DAY", help="with --rebuild: how far back the chains are read (90 days)"
    )
    moved = commands.add_parser("ledger", help="copy a ledger of plain servers, or move its buckets in a cluster")
    steps = moved.add_subparsers(dest="step", required=True)
    steps.add_parser(
        "spread", help="move buckets between the primaries until each has its part; calls are sold meanwhile"
    )
    copied = steps.add_parser(
        "copy", help="copy all payments into the empty ledger of the settings, while nothing is sold"
    )
    copied.add_argument("sources", metavar="URL,URL", help="the plain servers, in the order that they had")
    commands.add_parser("rotate-key", help="make a new sealing key and keep the old one as the previous")
    written = commands.add_parser("new-endpoint", help="write a package with an endpoint of your own, and its test")
    written.add_argument("name", metavar="PREFIX/NAME", help="such as acme/slug, which is sold at /v1/acme/slug")
    written.add_argument("--into", metavar="FOLDER", type=Path, default=Path(), help="where its folder is made")
    chosen = parser.parse_args(arguments)
    if chosen.command == "new-endpoint":
        return new_endpoint.write(chosen.name, chosen.into)
    if chosen.command in ("restart", "scale", "reload"):
        var = sandbox_path.service_folder(os.environ, Path()) or sandbox_path.PLACE.parent
        words = (*getattr(chosen, "name", ()), *getattr(chosen, "count", ()))
        return control.report(var / sandbox_path.CONTROL, [chosen.command, *words])
    try:
        environment, found = sandbox_path.with_settings(os.environ, Path())
        tells_itself = chosen.command == "doctor"
        settings = Settings.from_env(environment) if tells_itself else read_settings(environment, "coinslot-ops")
    except InvalidSetting as error:
        print(f"coinslot-ops: {error}", file=sys.stderr)
        return 2
    if found is not None:
        print(f"coinslot-ops: with the settings of {found}", file=sys.stderr)
    run: dict[str, Callable[[], int]] = {
        "doctor": lambda: doctor.report(settings, environment, as_json=chosen.json),
        "rehearse": lambda: rehearsal.report(settings, os.environ, chosen),
        "listing": lambda: listing.report(settings, as_json=chosen.json),
        "top": lambda: top.report(settings, once=chosen.once),
        "revenue": lambda: revenue.report(settings, chosen),
        "books": lambda: books.report(settings, is_rebuild=chosen.rebuild, since=chosen.since),
        "ledger": lambda: (
            ledger_copy.report(settings, chosen.sources) if chosen.step == "copy" else ledger_spread.report(settings)
        ),
        "rotate-key": lambda: rotation.report(settings),
        "refunds": lambda: refunds.report(settings, chosen),
        "payments": lambda: payments.report(settings, as_json=chosen.json),
    }
    try:
        return payments.show(settings, chosen.id) if getattr(chosen, "id", None) else run[chosen.command]()
    except (Failed, WrongLedger) as error:
        print(f"coinslot-ops: {error}", file=sys.stderr)
        return getattr(error, "code", 3)
    except InvalidSetting as error:
        print(f"coinslot-ops: {error}", file=sys.stderr)
        return 2
    except ResponseError as refused:
        print(f"coinslot-ops: a Redis server refuses it: {refused}", file=sys.stderr)
        return 3
    except RedisError as error:
        print(f"coinslot-ops: {unreadable(error, ledger_url=settings.ledger_url)}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 0
