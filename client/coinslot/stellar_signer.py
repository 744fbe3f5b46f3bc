"""Pays USDC on Stellar: signs a transfer, which the facilitator sends in its own transaction."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from coinslot.errors import NothingPaid, WalletUnusable
from coinslot.node import no_answer
from coinslot.offer_terms import atomic_price, check_method, check_terms, known_token
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402.networks import STELLAR_USDC, Rail
from shared.x402.stellar import ledger_seconds, lifetime
from shared.x402.stellar_address import parse
from shared.x402.wire import Offer

if TYPE_CHECKING:
    from stellar_sdk import SorobanServer
    from stellar_sdk.soroban_rpc import SimulateTransactionResponse

NOBODY = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
"""The source of the transaction, until the facilitator replaces it by its own account. The official client uses the same."""

_BASE_FEE = 100
_VALID_S = 300
_NO_TRANSACTION = "0" * 64


def signer(secret: str, *, network: str, rpc_url: str, rail: Rail) -> StellarSigner:
    """The signer of a wallet's key (client/coinslot/wallet_source.py). Raises WalletUnusable."""
    return StellarSigner(secret, network=network, rpc_url=rpc_url)


class StellarSigner(Signer):
    """An account that holds USDC.

    Args:
        secret: ``S…``. It is kept in memory and shown nowhere.
        network: CAIP-2 network whose known USDC contract is paid with.
        rpc_url: Stellar RPC. It is trusted only with the newest ledger and the resources of the transfer: what is
            signed is built here.

    Raises:
        WalletUnusable: the secret is no Stellar secret key, or no USDC contract is known on the network.
    """

    def __init__(self, secret: str, *, network: str = "stellar:pubnet", rpc_url: str) -> None:
        from stellar_sdk import Keypair  # takes most of a second to import

        try:
            self._key = Keypair.from_secret(secret.strip())
        except ValueError:
            raise WalletUnusable("the wallet's key is not a Stellar secret key (S…)") from None
        self._token = known_token(STELLAR_USDC, network, "USDC contract")
        self._rpc_url = rpc_url
        super().__init__(Rail.STELLAR, network=network, asset="USDC", address=self._key.public_key)

    def quote(self, offer: Offer) -> Price:
        token = self._token
        check_terms(offer, self.network)
        if offer.asset != token.contract:
            raise Unpayable(f"asset {offer.asset[:60]!r} is not the USDC contract of this network")
        if offer.extra.get("areFeesSponsored") is not True:
            raise Unpayable("the fees of the network would not be paid for us")
        check_method(offer)
        if parse(offer.pay_to) is None:
            raise Unpayable("payTo is not an address that can be paid")
        return atomic_price(offer, token.decimals)

    def sign(self, offer: Offer, *, now: int) -> dict[str, Any]:
        """``{"transaction"}``: the transfer with the account's authorization, valid for maxTimeoutSeconds in ledgers.

        Raises:
            NothingPaid: the network would not make this transfer. The detail says why.
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
                # Simulated again with the signature, because its check also takes resources.
                measured = self._simulated(server, offer, [entry], now)
        except (SdkError, OSError, ValueError) as error:
            raise no_answer("Stellar", error) from None
        envelope = self._transaction(offer, [entry], now)
        envelope.transaction.soroban_data = xdr.SorobanTransactionData.from_xdr(measured.transaction_data or "")
        envelope.transaction.fee = _BASE_FEE + (measured.min_resource_fee or 0)
        return {"transaction": envelope.to_xdr()}

    def _expiration(self, server: SorobanServer, seconds: int) -> int:
        """The last ledger in which the authorization is valid."""
        known = server.get_transaction(_NO_TRANSACTION)
        elapsed_s = known.latest_ledger_close_time - known.oldest_ledger_close_time
        return known.latest_ledger + lifetime(
            seconds, ledger_seconds(known.latest_ledger - known.oldest_ledger, elapsed_s)
        )

    def _simulated(
        self, server: SorobanServer, offer: Offer, entries: list[Any], now: int
    ) -> SimulateTransactionResponse:
        # The older credentials where the network takes them: not every facilitator reads the newer ones.
        answer = server.simulate_transaction(self._transaction(offer, entries, now), use_upgraded_auth=False)
        if answer.error or not answer.transaction_data or answer.restore_preamble:
            why = " ".join((answer.error or "an entry must be restored first").split())
            raise NothingPaid(f"the network would not make the transfer: {why[:200]}")
        return answer

    def _credentials(self, simulation: SimulateTransactionResponse) -> int:
        """The kind of credentials that the network wants signed. Nothing else is taken from its answer."""
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
        """The authorization entry to sign: this transfer without further calls, and a nonce of our own."""
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
