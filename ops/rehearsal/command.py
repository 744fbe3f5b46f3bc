"""`coinslot-ops rehearse`: its options, and what it prints."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from coinslot.blocking_exchange import BlockingExchange
from coinslot.buyer import TIMEOUT_S
from coinslot.prices import dollars
from ops.rehearsal import FAIL, Refused, Step, plan, purchases
from shared.settings import sandbox_path
from shared.settings.rules import http_addresses
from shared.settings.service import Settings
from shared.x402.networks import Rail

MOST = Decimal("0.10")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("call", nargs="*", help=f"what is bought, such as {plan.FIRST_CALL} (the default)")
    parser.add_argument("--all", action="store_true", help="the example of every call that is listed")
    parser.add_argument(
        "--rail",
        action="append",
        default=[],
        choices=[str(rail) for rail in Rail],
        help="only on this rail; repeatable",
    )
    parser.add_argument(
        "--most", default=MOST, type=_dollars, metavar="DOLLARS", help=f"all that may be spent in sum ({MOST})"
    )
    parser.add_argument(
        "--key-file", action="append", default=[], type=_of_rail, metavar="RAIL=FILE", help="the wallet that pays on it"
    )
    parser.add_argument(
        "--rpc-url",
        action="append",
        default=[],
        type=_node_of_rail,
        metavar="RAIL=URL",
        help="a node, if no setting has one",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def report(settings: Settings, environment: Mapping[str, str], chosen: argparse.Namespace) -> int:
    """Rehearse, and print each step. Returns the exit code. Raises Refused.

    Args:
        environment: where the buyer looks for its wallet.
    """
    if chosen.all and chosen.call:
        raise Refused("--all buys every call: name none beside it. Nothing was signed")
    rehearsed_rails = plan.rehearsed_rails(
        settings,
        [Rail(name) for name in chosen.rail],
        key_files=dict(chosen.key_file),
        nodes=dict(chosen.rpc_url),
        most=chosen.most,
        env=_with_sandbox(environment),
        folder=Path(),
    )
    base_url, names = rehearsed_rails[0].buyer.base_url, [] if chosen.all else chosen.call or [plan.FIRST_CALL]
    with BlockingExchange(base_url, timeout_s=TIMEOUT_S) as exchange:
        return _print(_steps(exchange, base_url, rehearsed_rails, names, chosen.most), as_json=chosen.json)


def _with_sandbox(environment: Mapping[str, str]) -> Mapping[str, str]:
    """With the place of the wallets, where scripts/run has started the service whose settings were found."""
    var = sandbox_path.service_folder(environment, Path())
    file = None if var is None else var / sandbox_path.PLACE.name
    return {sandbox_path.ENVIRONMENT: str(file), **environment} if file and file.is_file() else environment


def _steps(
    exchange: BlockingExchange,
    base_url: str,
    rehearsed_rails: Sequence[plan.RehearsedRail],
    names: Sequence[str],
    most: Decimal,
) -> Iterator[Step]:
    """Raises Refused before the first one, or never."""
    quotes, of_quotes = plan.quotes(exchange, base_url, names)
    offered, of_offers = plan.planned(rehearsed_rails, quotes)
    paid, of_wallets = plan.payable(offered, most)
    yield from (*of_quotes, *of_offers, *of_wallets)
    for rehearsed in rehearsed_rails:
        on_rail = [one for one in paid if one.rehearsed is rehearsed]
        for one in on_rail:
            yield from purchases.bought(one, exchange)
        if on_rail:
            yield from purchases.differences(rehearsed, quotes[on_rail[0].call])


def _print(steps: Iterator[Step], *, as_json: bool) -> int:
    right, wrong = 0, 0
    for step in steps:
        wrong += step.level == FAIL
        right += step.level != FAIL
        if as_json:
            print(json.dumps(step._asdict()), flush=True)
        else:
            where = f"{step.rail:11} {step.call:16} {step.step:10}"
            print(f"{step.level:5} {where} {step.detail}", flush=True)
    if not as_json:
        print(f"{right} steps are right, {wrong} are wrong" if wrong else f"all {right} steps are right")
    return int(wrong > 0 or not right)


def _of_rail(text: str) -> tuple[Rail, str]:
    name, found, value = text.partition("=")
    if not found or not value or name not in list(Rail):
        raise argparse.ArgumentTypeError(f"not RAIL=VALUE with a rail of {', '.join(Rail)}")
    return Rail(name), value


def _node_of_rail(text: str) -> tuple[Rail, str]:
    rail, url = _of_rail(text)
    try:
        http_addresses((url,))
    except ValueError:
        raise argparse.ArgumentTypeError("the node is no http(s) address") from None
    return rail, url


def _dollars(text: str) -> Decimal:
    try:
        return dollars(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
