"""Describes a transaction in a few sentences, as a person would."""

from jobs.engines.evm.address import ZERO, short
from jobs.engines.evm.text import quoted
from jobs.engines.evm.transactions import DEPOSIT
from jobs.ports.chains import CHAIN_NAMES, Chain
from jobs.tx_explain.details import Details, rounded_fee
from jobs.tx_explain.phrases import happened, intended


def narrative(details: Details) -> str:
    """What happened, what it cost, and what else is to be known."""
    return " ".join((_first(details), *_more(details)))


def not_found(chain: Chain, found_on: Chain | None) -> str:
    """The narrative for a hash that the chain does not have."""
    sentence = f"{CHAIN_NAMES[chain]} has no transaction with this hash, neither in a block nor waiting."
    return sentence + (f" {CHAIN_NAMES[found_on]} has one: ask with chain {quoted(found_on)}." if found_on else "")


def _first(details: Details) -> str:
    match details.status:
        case "pending":
            return f"Waits to be included in a block: it would {intended(details).infinitive}."
        case "reverted":
            reason = ": " + _reason(details) if details.revert else ""
            paid = f" Paid {rounded_fee(details.fee)} ETH for gas all the same." if details.fee else ""
            return f"Tried to {intended(details).infinitive}, and was reverted{reason}.{paid}"
        case "success":
            paid = f" and paid {rounded_fee(details.fee)} ETH for gas" if details.fee else ""
            return f"{happened(details).past}{paid}."


def _reason(details: Details) -> str:
    if details.revert is None or details.revert.reason is None:
        return "no reason was given"
    # The author of a contract chose this text.
    return quoted(details.revert.reason) if details.revert.kind in ("error", "custom") else details.revert.reason


def _more(details: Details) -> list[str]:
    sent = details.transaction
    sentences: list[str] = []
    if sent.delegates:
        targets = [each for each in dict.fromkeys(sent.delegates) if each != ZERO]
        names = ", ".join(short(each) for each in targets[:3])
        sentences.append(
            f"Carried {_counted(len(sent.delegates), 'authorization')} (EIP-7702) for accounts to run the code of {names}."
            if targets
            else f"Carried {_counted(len(sent.delegates), 'authorization')} (EIP-7702) that end the delegation of accounts."
        )
    if sent.blobs:
        sentences.append(f"Carried {_counted(sent.blobs, 'blob')} of data (EIP-4844).")
    if sent.type == DEPOSIT and details.status == "success":
        sentences.append("Ethereum paid for its gas.")
    return sentences


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
