"""The sandbox's USDC on Stellar: the built-in contract of a classic asset, and the authorizations that it requires.

Written against the public documentation: SEP-41 and CAP-46-06 (the contract and its events), CAP-46-11 and CAP-71 (what is
signed), CAP-67 (multiplexed recipients). A call changes nothing: it returns an effect, which the ledger may apply.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stellar_sdk import Address, Asset, Keypair, MuxedAccount, scval, xdr
from stellar_sdk.address import AddressType
from stellar_sdk.auth import authorization_payload_hash, build_authorization_preimage
from stellar_sdk.exceptions import BadSignatureError

from facilitator.rails.stellar.ledger_keys import account_key, balance_key, instance_key, line_key, nonce_key

LONGEST_AUTHORIZATION_LEDGERS = 3_110_399
_DECIMALS = 7
_I64_MAX = (1 << 63) - 1


class Trapped(Exception):
    """The call fails as a whole. The text is similar to the host's."""


@dataclass(slots=True)
class Account:
    """An account. `balance` is in stroops: ten million are one XLM."""

    balance: int
    sequence: int
    sub_entries: int = 0


@dataclass(slots=True)
class TrustLine:
    """An account's balance and limit of USDC, in atomic units."""

    balance: int
    limit: int = _I64_MAX


@dataclass(slots=True)
class State:
    """The state of the network. Nonces, by (address, nonce), have the ledgers until which and since which they are kept."""

    accounts: dict[str, Account] = field(default_factory=dict)
    lines: dict[str, TrustLine] = field(default_factory=dict)
    contracts: dict[str, int] = field(default_factory=dict)
    nonces: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Effect:
    """The effect of a call, and the entries of the state that it touches."""

    value: xdr.SCVal
    events: list[xdr.ContractEvent] = field(default_factory=list)
    moves: tuple[str, str, int] | None = None
    used: dict[tuple[str, int], int] = field(default_factory=dict)
    reads: list[xdr.LedgerKey] = field(default_factory=list)
    writes: list[xdr.LedgerKey] = field(default_factory=list)
    recorded: list[xdr.SorobanAuthorizationEntry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The authorizations of a call.

    Attributes:
        entries: the transaction's; None records the entries that it would need.
        source: of the transaction; its signature authorizes it.
        upgraded: record credentials of CAP-71.
    """

    entries: Sequence[xdr.SorobanAuthorizationEntry] | None
    source: str
    upgraded: bool = False


class AssetContract:
    """The contract of one classic asset."""

    def __init__(self, asset: Asset, passphrase: str) -> None:
        self.asset = asset
        self.address = asset.contract_id(passphrase)
        self._passphrase = passphrase

    def call(self, state: State, ledger: int, call: xdr.InvokeContractArgs, allowed: Allowed) -> Effect:
        """The effect that a call would have in that ledger. Raises Trapped."""
        contract = Address.from_xdr_sc_address(call.contract_address).address
        if contract != self.address:
            raise Trapped(f"HostError: Error(Storage, MissingValue): no contract {contract}")
        match call.function_name.sc_symbol, list(call.args):
            case b"transfer", [sender, recipient, amount]:
                return self._transfer(state, ledger, call, allowed, (sender, recipient, amount))
            case b"balance", [owner]:
                who = _address(owner)
                held = (
                    state.contracts.get(who.address, 0) if _is_contract(who) else self._line(state, who.address).balance
                )
                return Effect(scval.to_int128(held), reads=[instance_key(self.address), self._key(who.address)])
            case b"decimals", []:
                return Effect(scval.to_uint32(_DECIMALS), reads=[instance_key(self.address)])
        raise Trapped("HostError: Error(WasmVm, MissingValue): no such function, or other arguments")

    def _transfer(
        self,
        state: State,
        ledger: int,
        call: xdr.InvokeContractArgs,
        allowed: Allowed,
        args: tuple[xdr.SCVal, xdr.SCVal, xdr.SCVal],
    ) -> Effect:
        sender, recipient = _address(args[0]), _address(args[1])
        if args[2].type != xdr.SCValType.SCV_I128 or sender.type == AddressType.MUXED_ACCOUNT:
            raise Trapped("HostError: Error(Value, UnexpectedType)")
        amount = scval.from_int128(args[2])
        if amount < 0:
            raise Trapped("HostError: Error(Contract, #8): negative amount is not allowed")
        payee, muxed_id = recipient.address, None
        if recipient.type == AddressType.MUXED_ACCOUNT:
            named = MuxedAccount.from_account(recipient.address)
            payee, muxed_id = named.account_id, named.account_muxed_id
        if sender.address == self.asset.issuer or payee == self.asset.issuer:
            raise Trapped("the sandbox's issuer neither mints nor burns")
        effect = Effect(scval.to_void(), reads=[instance_key(self.address)])
        self._require(state, ledger, sender.address, call, allowed, effect)
        self._check_balances(state, sender, payee, amount)
        effect.moves = (sender.address, payee, amount)
        effect.writes += [self._key(who) for who in dict.fromkeys((sender.address, payee))]
        data = args[2]
        if muxed_id is not None:
            data = scval.to_map(
                {scval.to_symbol("amount"): data, scval.to_symbol("to_muxed_id"): scval.to_uint64(muxed_id)}
            )
        topics = [
            scval.to_symbol("transfer"),
            scval.to_address(sender.address),
            scval.to_address(payee),
            scval.to_string(f"{self.asset.code}:{self.asset.issuer}"),
        ]
        effect.events.append(contract_event(self.address, topics, data))
        return effect

    def _check_balances(self, state: State, sender: Address, payee: str, amount: int) -> None:
        if _is_contract(sender):
            raise Trapped("HostError: Error(Storage, MissingValue): no contract that could sign")
        have = self._line(state, sender.address).balance
        if amount > have:
            raise Trapped(f"HostError: Error(Contract, #10): resulting balance is not within the allowed range: {have}")
        if not payee.startswith("C"):
            line = self._line(state, payee)
            if payee != sender.address and line.balance + amount > line.limit:
                raise Trapped("HostError: Error(Contract, #10): resulting balance is not within the allowed range")

    def _require(
        self,
        state: State,
        ledger: int,
        who: str,
        call: xdr.InvokeContractArgs,
        allowed: Allowed,
        effect: Effect,
    ) -> None:
        """Require that an address has authorized this call."""
        if allowed.entries is None:
            effect.recorded.append(_unsigned(who, call, by_source=who == allowed.source, upgraded=allowed.upgraded))
        for entry in allowed.entries if allowed.entries is not None else effect.recorded:
            function = entry.root_invocation.function
            if function.contract_fn is None or function.contract_fn.to_xdr_bytes() != call.to_xdr_bytes():
                continue
            credentials = entry.credentials.address or entry.credentials.address_v2
            if credentials is None:
                if who == allowed.source:
                    return
            elif Address.from_xdr_sc_address(credentials.address).address == who:
                nonce = credentials.nonce.int64
                if allowed.entries is not None:
                    self._check_entry(state, ledger, who, entry, credentials)
                effect.used[who, nonce] = credentials.signature_expiration_ledger.uint32
                effect.reads.append(account_key(who))
                effect.writes.append(nonce_key(who, nonce))
                return
        raise Trapped(f"HostError: Error(Auth, InvalidAction): Unauthorized function call for address {who}")

    def _check_entry(
        self,
        state: State,
        ledger: int,
        who: str,
        entry: xdr.SorobanAuthorizationEntry,
        credentials: xdr.SorobanAddressCredentials,
    ) -> None:
        until = credentials.signature_expiration_ledger.uint32
        if until < ledger:
            raise Trapped(f"HostError: Error(Auth, InvalidInput): signature has expired: {until} < {ledger}")
        if until > ledger + LONGEST_AUTHORIZATION_LEDGERS:
            raise Trapped("HostError: Error(Auth, InvalidInput): signature expiration is too late")
        if (who, credentials.nonce.int64) in state.nonces:
            raise Trapped(f"HostError: Error(Auth, ExistingValue): nonce already exists for address {who}")
        if who not in state.accounts:
            raise Trapped(f"HostError: Error(Auth, InvalidAction): no account {who}")
        payload = authorization_payload_hash(build_authorization_preimage(entry, until, self._passphrase))
        key = Keypair.from_public_key(who)
        try:
            key.verify(payload, _signature(credentials.signature, key.raw_public_key()))
        except BadSignatureError:
            raise Trapped(f"HostError: Error(Auth, InvalidAction): failed account authentication of {who}") from None

    def _line(self, state: State, account: str) -> TrustLine:
        if account not in state.accounts:
            raise Trapped(f"HostError: Error(Contract, #6): account entry is missing: {account}")
        if account not in state.lines:
            raise Trapped(f"HostError: Error(Contract, #13): trustline entry is missing for account {account}")
        return state.lines[account]

    def _key(self, who: str) -> xdr.LedgerKey:
        return balance_key(self.address, who) if who.startswith("C") else line_key(who, self.asset)


def apply(state: State, effect: Effect, ledger: int) -> None:
    """Apply an effect to the state."""
    if effect.moves is not None:
        sender, payee, amount = effect.moves
        state.lines[sender].balance -= amount
        if payee in state.lines:
            state.lines[payee].balance += amount
        else:
            state.contracts[payee] = state.contracts.get(payee, 0) + amount
    state.nonces.update({used: (until, ledger) for used, until in effect.used.items()})


def contract_event(contract: str, topics: Sequence[xdr.SCVal], data: xdr.SCVal) -> xdr.ContractEvent:
    """A contract event."""
    return xdr.ContractEvent(
        ext=xdr.ExtensionPoint(0),
        contract_id=Address(contract).to_xdr_sc_address().contract_id,
        type=xdr.ContractEventType.CONTRACT,
        body=xdr.ContractEventBody(0, v0=xdr.ContractEventV0(list(topics), data)),
    )


def _unsigned(
    who: str, call: xdr.InvokeContractArgs, *, by_source: bool, upgraded: bool
) -> xdr.SorobanAuthorizationEntry:
    """The authorization entry that a call needs. Its owner has to sign it."""
    kinds = xdr.SorobanCredentialsType
    kind = kinds.SOROBAN_CREDENTIALS_ADDRESS_V2 if upgraded else kinds.SOROBAN_CREDENTIALS_ADDRESS
    inner = xdr.SorobanAddressCredentials(
        Address(who).to_xdr_sc_address(), xdr.Int64(secrets.randbits(63)), xdr.Uint32(0), scval.to_void()
    )
    arm: dict[str, Any] = {"address_v2" if upgraded else "address": inner}
    credentials = (
        xdr.SorobanCredentials(kinds.SOROBAN_CREDENTIALS_SOURCE_ACCOUNT)
        if by_source
        else xdr.SorobanCredentials(kind, **arm)
    )
    function = xdr.SorobanAuthorizedFunction(
        xdr.SorobanAuthorizedFunctionType.SOROBAN_AUTHORIZED_FUNCTION_TYPE_CONTRACT_FN, contract_fn=call
    )
    return xdr.SorobanAuthorizationEntry(credentials, xdr.SorobanAuthorizedInvocation(function, []))


def _signature(signers: Any, key: bytes) -> bytes:
    """Of the account's own key, in the one form there is: no account of the sandbox has other signers."""
    try:
        signature: bytes = signers.vec.sc_vec[0].map.sc_map[1].val.bytes.sc_bytes
    except (AttributeError, IndexError, TypeError):
        signature = b""
    fields = {"public_key": scval.to_bytes(key), "signature": scval.to_bytes(signature)}
    expected = scval.to_vec([scval.to_map({scval.to_symbol(name): value for name, value in fields.items()})])
    if expected.to_xdr_bytes() != signers.to_xdr_bytes():
        raise BadSignatureError("the signature has another form")
    return signature


def _address(value: xdr.SCVal) -> Address:
    if value.type != xdr.SCValType.SCV_ADDRESS:
        raise Trapped("HostError: Error(Value, UnexpectedType)")
    return scval.from_address(value)


def _is_contract(address: Address) -> bool:
    return address.type == AddressType.CONTRACT
