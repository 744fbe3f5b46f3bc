"""The `coinslot` command.

Exit codes:
    0    the answer is on standard output
    1    stopped by the operating system, as when the answer cannot be written
    2    wrong usage: options, JSON, key file. Nothing was sent
    3    not paid: the price is too high, or the challenge cannot be trusted
    4    the payment was rejected
    5    the call failed (400, 404, 429, 5xx, a lost answer); the message says whether it was charged
    6    the server cannot be reached; nothing was paid
    130  stopped by Ctrl-C
    141  the reader of the output closed it
    143  stopped by SIGTERM

With --json, standard output is one object: {"ok": true, "status", "price": {"amount", "asset", "network"}, "receipt",
"answer", "requestId"}, where `amount` is in whole units of `asset`; or {"ok": false, "status", "error", "detail",
"hint", "charged", "price", "requestId", "retryAfterSeconds", "resume", "problem"}, where `charged` is true, false or
"unknown" and `resume` is the file for --resume, if there is something to fetch. `coinslot resume --json` prints
{"ok", "resumed"}, a list of such objects that also name their `call`.
"""

import argparse
import dataclasses
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from coinslot.errors import CoinslotError, InvalidCall
from coinslot.prices import dollars
from shared.version import VERSION
from shared.x402.networks import Rail

RAILS = tuple(Rail)
"""The rails that have a signer (client/coinslot/wallet_source.py)."""

_ENVIRONMENT = """environment:
    COINSLOT_URL              the server's address, instead of --url
    COINSLOT_WALLET_KEY_FILE  file of the wallet's key (64 hex digits), instead of --key-file
    COINSLOT_WALLET_RPC_URL   node of the wallet's network, instead of --rpc-url
    COINSLOT_WALLET_KEY_FILE_SOLANA, COINSLOT_WALLET_RPC_URL_SOLANA
                              the same of one rail alone (BASE, SOLANA, STELLAR, XRPL_USDC, XRPL_RLUSD, ETHEREUM), as many as
                              you have: without --rail a call that the first cannot pay is paid by the next
    COINSLOT_MAX_PRICE        most that one call may cost, in dollars, instead of --max-price
    COINSLOT_SCHEME           exact or channel, instead of --scheme
    COINSLOT_CAP_DEPOSIT      most that channels may hold at a time, in dollars (default: 5)
    COINSLOT_CHANNEL_KEY_FILE file of a key that only signs for channels which `coinslot channels open` opened for it
    COINSLOT_STATE_DIR        folder of open payments and of what was spent, instead of ~/.local/state/coinslot
    COINSLOT_SANDBOX_FILE     sandbox file, instead of the first var/sandbox.json from here upward
"""

_CAPS = """environment, beside that of the other commands:
    COINSLOT_CAP_PER_CALL      most that one call may cost, in dollars
    COINSLOT_CAP_PER_DAY       most that a day's calls may cost (UTC)
    COINSLOT_CAP_TOTAL         most that all calls may cost
    COINSLOT_CAP_PER_ENDPOINT  a day's caps of single endpoints: echo=0.05,render-pro=1 (optional)
    COINSLOT_CAPS_FILE         JSON file with perCall, perDay, total, perEndpoint, instead
    COINSLOT_PAGE_DELTA_RAIL      xrpl-rlusd: offer page_delta, which pays from another wallet
    COINSLOT_PAGE_DELTA_KEY_FILE  file of that wallet's family seed, mode 0600
    COINSLOT_PAGE_DELTA_RPC_URL   node of the XRP Ledger
Without a key or caps, only the free tools are served.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidCall(message, hint=f"See {self.prog} --help.")


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C in this block, so that an open payment is saved. Tools with a time limit send SIGTERM."""

    def end(*_: object) -> NoReturn:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # where Python handles no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if sys.stdout is None:  # closed by the caller: >&-. Do not buy an answer that nobody can read.
        return 1
    try:
        with _terminable():
            return _run(arguments)
    except _Terminated:
        return 143
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _forget_stdout()
        return 141
    except OSError as error:
        print(f"coinslot: stopped by the operating system: {error.strerror}", file=sys.stderr)
        _forget_stdout()
        return 1


def _run(arguments: list[str]) -> int:
    try:
        # The commands' modules import the HTTP client and the signing library, which --help does not need.
        return _command(_parser().parse_args(arguments))
    except SystemExit as finished:
        return int(finished.code or 0)
    except CoinslotError as error:
        from coinslot.output import Output

        Output(as_json="--json" in arguments).error(error)
        return error.exit_code


def _command(arguments: argparse.Namespace) -> int:
    from coinslot.options import Options
    from coinslot.output import Output

    output, names = Output(as_json=arguments.json), {field.name for field in dataclasses.fields(Options)} - {"rail"}
    options = Options(
        rail=Rail(arguments.rail) if getattr(arguments, "rail", None) else None,
        env=os.environ,
        folder=Path.cwd(),
        **{name: value for name, value in vars(arguments).items() if name in names},
    )
    match arguments.command:
        case "channels" if arguments.action == "list":
            from coinslot import channels_command

            return channels_command.show(options, output)
        case "channels" if arguments.action != "open":
            from coinslot.channels_command import ChannelsCommand

            command = ChannelsCommand(options, output)
            return (command.refund if arguments.action == "refund" else command.withdraw)(arguments.channel)
        case "call" | "channels":
            from coinslot.call_command import CallCommand

            return CallCommand(
                options,
                output,
                name=arguments.name,
                body=arguments.body,
                resume=arguments.resume,
                show_challenge=arguments.show_challenge,
            ).run()
        case "catalogue":
            from coinslot import catalogue_command

            return catalogue_command.run(options, output)
        case "resume":
            from coinslot.resume_command import ResumeCommand

            return ResumeCommand(options, output).run(arguments.files)
        case "spent":
            from coinslot import spent_command

            return spent_command.run(options, output)
        case "mcp":
            from coinslot import mcp_command

            return mcp_command.run(options, http_port=arguments.http)
        case _:
            from coinslot import wallet_command

            return wallet_command.run(options, output)


