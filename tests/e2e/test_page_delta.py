"""page_delta of `coinslot mcp`: a real browser looks at the sandbox's site, paid with RLUSD on the sandbox's XRP Ledger."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from mcp import Client
from xrpl.clients import JsonRpcClient
from xrpl.models import IssuedCurrencyAmount, Payment, TrustSet
from xrpl.transaction import submit_and_wait
from xrpl.wallet import Wallet

from coinslot import mcp_command
from coinslot.options import Options
from coinslot.xrpl_signer import XrplSigner
from compose.sandbox.upstreams.pages import HOST, arrived
from compose.sandbox.upstreams.ports import HTTPS_PORT
from shared.x402.networks import XRPL_RLUSD, Rail
from tests.e2e.agent import RECEIPT, Agent
from tests.whole_service import Service

pytestmark = pytest.mark.anyio
SITE = f"https://{HOST}:{HTTPS_PORT}"


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on it."""
    return "asyncio"


@pytest.fixture(scope="module")
def looker(service: Service) -> Wallet:
    """A new wallet on the sandbox's ledger, which holds 0.15 RLUSD."""
    ledger = service.sandbox["xrpl"]
    node, rlusd = JsonRpcClient(ledger["rpcUrl"]), XRPL_RLUSD[ledger["network"]]
    payer, wallet = Wallet.from_seed(ledger["payerSecret"]), Wallet.create()

    def amount(value: str) -> IssuedCurrencyAmount:
        return IssuedCurrencyAmount(currency=rlusd.currency, issuer=rlusd.issuer, value=value)

    for account, transaction in (
        (payer, Payment(account=payer.address, destination=wallet.address, amount="5000000")),
        (wallet, TrustSet(account=wallet.address, limit_amount=amount("100"))),
        (payer, Payment(account=payer.address, destination=wallet.address, amount=amount("0.15"))),
    ):
        assert submit_and_wait(transaction, node, account).is_successful()
    return wallet


def opted_in(service: Service, folder: Path, seed: str | None, mode: int = 0o600) -> dict[str, str]:
    """The part of the environment that page_delta takes."""
    key_file = folder / "page-delta.seed"
    key_file.write_text(str(seed))
    key_file.chmod(mode)
    return {
        "COINSLOT_PAGE_DELTA_RAIL": "xrpl-rlusd",
        "COINSLOT_PAGE_DELTA_KEY_FILE": str(key_file),
        "COINSLOT_PAGE_DELTA_RPC_URL": service.sandbox["xrpl"]["rpcUrl"],
    }


async def test_page_delta_tells_what_changed(service: Service, looker: Wallet, tmp_path: Path) -> None:
    """The first look is the baseline, and the second tells the change; a third is above the day's cap."""
    agent = Agent(service, tmp_path, per_day="0.02")
    agent.environment |= opted_in(service, tmp_path, looker.seed)
    told: list[str | None] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        told.append(message)

    page = {"url": SITE + "/arrivals?for=page_delta"}
    async with agent.connected() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools["page_delta"].input_schema["properties"]) == {"url", "extract", "focus", "sinceCursor"}
        first = await client.call_tool("page_delta", page, progress_callback=progress)
        second = await client.call_tool("page_delta", page)
        over = await client.call_tool("page_delta", page)
        status = (await client.call_tool("spend_status")).structured_content["pageDelta"]
    looks = [first.structured_content, second.structured_content]
    assert told[:2] == ["the call costs 0.01 RLUSD", "the payment is sent"]
    assert [look["comparison"]["status"] for look in looks] == ["new", "changed"]
    assert looks[1]["comparison"]["previousObservationId"] == looks[0]["observationId"] != looks[1]["observationId"]
    assert looks[0]["cursor"] != looks[1]["cursor"]
    assert arrived(1)[0] in looks[1]["markdown"]
    assert "baseline" in first.content[0].text
    assert "lines added 1, removed 1" in second.content[0].text
    assert (second.meta[RECEIPT]["network"], second.meta[RECEIPT]["payer"]) == ("xrpl:0", looker.address)
    assert " 0 is left of today's cap of 0.02" in over.content[0].text
    assert (status["leftToday"], status["wallet"]["address"]) == ("0", looker.address)
    rpc_url = service.sandbox["xrpl"]["rpcUrl"]
    signer = XrplSigner(str(looker.seed), network="xrpl:0", rpc_url=rpc_url, rail=Rail.XRPL_RLUSD)
    assert signer.balance() == Decimal("0.13")
    assert agent.open_payments() == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"COINSLOT_PAGE_DELTA_RAIL": ""}, "COINSLOT_PAGE_DELTA_RAIL is not set"),
        ({"COINSLOT_PAGE_DELTA_RAIL": "base"}, "COINSLOT_PAGE_DELTA_RAIL is not xrpl-rlusd"),
        ({"COINSLOT_CAP_PER_DAY": ""}, "no cap is set: COINSLOT_CAP_PER_DAY"),
        ({"COINSLOT_CAP_PER_DAY": "0.01"}, r"holds 0\.1[35] RLUSD, more than 10 times the day's cap of 0\.01"),
        ({"mode": "0640"}, "has the mode 0640, so others can use it, too. Run: chmod 600 "),
        ({"seed": "recipient"}, "is the recipient of its payments"),
        ({"seed": "payer"}, "is that of the other tools, and must be its own"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_keeps_page_delta_from_being_offered(
    service: Service, looker: Wallet, tmp_path: Path, change: dict[str, str], says: str
) -> None:
    """It is not listed and not called, and spend_status has the sentence."""
    agent = Agent(service, tmp_path, per_day="1")
    keys = json.loads((service.var / "sandbox" / "xrpl.json").read_text())
    seeds = {"recipient": keys["pay_to_secret"], "payer": keys["payer_secret"]}
    seed, mode = seeds.get(change.get("seed", ""), looker.seed), int(change.get("mode", "600"), 8)
    env = agent.environment | opted_in(service, tmp_path, seed, mode) | change
    owner = mcp_command.configured(Options(url=service.base_url, rail=Rail.XRPL_USDC, env=env, folder=tmp_path))
    async with mcp_command.serving(owner, timeout_s=10) as tools, Client(tools.server("1")) as client:
        assert "page_delta" not in [tool.name for tool in (await client.list_tools()).tools]
        (said,) = (await client.call_tool("spend_status")).structured_content["pageDelta"]["missing"]
        refused = await client.call_tool("page_delta", {"url": SITE + "/terms"})
    assert re.search(says, said)
    assert re.search(says, refused.content[0].text)
