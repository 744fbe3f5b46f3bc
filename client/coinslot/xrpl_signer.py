"""Pays a token on the XRP Ledger: signs a whole Payment that moves exactly the price and expires with the offer."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from coinslot import node
from coinslot.errors import NoPayableOffer, WalletUnusable
from coinslot.offer_terms import check_terms, known_token
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC, Rail
from shared.x402.wire import Offer
from shared.x402.xrpl import TOKEN_KEY, is_payable, max_ledgers
from shared.x402.xrpl_payment import LAST_STANDARD_NETWORK, MAX_FEE_DROPS, invoice_hash

_TOKENS = {Rail.XRPL_USDC: XRPL_USDC, Rail.XRPL_RLUSD: XRPL_RLUSD}
_SEED = re.compile(r"s[1-9A-HJ-NP-Za-km-z]{20,40}", re.ASCII)

Json = dict[str, Any]
Ask = Callable[[Json], Any]


def signer(secret: str, *, network: str, rpc_url: str, rail: Rail) -> "XrplSigner":
    """The signer of a wallet's key (client/coinslot/wallet_source.py). Raises WalletUnusable."""
    return XrplSigner(secret, network=network, rpc_url=rpc_url, rail=rail)


class XrplSigner(Signer):
    """An account that holds a token, and XRP for the network's fee.

    Args:
        secret: family seed, ``s…`` or ``sEd…``. It is kept in memory and shown nowhere.
        network: CAIP-2 network whose known token is paid with.
        rpc_url: the JSON-RPC node that is asked for the account's sequence.
        rail: which of the tokens.

    Raises:
        WalletUnusable: the secret is no seed, or the token is not known on the network.
    """

    def __init__(self, secret: str, *, network: str, rpc_url: str, rail: Rail) -> None:
        from xrpl.wallet import Wallet  # takes half a second to import

        try:
            if not _SEED.fullmatch(secret):
                raise ValueError
            self._wallet = Wallet.from_seed(secret)
        except Exception:  # xrpl-py's decoder raises whatever the text leads it to, and may quote it
            raise WalletUnusable("the wallet's key is not a family seed of the XRP Ledger (s...)") from None
        self._token = known_token(_TOKENS.get(rail, {}), network, f"token of {rail}")
        self._rpc_url = rpc_url
        super().__init__(rail, network=network, asset=self._token.symbol, address=self._wallet.address)

    def quote(self, offer: Offer) -> Price:
        token, extra = self._token, offer.extra
        check_terms(offer, self.network)
        if offer.asset != token.currency or extra.get("issuer") != token.issuer:
            raise Unpayable(f"asset {offer.asset[:60]!r} of that issuer is not the {token.symbol} of this network")
        if extra.get("areFeesSponsored") is not False:
            raise Unpayable("the offer does not say that the payer pays the network's fee (areFeesSponsored: false)")
        if not is_payable(offer):
            raise Unpayable(f"amount {offer.amount[:40]!r}, payTo or extra is not of the scheme's form")
        if offer.pay_to == self.address:
            raise Unpayable("payTo is the wallet's own account")
        return Price(Decimal(offer.amount))

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"signedTxBlob", "invoiceId"?}``, valid for the offer's timeout in ledgers.

        Raises:
            Unreachable: the node does not answer. Nothing was signed.
            NoPayableOffer: the account does not exist or has no ticket, or the network's fee is too high.
            WalletUnusable: the node serves another network.
        """
        from xrpl.models.amounts import IssuedCurrencyAmount
        from xrpl.models.transactions import Payment
        from xrpl.transaction import sign

        ledger, fee, sequence, ticket = self._ask_ledger(offer)
        network = int(self.network.partition(":")[2])
        invoice = offer.extra.get(TOKEN_KEY)
        amount = IssuedCurrencyAmount(currency=self._token.currency, issuer=self._token.issuer, value=offer.amount)
        payment = Payment(
            account=self.address,
            destination=offer.pay_to,
            amount=amount,
            send_max=amount,
            fee=str(fee),
            sequence=sequence,
            ticket_sequence=ticket,
            last_ledger_sequence=ledger + max_ledgers(offer),
            destination_tag=offer.extra.get("destinationTag"),
            source_tag=offer.extra.get("sourceTag"),
            invoice_id=None if invoice is None else invoice_hash(invoice).hex().upper(),
            network_id=network if network > LAST_STANDARD_NETWORK else None,
        )
        blob = sign(payment, self._wallet).blob()
        return {"signedTxBlob": blob} | ({} if invoice is None else {TOKEN_KEY: invoice})

    def balance(self) -> Decimal:
        """What the account holds of the token, in whole units, by the newest validated ledger; 0 without a trust line.

        Raises:
            Unreachable: the node does not answer.
            NoPayableOffer: the account does not exist.
            WalletUnusable: the node serves another network.
        """
        token = self._token
        with node.connected("XRP Ledger", self._rpc_url) as ask:
            self._server(ask)
            found = self._result(
                ask, "account_lines", account=self.address, peer=token.issuer, ledger_index="validated"
            )
            held = [Decimal(line["balance"]) for line in found["lines"] if line["currency"] == token.currency]
        return max(held, default=Decimal(0))

    def _ask_ledger(self, offer: Offer) -> tuple[int, int, int, int | None]:
        """The newest validated ledger, the fee in drops, the sequence, and the ticket where the offer wants one."""
        with node.connected("XRP Ledger", self._rpc_url) as ask:
            info = self._server(ask)
            fee = int(self._result(ask, "fee")["drops"]["open_ledger_fee"])
            if fee > MAX_FEE_DROPS:
                raise NoPayableOffer(
                    f"the network asks {fee} drops of XRP for a transaction, more than {MAX_FEE_DROPS}"
                )
            ledger = int(info["validated_ledger"]["seq"])
            if offer.extra.get("assetTransferMethod") == "ticketSequence":
                return ledger, fee, 0, self._ticket(ask)
            account = self._result(ask, "account_info", account=self.address, ledger_index="current")
            return ledger, fee, int(account["account_data"]["Sequence"]), None

    def _server(self, ask: Ask) -> Json:
        """The node's description of itself. Raises WalletUnusable: it serves another network."""
        info: Json = self._result(ask, "server_info")["info"]
        if info["network_id"] != int(self.network.partition(":")[2]):
            raise WalletUnusable(f"the node serves network {info['network_id']}, not {self.network}")
        return info

    def _ticket(self, ask: Ask) -> int:
        found = self._result(ask, "account_objects", account=self.address, type="ticket", ledger_index="current")
        tickets = [int(entry["TicketSequence"]) for entry in found["account_objects"]]
        if not tickets:
            raise NoPayableOffer(f"the offer wants a ticket, and {self.address} has none")
        return min(tickets)

    def _result(self, ask: Ask, method: str, **parameters: Any) -> Json:
        result: Json = ask({"method": method, "params": [{"api_version": 2, **parameters}]})["result"]
        if result.get("error") == "actNotFound":
            raise NoPayableOffer(f"the XRP Ledger knows no account {self.address}: it needs XRP and a trust line first")
        if result.get("status") != "success":
            raise ValueError(result.get("error"))
        return result
