"""Pays USDC on Stellar: a transfer that the account signs, in a transaction that somebody else sends and pays for."""

from __future__ import annotations

import re
import secrets
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from client.errors import NothingPaid, Unreachable, WalletUnusable
from client.signer import Unpayable
from shared.money import Price
from shared.x402.networks import Rail
from shared.x402.stellar import LEDGER_SECONDS, SCHEME, lifetime, token_on
from shared.x402.stellar_address import parse
from shared.x402.wire import Offer

if TYPE_CHECKING:
    from stellar_sdk import SorobanServer
    from stellar_sdk.soroban_rpc import SimulateTransactionResponse

MAX_TIMEOUT_SECONDS = 600
"""An authorization is a bearer cheque: nobody gets one that lasts longer than ten minutes."""
FASTEST_LEDGER_S = 2.0
NOBODY = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
"""Whose transaction it is until somebody puts the call into one of theirs: the official client names this one, too."""

# 18 digits keep every amount exact within the 28 digits of a Decimal, and are more than all the USDC there is.
_AMOUNT = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
# Both take exactly one transfer of the amount; the order of settling and answering is the server's risk and its word.
_FLOWS = (None, "authorization", "upfront")
_BASE_FEE = 100
_VALID_S = 300
_NO_TRANSACTION = "0" * 64
_ENOUGH_LEDGERS = 10


