"""The findings in words, each with its evidence."""

from collections.abc import Iterator

from jobs.approval_safety.reading import Known
from jobs.approval_safety.response import Finding, Severity
from jobs.approval_safety.rules import Judgement
from jobs.engines.evm.address import checksummed
from jobs.engines.evm.known_addresses import Listing
from jobs.engines.evm.text import quoted
from jobs.engines.evm.unlimited import unlimited_form
from jobs.ports.chains import CHAIN_IDS, Chain

_FORMS = {
    "max_uint256": "2^256-1, the usual number for no limit",
    "max_uint160": "2^160-1, Permit2's number for no limit",
    "max_uint96": "2^96-1, the number for no limit of tokens like COMP and UNI",
    "over_half_of_uint256": "2^255 or more, which no supply comes near",
    "over_total_supply": "more than there is of the token",
}
_LIKENESS = {
    "disguised": "written differently to look the same",
    "name_and_symbol": "with the same name and symbol",
    "foreign_letters": "in letters of another script",
    "symbol": "with the same symbol",
    "name": "with the same name",
}


def findings(chain: Chain, known: Known, judgement: Judgement) -> list[Finding]:
    """The findings that add points, the worst first, and then those that add none."""
    counting = []
    for rule in sorted(judgement.rules, key=lambda rule: -rule.points):
        message, evidence = _explained(rule.code, chain, known)
        severity = _severity(rule.points)
        counting.append(
            Finding(code=rule.code, severity=severity, message=message, points=rule.points, evidence=evidence)
        )
    return [*counting, *_notes(known)]


def _severity(points: int) -> Severity:
    if points >= 95:
        return "critical"
    return "high" if points >= 60 else "medium" if points >= 26 else "low"


_MESSAGES = {
    "eoa_spender": "The spender is no contract: whoever has its key takes the tokens, without any rule.",
    "delegated_spender": "The spender is an account with a key, which runs a contract's code for now (EIP-7702).",
    "spender_is_token": "The spender is the token itself, which has no use for an approval.",
    "code_changed": "Seven days ago there was other code at the spender's address.",
    "hollow_proxy": "The spender is a proxy of an address without code: what it will run is not known.",
    "fresh_contract": "Seven days ago there was no code at the spender's address.",
    "fresh_unlimited": "An approval without limit to a new contract is how most tokens are stolen.",
    "fresh_implementation": "The code behind the proxy is younger than seven days, or was put there since.",
    "unverifiable": "How old the spender's code is cannot be known here: no node of this service has that past.",
    "upgradeable_proxy": "The spender is a proxy whose owner may put other code behind it at any time.",
}


def _explained(code: str, chain: Chain, known: Known) -> tuple[str, dict[str, str]]:
    """The message and the evidence of a rule."""
    match code:
        case "known_malicious" | "known_malicious_elsewhere":
            role, address, listing = _listed(code, chain, known)
            where = "" if listing.chain_id == CHAIN_IDS[chain] else f", on chain {listing.chain_id}"
            message = f"The {role}'s address is known for {listing.kind.replace('_', ' ')}{where}."
            return message, _evidence(role, address, listing)
        case "exploited_contract":
            role, address, listing = next(each for each in known.listed if not each[2].is_attacker)
            incident, _, day = listing.note.rpartition(" ")
            return f"The {role} was exploited on {day} ({incident}): ask its makers whether it was fixed.", _evidence(
                role, address, listing
            )
        case "copycat_token":
            assert known.copycat is not None
            likeness, original = known.copycat
            return f"The token passes for {original.symbol}, {_LIKENESS[likeness]}.", {
                "likeness": likeness,
                "canonicalSymbol": original.symbol,
                "canonicalAddress": checksummed(original.address) if original.address else "",
            }
        case "unlimited_approval":
            assert known.evidence.unlimited is not None
            form = known.evidence.unlimited
            return f"The amount has no limit: {_FORMS[form]}.", {"form": form}
        case "upgradeable_proxy" | "fresh_implementation" | "hollow_proxy":
            hops = enumerate(known.spender.hops, 1)
            return _MESSAGES[code], {f"implementation{at}": checksummed(hop.target) for at, hop in hops}
    return _MESSAGES[code], {"spender": checksummed(known.spender.address)}


def _listed(code: str, chain: Chain, known: Known) -> tuple[str, str, Listing]:
    attackers = [each for each in known.listed if each[2].is_attacker]
    matching = [each for each in attackers if (each[2].chain_id == CHAIN_IDS[chain]) is (code == "known_malicious")]
    return (matching or attackers)[0]


def _evidence(role: str, address: str, listing: Listing) -> dict[str, str]:
    return {
        "role": role,
        "address": checksummed(address),
        "chainId": str(listing.chain_id),
        "kind": listing.kind,
        "source": listing.source,
        "note": listing.note,
    }


def _notes(known: Known) -> Iterator[Finding]:
    """Findings that add no points."""
    if known.evidence.is_revocation:
        yield _note("revocation", "An amount of zero takes an approval back: it gives the spender nothing.")
    if known.label and known.label.is_approved:
        yield _note("known_spender", f"The spender is {quoted(known.label.name)}, which many wallets approve.")
    if any(hop.way == "minimal" for hop in known.spender.hops):
        yield _note(
            "minimal_proxy", "The spender is a copy that runs the code of another contract and cannot be changed."
        )
    if known.namesake:
        other = f"{known.namesake.symbol} at {checksummed(known.namesake.address)}"
        yield _note(
            "shared_symbol", f"A listed token has the same symbol, {other}: check that this is the one you mean."
        )
    if known.is_nft:
        yield _note(
            "token_is_nft", "The token is an ERC-721: the amount is the id of one NFT that the spender may move."
        )
    if known.token.decimals is None and not known.is_nft:
        yield _note("no_decimals", "The token does not say how many decimals it has.")
    if known.supply is None and not known.is_nft:
        yield _note(
            "no_total_supply", "The token does not say how much of it there is, as every ERC-20 does: it may be none."
        )
    if known.balance is not None and known.balance == 0:
        yield _note("no_balance", "The owner has none of the token now.")
    if known.allowance:
        taken = (
            "any amount" if unlimited_form(known.allowance, known.supply) else known.token.formatted(known.allowance)
        )
        yield _note(
            "present_allowance",
            f"The spender may take {taken or 'some'} already; some tokens, like USDT, must be set to 0 first.",
        )


def _note(code: str, message: str) -> Finding:
    return Finding(code=code, severity="info", message=message, points=0, evidence={})
