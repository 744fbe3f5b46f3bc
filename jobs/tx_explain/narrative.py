"""A transaction in a few sentences, as a person would tell it."""

from __future__ import annotations

from jobs.evm.address import ZERO, short
from jobs.evm.text import quoted
from jobs.evm.transactions import DEPOSIT
from jobs.ports.chains import CHAIN_NAMES, Chain
from jobs.tx_explain.facts import Facts, rounded_ether
from jobs.tx_explain.phrases import happened, intended


def narrative(facts: Facts) -> str:
    """What happened, what it cost, and what else is to be known."""
    return " ".join((_first(facts), *_more(facts)))


def not_found(chain: Chain, found_on: Chain | None) -> str:
    """Of a hash that is none of the chain."""
    told = f"{CHAIN_NAMES[chain]} has no transaction with this hash, neither in a block nor waiting."
    return told + (f" {CHAIN_NAMES[found_on]} has one: ask with chain {quoted(found_on)}." if found_on else "")


def _first(facts: Facts) -> str:
    match facts.status:
        case "pending":
            return f"Waits to be included in a block: it would {intended(facts).infinitive}."
        case "reverted":
            reason = ": " + _reason(facts) if facts.revert else ""
            paid = f" Paid {rounded_ether(facts.fee)} ETH for gas all the same." if facts.fee else ""
            return f"Tried to {intended(facts).infinitive}, and was reverted{reason}.{paid}"
        case "success":
            paid = f" and paid {rounded_ether(facts.fee)} ETH for gas" if facts.fee else ""
            return f"{happened(facts).past}{paid}."


def _reason(facts: Facts) -> str:
    if facts.revert is None or facts.revert.reason is None:
        return "no reason was given"
    # The author of a contract chose this text.
    return quoted(facts.revert.reason) if facts.revert.kind in ("error", "custom") else facts.revert.reason


def _more(facts: Facts) -> list[str]:
    sent = facts.transaction
    told: list[str] = []
    if sent.delegates:
        targets = [each for each in dict.fromkeys(sent.delegates) if each != ZERO]
        names = ", ".join(short(each) for each in targets[:3])
        told.append(
            f"Carried {_counted(len(sent.delegates), 'authorization')} (EIP-7702) for accounts to run the code of {names}."
            if targets
            else f"Carried {_counted(len(sent.delegates), 'authorization')} (EIP-7702) that end the delegation of accounts."
        )
    if sent.blobs:
        told.append(f"Carried {_counted(sent.blobs, 'blob')} of data (EIP-4844).")
    if sent.type == DEPOSIT and facts.status == "success":
        told.append("Ethereum paid for its gas.")
    return told


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