class StellarSigner:
    """An account that holds USDC.

    Args:
        secret: ``S…``. It is kept in memory only and shown nowhere.
        network: CAIP-2 network whose known USDC contract is paid with.
        rpc_url: Stellar RPC, which says at which ledger the network is, and what the transfer takes. It is trusted with nothing
            else: what is signed is built here.

    Raises:
        WalletUnusable: the secret is none of Stellar's, or no USDC contract is known on the network.
    """

    def __init__(self, secret: str, *, network: str = "stellar:pubnet", rpc_url: str) -> None:
        from stellar_sdk import Keypair  # takes most of a second to import

        try:
            self._key = Keypair.from_secret(secret.strip())
        except ValueError:
            raise WalletUnusable("the wallet's key is not a Stellar secret key (S…)") from None
        try:
            self._token = token_on(network)
        except KeyError:
            raise WalletUnusable(f"no USDC contract is known on {network}") from None
        self._rpc_url = rpc_url
        self.rail = Rail.STELLAR
        self.network = network
        self.asset = "USDC"
        self.address: str = self._key.public_key

    def __repr__(self) -> str:
        return f"StellarSigner({self.address} on {self.network})"

    def quote(self, offer: Offer) -> Price:
        """What the offer costs in USDC. Raises Unpayable unless signing it can do nothing but pay that."""
        token, extra = self._token, offer.extra
        if offer.network != self.network:
            raise Unpayable(f"the wallet pays on {self.network}")
        if offer.scheme != SCHEME:
            raise Unpayable(f"scheme {offer.scheme[:40]!r} is not {SCHEME!r}")
        if offer.asset != token.contract:
            raise Unpayable(f"asset {offer.asset[:60]!r} is not the USDC contract of this network")
        if extra.get("areFeesSponsored") is not True:
            raise Unpayable("the fees of the network would not be paid for us")
        if extra.get("assetTransferMethod") is not None:
            raise Unpayable("the transfer method is unknown")
        if extra.get("paymentFlow") not in _FLOWS:
            raise Unpayable("the payment flow is unknown")
        if not _AMOUNT.fullmatch(offer.amount):
            raise Unpayable(f"amount {offer.amount[:40]!r} is not a whole number of atomic units")
        if parse(offer.pay_to) is None:
            raise Unpayable("payTo is not an address that can be paid")
        if not 0 < offer.max_timeout_seconds <= MAX_TIMEOUT_SECONDS:
            raise Unpayable(f"maxTimeoutSeconds {offer.max_timeout_seconds} is not within 1 and {MAX_TIMEOUT_SECONDS}")
        return Price(Decimal(offer.amount).scaleb(-token.decimals))

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"transaction"}``: the transfer with the account's authorization, valid for maxTimeoutSeconds by the ledger.

        Raises:
            Refused: the network would not make this transfer; the detail says why.
            Unreachable: the node does not answer.
        """
        from stellar_sdk import SorobanServer, xdr
        from stellar_sdk.auth import authorize_entry
        from stellar_sdk.client.requests_client import RequestsClient
        from stellar_sdk.exceptions import SdkError

        client = RequestsClient(num_retries=0, request_timeout=10, post_timeout=10)
        try:
            with SorobanServer(self._rpc_url, client) as server:
                expiration = self._expiration(server, offer.max_timeout_seconds)
                credentials = self._credentials(self._simulated(server, offer, [], now))
                entry = authorize_entry(self._entry(offer, credentials), self._key, expiration, self._token.passphrase)
                # Once more with the signature: only now the node says what it takes to check that, too.
                measured = self._simulated(server, offer, [entry], now)
        except (SdkError, OSError, ValueError) as error:
            raise Unreachable(f"the Stellar node at {self._rpc_url} does not answer: {type(error).__name__}") from error
        envelope = self._transaction(offer, [entry], now)
        envelope.transaction.soroban_data = xdr.SorobanTransactionData.from_xdr(measured.transaction_data or "")
        envelope.transaction.fee = _BASE_FEE + (measured.min_resource_fee or 0)
        return {"transaction": envelope.to_xdr()}

    def _expiration(self, server: SorobanServer, seconds: int) -> int:
        """The last ledger, by the time that the network's ledgers take."""
        known = server.get_transaction(_NO_TRANSACTION)
        ledgers = known.latest_ledger - known.oldest_ledger
        ledger_s = float(LEDGER_SECONDS)
        if ledgers >= _ENOUGH_LEDGERS:
            measured = (known.latest_ledger_close_time - known.oldest_ledger_close_time) / ledgers
            ledger_s = min(max(measured, FASTEST_LEDGER_S), ledger_s)
        return known.latest_ledger + lifetime(seconds, ledger_s)

    def _simulated(
        self, server: SorobanServer, offer: Offer, entries: list[Any], now: int
    ) -> SimulateTransactionResponse:
        # The older credentials, wherever the network still has them: not every facilitator reads the newer.
        answer = server.simulate_transaction(self._transaction(offer, entries, now), use_upgraded_auth=False)
        if answer.error or not answer.transaction_data or answer.restore_preamble:
            why = " ".join((answer.error or "an entry must be restored first").split())
            raise NothingPaid(f"the network would not make the transfer: {why[:200]}")
        return answer

    def _credentials(self, simulation: SimulateTransactionResponse) -> int:
        """By which kind of credentials the network wants it signed; that is all that is taken from its answer."""
        from stellar_sdk import xdr

        kinds = xdr.SorobanCredentialsType
        wanted = simulation.results[0].auth if simulation.results else None
        if not wanted or len(wanted) != 1:
            raise NothingPaid("the network wants other signatures than the account's for this transfer")
        kind = xdr.SorobanAuthorizationEntry.from_xdr(wanted[0]).credentials.type
        if kind not in (kinds.SOROBAN_CREDENTIALS_ADDRESS, kinds.SOROBAN_CREDENTIALS_ADDRESS_V2):
            raise NothingPaid("the network wants a signature of an unknown kind for this transfer")
        return kind

    def _entry(self, offer: Offer, credentials: int) -> Any:
        """What is to be signed: this transfer, nothing beneath it, and a nonce of our own."""
        from stellar_sdk import Address, scval, xdr

        kinds = xdr.SorobanCredentialsType
        address = xdr.SorobanAddressCredentials(
            Address(self.address).to_xdr_sc_address(), xdr.Int64(secrets.randbits(63)), xdr.Uint32(0), scval.to_void()
        )
        held = (
            xdr.SorobanCredentials(kinds.SOROBAN_CREDENTIALS_ADDRESS_V2, address_v2=address)
            if credentials == kinds.SOROBAN_CREDENTIALS_ADDRESS_V2
            else xdr.SorobanCredentials(kinds.SOROBAN_CREDENTIALS_ADDRESS, address=address)
        )
        call = xdr.InvokeContractArgs(
            Address(self._token.contract).to_xdr_sc_address(), xdr.SCSymbol(b"transfer"), self._args(offer)
        )
        function = xdr.SorobanAuthorizedFunction(
            xdr.SorobanAuthorizedFunctionType.SOROBAN_AUTHORIZED_FUNCTION_TYPE_CONTRACT_FN, contract_fn=call
        )
        return xdr.SorobanAuthorizationEntry(held, xdr.SorobanAuthorizedInvocation(function, []))

    def _args(self, offer: Offer) -> list[Any]:
        from stellar_sdk import scval

        return [scval.to_address(self.address), scval.to_address(offer.pay_to), scval.to_int128(int(offer.amount))]

    def _transaction(self, offer: Offer, entries: list[Any], now: int) -> Any:
        from stellar_sdk import Account, TransactionBuilder

        return (
            TransactionBuilder(Account(NOBODY, 0), self._token.passphrase, base_fee=_BASE_FEE)
            .append_invoke_contract_function_op(self._token.contract, "transfer", self._args(offer), entries)
            .add_time_bounds(0, now + _VALID_S)
            .build()
        )
