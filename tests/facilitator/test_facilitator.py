"""Rails beside each other: one that is down is another's business as little as one that is not there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from facilitator import facilitator as module
from facilitator.facilitator import Facilitator
from shared.settings.service import InvalidSetting
from shared.x402.wire import Evidence, FacilitatorCall, Offer, Payment, Settlement, SupportedKind, Verification

pytestmark = pytest.mark.anyio


class Network:
    """A rail on a network of our own, whose node can be down."""

    def __init__(self, network: str, *, node: Exception | None = None) -> None:
        self.network = network
        self.node = node
        self.unavailable_reason = ""
        self.balance = "1 COIN"
        self.counts: Mapping[str, int] = {}
        self.starts = 0
        self.is_stopped = False

    @property
    def kinds(self) -> Sequence[SupportedKind]:
        return () if self.unavailable_reason else (SupportedKind(x402_version=2, scheme="exact", network=self.network),)

    @property
    def signers(self) -> Mapping[str, tuple[str, ...]]:
        return {"test:*": ("shared", self.network)}

    async def start(self) -> None:
        self.starts += 1
        if self.node is not None:
            raise self.node

    async def stop(self) -> None:
        self.is_stopped = True

    async def verify(self, call: FacilitatorCall) -> Verification:
        return Verification(is_valid=True, payer=self.network)

    async def settle(self, call: FacilitatorCall) -> Settlement:
        return Settlement(success=True, transaction="t", network=self.network)

    async def evidence(self, payment_id: str) -> Evidence | None:
        return Evidence(status="settled", network=self.network)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started again at once."""
    monkeypatch.setattr(module, "START_AGAIN_S", 0.01)


@pytest.fixture
async def opened() -> AsyncIterator[Callable[..., Awaitable[Facilitator]]]:
    """Facilitators that are stopped at the end."""
    async with AsyncExitStack() as stack:

        @asynccontextmanager
        async def open_one(*rails: Network) -> AsyncIterator[Facilitator]:
            facilitator = Facilitator(rails)
            try:
                await facilitator.start()
                yield facilitator
            finally:
                await facilitator.stop()

        yield lambda *rails: stack.enter_async_context(open_one(*rails))


def call(network: str) -> FacilitatorCall:
    offer = Offer(scheme="exact", network=network, amount="1", asset="a", pay_to="p", max_timeout_seconds=60)
    return FacilitatorCall(
        payment_payload=Payment(x402_version=2, accepted=offer, payload={}), payment_requirements=offer
    )


def networks(facilitator: Facilitator) -> list[str]:
    return [kind.network for kind in facilitator.supported.kinds]


async def test_each_call_goes_to_its_network(opened: Callable[..., Awaitable[Facilitator]]) -> None:
    """By the network of the requirements, and of the payment id."""
    facilitator = await opened(Network("test:1"), Network("test:2"))
    assert networks(facilitator) == ["test:1", "test:2"]
    assert facilitator.supported.signers == {"test:*": ("shared", "test:1", "test:2")}
    for network in ("test:1", "test:2"):
        assert (await facilitator.settle(call(network))).network == network
        assert (await facilitator.verify(call(network))).payer == network
        found = await facilitator.evidence(f"{network}:abc:def")
        assert found is not None
        assert found.network == network


async def test_an_unknown_network_is_refused_for_good(opened: Callable[..., Awaitable[Facilitator]]) -> None:
    """Nothing of it can have been sent."""
    facilitator = await opened(Network("test:1"))
    assert (await facilitator.settle(call("test:3"))).error_reason == "invalid_network"
    assert (await facilitator.verify(call("test:3"))).invalid_reason == "invalid_network"
    for unknown in ("test:3:abc", "test", "", ":", "test:10:x"):
        assert await facilitator.evidence(unknown) is None


async def test_a_rail_whose_node_is_down_is_started_when_it_is_up(
    opened: Callable[..., Awaitable[Facilitator]],
) -> None:
    """Meanwhile the others settle, and its payments are in doubt, not refused."""
    down = Network("test:2", node=ConnectionError("nobody"))
    facilitator = await opened(Network("test:1"), down)
    assert networks(facilitator) == ["test:1"]
    assert facilitator.unavailable_reasons == {"test:2": "its node does not answer: ConnectionError"}
    assert (await facilitator.settle(call("test:1"))).success
    settled = await facilitator.settle(call("test:2"))
    assert (settled.success, settled.transaction, settled.error_reason) == (False, "", "unexpected_settle_error")
    assert (await facilitator.verify(call("test:2"))).invalid_reason == "unexpected_verify_error"
    assert await facilitator.evidence("test:2:abc") == Evidence(status="unknown", network="test:2")

    down.node = None
    await asyncio.sleep(0.1)

    assert networks(facilitator) == ["test:1", "test:2"]
    assert facilitator.unavailable_reasons == {}
    assert (await facilitator.settle(call("test:2"))).success
    starts = down.starts
    await asyncio.sleep(0.05)
    assert down.starts == starts


async def test_a_node_of_another_network_is_an_error(opened: Callable[..., Awaitable[Facilitator]]) -> None:
    """At the start it ends the process. Later it is shown as the reason, and nothing is settled on it."""
    with pytest.raises(InvalidSetting, match="serves another"):
        await opened(Network("test:1", node=InvalidSetting("it serves another")))
    late = Network("test:2", node=ConnectionError())
    facilitator = await opened(late)
    late.node = InvalidSetting("it serves another")
    await asyncio.sleep(0.05)
    assert (networks(facilitator), facilitator.unavailable_reasons) == ([], {"test:2": "it serves another"})


async def test_a_rail_that_cannot_settle_is_left_out_and_told(opened: Callable[..., Awaitable[Facilitator]]) -> None:
    """As long as it complains."""
    poor = Network("test:2")
    facilitator = await opened(Network("test:1"), poor)
    poor.unavailable_reason = "its account is empty"
    assert (networks(facilitator), facilitator.unavailable_reasons) == (["test:1"], {"test:2": "its account is empty"})
    poor.unavailable_reason = ""
    assert (networks(facilitator), facilitator.unavailable_reasons) == (["test:1", "test:2"], {})


async def test_all_are_stopped() -> None:
    """The one that was never up as well, and it is not started any more."""
    rails = [Network("test:1"), Network("test:2", node=ConnectionError())]
    facilitator = Facilitator(rails)
    await facilitator.start()
    await facilitator.stop()
    starts = rails[1].starts
    await asyncio.sleep(0.05)
    assert [rail.is_stopped for rail in rails] == [True, True]
    assert rails[1].starts == starts
