"""Tells what is at an address: nothing, a contract, a proxy, or an account that has delegated to a contract."""

from jobs.engines.evm import address
from jobs.engines.evm.selectors import BEACON_SLOT, IMPLEMENTATION_SLOT, PROXIABLE_SLOT, ZEPPELIN_SLOT
from jobs.ports.chains import Storage

DELEGATION = bytes.fromhex("ef0100")
"""EIP-7702: the code of an account that delegates is these three bytes and an address."""
_MINIMAL = (
    (bytes.fromhex("363d3d373d3d3d363d73"), bytes.fromhex("5af43d82803e903d91602b57fd5bf3")),  # ERC-1167
    (bytes.fromhex("3d3d3d3d363d3d37363d73"), bytes.fromhex("5af43d3d93803e602a57fd5bf3")),  # the shorter one by 0age
    (bytes.fromhex("365f5f375f5f365f73"), bytes.fromhex("5af43d5f5f3e5f3d91602a57fd5bf3")),  # ERC-7511, with PUSH0
)
PROXY_SLOTS = (IMPLEMENTATION_SLOT, BEACON_SLOT, PROXIABLE_SLOT, ZEPPELIN_SLOT)
PRECOMPILES = frozenset(f"0x{number:040x}" for number in (*range(1, 0x12), 0x100))
"""Contracts without code: 1 to 0x11 (EIP-2537 ends there) and P256VERIFY (EIP-7951)."""


def delegate_of(code: bytes) -> str | None:
    """The contract that an account has delegated to (EIP-7702), or None."""
    return "0x" + code[3:].hex() if len(code) == 23 and code.startswith(DELEGATION) else None


def minimal_target(code: bytes) -> str | None:
    """The contract that a minimal proxy, which cannot be changed, calls; or None. Arguments may follow the proxy's code."""
    for before, after in _MINIMAL:
        end = len(before) + 20
        if code.startswith(before) and code[end : end + len(after)] == after:
            return "0x" + code[len(before) : end].hex()
    return None


def proxy_reads(account: str) -> tuple[Storage, ...]:
    """Reads of the slots in which proxies keep their implementation."""
    return tuple(Storage(account, slot) for slot in PROXY_SLOTS)


def slot_address(value: object) -> str | None:
    """The address in a slot; None when it is empty or holds something else."""
    found = address.of_word(value) if isinstance(value, bytes) else None
    return None if found == address.ZERO else found
