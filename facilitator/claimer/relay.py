"""Has a facilitator send what the claimer has signed: ours, or any other with the standard API."""

from collections.abc import Mapping
from typing import Any

import msgspec

from facilitator.json_rpc import JsonClient
from shared.settings.cdp_key import CdpKey
from shared.x402.evm_channel import SCHEME
from shared.x402.networks import EvmToken
from shared.x402.wire import FacilitatorCall, Offer, Payment, Settlement


class Relay(JsonClient):
    """A client of a facilitator's /settle, for what the scheme calls claim, settle and refund.

    Args:
        url: base address.
        headers: sent with every call. Secret.
        cdp_key: signs every call, where the facilitator is Coinbase's.
    """

    timeout_s = 15.0

    def __init__(
        self, url: str, token: EvmToken, pay_to: str, *, headers: Mapping[str, str], cdp_key: CdpKey | None
    ) -> None:
        super().__init__(url.rstrip("/") + "/settle")
        self._headers = headers
        self._cdp_key = cdp_key
        self._terms = Offer(
            scheme=SCHEME,
            network=token.network,
            amount="0",
            asset=token.address,
            pay_to=pay_to,
            max_timeout_seconds=0,
        )

    async def send(self, payload: dict[str, Any]) -> Settlement:
        """What became of it. An answer that cannot be read counts as undecided: `error_reason` "settlement_pending".

        Raises:
            What is in CLIENT_ERRORS: nobody answered. It may have been sent.
        """
        call = FacilitatorCall(
            payment_payload=Payment(x402_version=2, accepted=self._terms, payload=payload),
            payment_requirements=self._terms,
        )
        headers = dict(self._headers)
        if self._cdp_key is not None:
            headers |= self._cdp_key.headers("POST", self._url)
        status, content = await self.post(call, headers)
        try:
            return msgspec.json.decode(content, type=Settlement)
        except (msgspec.DecodeError, UnicodeDecodeError):
            undecided = f"HTTP {status}, and the answer cannot be read"
            return Settlement(
                success=False,
                transaction="",
                network=self._terms.network,
                error_reason="settlement_pending",
                error_message=undecided,
            )