def _parser() -> argparse.ArgumentParser:
    codes = (__doc__ or "").partition("\n\n")[2]
    shape: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = _Parser(
        prog="coinslot",
        description="Buy single API calls, paid with x402.",
        epilog=codes + "\n" + _ENVIRONMENT,
        **shape,
    )
    parser.add_argument("--version", action="version", version=f"coinslot {VERSION}", help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    call = commands.add_parser("call", help="buy one call", epilog=codes + "\n" + _ENVIRONMENT, **shape)
    call.add_argument("name", metavar="NAME", help="what to call, e.g. echo or chain/chain-id")
    call.add_argument("body", metavar="JSON", nargs="?", help="request body: JSON text, @FILE, or - for standard input")
    call.add_argument("--max-price", metavar="DOLLARS", type=_dollars,
                      help="most that the call may cost (sandbox wallet: 0.10; own key: required)")  # fmt: skip
    call.add_argument("--show-challenge", action="store_true", help="print the 402 and do not pay")
    call.add_argument("--resume", metavar="FILE", type=Path, help="send a saved payment again instead of a new one")

    channels = commands.add_parser("channels", help="deposits that calls are paid out of", **shape)
    actions = channels.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="show what is in each", **shape)
    opening = actions.add_parser("open", help="buy one call with a deposit, for others to come", **shape)
    opening.add_argument("name", metavar="NAME", help="the call, e.g. echo")
    opening.add_argument("body", metavar="JSON", nargs="?", help="its body")
    opening.add_argument("--max-price", metavar="DOLLARS", type=_dollars, help="most that the call may cost")
    opening.set_defaults(scheme="channel", opens=True, resume=None, show_challenge=False)
    refund = actions.add_parser("refund", help="have the server pay back what is left", **shape)
    withdraw = actions.add_parser("withdraw", help="take out what is left without the server, after its delay", **shape)
    for action in (refund, withdraw):
        action.add_argument("channel", metavar="CHANNEL", help="how its id begins")
    for action in (opening, refund, withdraw):
        action.add_argument("--channel-key-file", metavar="FILE",
                            help="key that signs its calls (open: made when missing; default: the wallet's)")  # fmt: skip

    resume = commands.add_parser("resume", help="fetch the answers to payments that were interrupted", **shape)
    resume.add_argument("files", metavar="FILE", nargs="*", type=Path, help="saved payment (default: all open ones)")

    catalogue = commands.add_parser("catalogue", help="list what is sold", **shape)
    spent = commands.add_parser("spent", help="show what was spent", **shape)
    wallet = commands.add_parser("wallet", help="show the paying account, never its key", **shape)
    mcp = commands.add_parser(
        "mcp", help="serve the calls as tools of an agent (MCP), within caps", epilog=_CAPS, **shape
    )
    mcp.set_defaults(json=False)
    mcp.add_argument("--http", metavar="PORT", type=_port, help="listen on 127.0.0.1:PORT instead of standard input")
    for command in (call, catalogue, mcp, opening):
        command.add_argument("--url", metavar="BASE", help="address of the server")
    for command in (call, mcp):
        command.add_argument("--scheme", choices=("exact", "channel"),
                             help="pay for each call (exact, the default), or out of a deposit (channel)")  # fmt: skip
    for command in (call, opening):
        command.add_argument("--deposit", metavar="DOLLARS", type=_dollars,
                             help="what a deposit is to be (default: the least that the server takes)")  # fmt: skip
    for command in (call, catalogue, resume, mcp, opening, refund, withdraw):
        command.add_argument("--timeout", dest="timeout_s", metavar="SECONDS", type=_seconds, default=35.0,
                             help="longest wait for one answer (default: 35)")  # fmt: skip
    for command in (call, wallet, mcp, opening, refund, withdraw):
        command.add_argument("--key-file", metavar="FILE", help="file that holds the wallet's private key")
        command.add_argument("--rail", choices=[str(rail) for rail in RAILS],
                             help="network and asset to pay with (default: base, or another that has a wallet)")  # fmt: skip
        command.add_argument("--rpc-url", metavar="URL", help="node of that network, which every rail but EVM's needs")
    for command in (call, resume, spent, catalogue, wallet, listing, opening, refund, withdraw):
        command.add_argument("--json", action="store_true", help="print one JSON object, for errors too")
    return parser


def _dollars(text: str) -> Decimal:
    try:
        return dollars(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.1 <= seconds <= 600:
        raise argparse.ArgumentTypeError("not a number of seconds from 0.1 to 600")
    return seconds


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:6]) < 65536:
        raise argparse.ArgumentTypeError("not a port from 1 to 65535")
    return int(text)


def _forget_stdout() -> None:
    """Python would flush it again at exit, and print an error."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    sys.exit(main())
