"""What a rehearsal will buy, and who pays. It signs nothing."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from coinslot import bazaar, configuration, sandbox_file
from coinslot.address import call_url
from coinslot.answer import Answer
from coinslot.blocking_exchange import BlockingExchange, completed
from coinslot.challenge import Quote, request_challenge
from coinslot.configuration import Configuration
from coinslot.errors import ChallengeRefused, CoinslotError
from coinslot.options import Options
from coinslot.signer import Unpayable
from ops import chains
from ops.books.facts import folded
from ops.books.revenue import plain
from ops.rehearsal import FAIL, NOTE, Level, Refused, Step
from shared.money import Price
from shared.networks import NETWORKS
from shared.settings.rails import RailSettings
from shared.settings.service import PREFIX, Settings
from shared.x402.exact import SCHEME
from shared.x402.networks import Rail, Token
from shared.x402.wire import Offer

FIRST_CALL = "echo"
_WHY_NONE = (
    "its facilitator is down or refuses us, or a settlement costs too much for the price (COINSLOT_MAX_COST_SHARE)"
)


@dataclass(frozen=True, slots=True)
class RehearsedRail:
    """A rail that is rehearsed.

    Attributes:
        name: of the network's settings, `own`.
        node: that shows what arrives.
        buyer: who pays on it.
    """

    rail: Rail
    name: str
    own: RailSettings
    token: Token
    node: str
    buyer: Configuration


@dataclass(frozen=True, slots=True)
class Planned:
    """A call that will be bought on a rail."""

    rehearsed: RehearsedRail
    call: str
    body: Any
    offer: Offer
    price: Price


def rehearsed_rails(
    settings: Settings,
    rails: Sequence[Rail],
    *,
    key_files: Mapping[Rail, str],
    nodes: Mapping[Rail, str],
    most: Decimal,
    env: Mapping[str, str],
    folder: Path,
) -> list[RehearsedRail]:
    """The rails that are rehearsed, each with its wallet.

    Args:
        rails: empty for all that have a recipient.
        key_files: of wallets. The others are found as the buyer finds them.
        nodes: where the settings name none, or another one is to be asked.

    Raises:
        Refused: one of them cannot be rehearsed.
    """
    configured = {
        rail: (name, own, token)
        for name, own in settings.rails.items()
        for rail, tokens in NETWORKS[name].tokens.items()
        if own.pay_to and (token := tokens.get(own.network)) and _is_offered(own, token)
    }
    if missing := next((rail for rail in rails if rail not in configured), None):
        raise Refused(f"{missing} is not offered: its settings name no recipient, or none of its tokens")
    if not configured:
        raise Refused(f"no rail is offered: set {PREFIX}EVM_PAY_TO, or the recipient of another one")
    found = []
    for rail, (name, own, token) in configured.items():
        if rails and rail not in rails:
            continue
        node = nodes.get(rail) or chains.node_of(settings, name)
        if not node:
            raise Refused(f"no node shows what arrives on {rail}: give --rpc-url {rail}=URL")
        options = Options(
            url=settings.base_url,
            key_file=key_files.get(rail),
            rail=rail,
            rpc_url=node,
            network=own.network,
            scheme="exact",
            max_price=most,
            env=env,
            folder=folder,
        )
        found.append(RehearsedRail(rail, name, own, token, node, _buyer(options, rail, settings)))
    return found


def _is_offered(own: RailSettings, token: Token) -> bool:
    """On the XRP Ledger a setting names the tokens."""
    return token.symbol.lower() in getattr(own, "tokens", token.symbol.lower()).split(",")


def _buyer(options: Options, rail: Rail, settings: Settings) -> Configuration:
    try:
        found = configuration.find(options)
        sandbox = sandbox_file.nearest(options.env, options.folder) if found.is_sandbox else None
    except CoinslotError as error:
        why = error.sentences if options.key_file else f"{error.detail}. Give --key-file {rail}=FILE"
        raise Refused(f"{rail}: {why}") from None
    if sandbox is not None and sandbox.base_url != settings.base_url:
        why = f"the wallet of the sandbox at {sandbox.base_url} does not pay {settings.base_url}"
        raise Refused(f"{rail}: {why}. Give --key-file {rail}=FILE")
    return found


def quotes(exchange: BlockingExchange, base_url: str, calls: Sequence[str]) -> tuple[dict[str, Quote], list[Step]]:
    """The challenges of calls; with steps for those that are wrong.

    Args:
        calls: their names; empty for all that are listed.

    Raises:
        Refused: the service does not answer, or does not sell one of them.
    """
    found, steps = {}, []
    try:
        for name in calls or [item.name for item in completed(bazaar.fetch(exchange, base_url))]:
            url = call_url(base_url, name)
            quote = completed(request_challenge(exchange, url, None, request_id=uuid.uuid4().hex))
            if isinstance(quote, Answer):
                steps.append(Step(FAIL, "", name, "challenge", "it is free: nothing is to be paid", {}))
                continue
            try:
                quote.check_resource(url)
                found[name] = quote
            except ChallengeRefused as error:
                steps.append(Step(FAIL, "", name, "challenge", f"{error.detail}: see {PREFIX}BASE_URL", {}))
    except CoinslotError as error:
        raise Refused(f"{error.sentences.rstrip('. ')}. Nothing was signed") from None
    return found, steps


def planned(found: Sequence[RehearsedRail], challenges: Mapping[str, Quote]) -> tuple[list[Planned], list[Step]]:
    """What is bought on each rail; with steps for what is wrong, and for calls that are sold on other rails only."""
    plan: list[Planned] = []
    steps: list[Step] = []
    for rehearsed in found:
        others = []
        for call, quote in challenges.items():
            if (offer := _offer(rehearsed, quote)) is None:
                others.append(call)
                continue
            one = _planned(rehearsed, call, offer, quote)
            if isinstance(one, Planned):
                plan.append(one)
            else:
                steps.append(one)
        level: Level = NOTE
        why = f"not offered on it: {', '.join(others)}"
        if len(others) == len(challenges):
            level, why = FAIL, f"there is no offer on {rehearsed.own.network}: {_WHY_NONE}. See coinslot-ops doctor"
        if others:
            steps.append(Step(level, rehearsed.rail, "", "challenge", why, {"calls": others}))
    return plan, steps


def _offer(rehearsed: RehearsedRail, quote: Quote) -> Offer | None:
    for offer in quote.challenge.accepts:
        if offer.scheme == SCHEME and chains.rail_of(offer.network, offer.asset) == (rehearsed.rail, rehearsed.token):
            return offer
    return None


def _planned(rehearsed: RehearsedRail, call: str, offer: Offer, quote: Quote) -> Planned | Step:
    if folded(offer.pay_to) != folded(rehearsed.own.pay_to):
        setting = f"{PREFIX}{rehearsed.name.upper()}_PAY_TO"
        why = f"it pays {offer.pay_to}, and {setting} is {rehearsed.own.pay_to}: nothing is signed"
        return Step(FAIL, rehearsed.rail, call, "challenge", why, {"payTo": offer.pay_to})
    try:
        price = rehearsed.buyer.signer.quote(offer)
        body = {"message": "rehearsal"} if call == FIRST_CALL else _example(quote.document)
    except Unpayable as why:
        return Step(FAIL, rehearsed.rail, call, "challenge", f"its offer cannot be paid: {why}", {})
    except (KeyError, TypeError):
        return Step(FAIL, rehearsed.rail, call, "challenge", "it has no example of a body (the extension `bazaar`)", {})
    return Planned(rehearsed, call, body, offer, price)


def _example(document: Any) -> Any:
    return document["extensions"]["bazaar"]["info"]["input"]["body"]


def payable(plan: Sequence[Planned], most: Decimal) -> tuple[list[Planned], list[Step]]:
    """The plan without the rails whose node does not answer, with a step for each of these.

    Raises:
        Refused: it costs more than is allowed, or than a wallet has.
    """
    if (total := sum((one.price.value for one in plan), Decimal(0))) > most:
        why = f"{len(plan)} calls cost {plain(total)}, and {plain(most)} may be spent: nothing was signed"
        raise Refused(f"{why}. Allow it with --most {plain(total)}")
    needed: defaultdict[Rail, Decimal] = defaultdict(Decimal)
    for one in plan:
        needed[one.rehearsed.rail] += one.price.value
    down, steps = set(), []
    for rehearsed in {one.rehearsed.rail: one.rehearsed for one in plan}.values():
        payer = rehearsed.buyer.signer.address
        try:
            has = chains.holds(rehearsed.name, rehearsed.node, rehearsed.token, payer)
        except chains.NODE_ERRORS as error:
            down.add(rehearsed.rail)
            why = f"nothing is signed: its node does not say what {payer} has ({type(error).__name__}: {error})"
            steps.append(Step(FAIL, rehearsed.rail, "", "balance", why, {}))
            continue
        if has < (needs := needed[rehearsed.rail]):
            lacks = f"{payer} has {plain(has)} {rehearsed.token.symbol}, and {plain(needs)} are needed"
            raise Refused(f"{rehearsed.rail}: {lacks}: nothing was signed")
    return [one for one in plan if one.rehearsed.rail not in down], steps
