"""Reads everything that the rules need: the token, the spender through its proxies, and both as they were seven days ago."""

from dataclasses import dataclass

from jobs.approval_safety import age as ages
from jobs.approval_safety.age import UNKNOWN, Age
from jobs.approval_safety.rules import Evidence
from jobs.approval_safety.spender import Spender, follow
from jobs.engines.evm import selectors
from jobs.engines.evm.abi import encode_words
from jobs.engines.evm.code import delegate_of, proxy_reads
from jobs.engines.evm.copycat import Copycat, copycat, namesake
from jobs.engines.evm.known_addresses import Listing, listings
from jobs.engines.evm.known_contracts import KnownContract, known_contract
from jobs.engines.evm.known_tokens import KnownToken
from jobs.engines.evm.reader import NotAContract, Reader
from jobs.engines.evm.tokens import METADATA_GAS, Token, metadata_calls, name_call, token_of, truth, word
from jobs.engines.evm.unlimited import unlimited_form
from jobs.ports.chains import CHAIN_IDS, Call, ChainCall, Code, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the chain and the lists say.

    Attributes:
        namesake: another canonical token with the same symbol, where this one passes for none.
        listed: addresses that are on a list, with what they are here: ``spender``, ``implementation`` or ``token``.
        balance, allowance: of the owner, when one was named.
    """

    token: Token
    supply: int | None
    is_nft: bool
    copycat: Copycat | None
    namesake: KnownToken | None
    spender: Spender
    age: Age
    label: KnownContract | None
    listed: tuple[tuple[str, str, Listing], ...]
    balance: int | None
    allowance: int | None
    evidence: Evidence


def read(reader: Reader, token: str, spender: str, amount: int, owner: str | None) -> Known:
    """Read it all. Raises UpstreamFailed, and NotAContract when there is no token."""
    calls: list[ChainCall] = [
        Code(token, is_constant=True),
        *metadata_calls(token),
        name_call(token),
        Call(to=token, data=selectors.TOTAL_SUPPLY, gas=METADATA_GAS),
        Call(to=token, data=selectors.IS_ERC721, gas=METADATA_GAS),
        Code(spender),
        *proxy_reads(spender),
    ]
    if owner:
        calls.append(Call(to=token, data=selectors.BALANCE_OF + encode_words(owner)))
        calls.append(Call(to=token, data=selectors.ALLOWANCE + encode_words(owner, spender)))
    token_code, decimals, symbol, name, supply_answer, claims, code, *rest = reader.read(*calls)
    if not token_code or delegate_of(token_code):
        raise NotAContract("There is no contract at the token's address on this chain.")
    words = token_of(token, decimals, symbol, name)
    supply = word(supply_answer)
    target = follow(reader, spender, code, tuple(rest[: len(proxy_reads(spender))]))
    is_nft = truth(claims) is True
    is_revocation = amount == 0 and not is_nft  # of an NFT it is the id of one
    own, implementation, was_upgraded = UNKNOWN, None, False
    if target.kind == "contract" and not is_revocation:
        own, implementation, was_upgraded = _ages(reader, target)
    found = _listed(token, target)
    imitated = copycat(reader.chain, token, words.symbol, words.name)
    attackers = [(role, listing) for role, _, listing in found if listing.is_attacker]
    here = CHAIN_IDS[reader.chain]
    label = known_contract(reader.chain, spender) if target.kind == "contract" else None
    return Known(
        token=words,
        supply=supply,
        is_nft=is_nft,
        copycat=imitated,
        namesake=None if imitated else namesake(reader.chain, token, words.symbol),
        spender=target,
        age=own,
        label=label,
        listed=found,
        balance=word(rest[-2]) if owner else None,
        allowance=word(rest[-1]) if owner else None,
        evidence=Evidence(
            is_revocation=is_revocation,
            unlimited=None if is_nft else unlimited_form(amount, supply),
            kind=target.kind,
            age=own.verdict,
            implementation=implementation.verdict if implementation else None,
            was_upgraded=was_upgraded,
            code_changed=bool(own.code_then) and own.code_then != target.code,
            is_upgradeable=target.is_upgradeable,
            is_hollow=target.is_hollow,
            is_token=spender == token,
            copycat=imitated.likeness if imitated else None,
            listed_here=any(listing.chain_id == here for _, listing in attackers),
            listed_elsewhere=any(listing.chain_id != here for _, listing in attackers),
            token_listed=any(role == "token" for role, _ in attackers),
            was_exploited=any(not listing.is_attacker for _, _, listing in found),
            has_label=label is not None and label.is_approved,
        ),
    )


def _ages(reader: Reader, target: Spender) -> tuple[Age, Age | None, bool]:
    """The ages of the spender and of the youngest code that it runs as a proxy, and whether it was upgraded in seven days."""
    bracket = ages.week_ago(reader)
    addresses = [target.address, *(hop.target for hop in target.hops if hop.code)]
    found = ages.ages(reader, bracket, addresses)
    own = found[target.address]
    implementations = [found[address] for address in addresses[1:]]
    order = ("fresh", "unknown", "established")
    youngest = min(implementations, key=lambda age: order.index(age.verdict), default=None)
    if bracket.before is None or own.verdict != "established":
        return own, youngest, False
    changed = False
    for hop in target.hops:
        if hop.again is None:
            continue
        (then,) = ages.past(reader, bracket.before.number, hop.again)
        if isinstance(then, Unavailable):
            youngest = UNKNOWN
        elif isinstance(then, bytes) and then[:32][12:].hex() != hop.target[2:]:
            changed = True
    return own, youngest, changed


def _listed(token: str, target: Spender) -> tuple[tuple[str, str, Listing], ...]:
    roles = [("spender", target.address), *(("implementation", hop.target) for hop in target.hops), ("token", token)]
    return tuple((role, address, listing) for role, address in roles for listing in listings(address))
