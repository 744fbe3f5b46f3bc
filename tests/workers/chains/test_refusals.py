"""What nodes of different makes say of calls that failed."""

import pytest

from jobs.ports.chains import Call, Cause, EstimateGas, Reverted
from shared.nodes.json_rpc import RpcError
from shared.outcome import UpstreamFailed
from tests.each import each
from workers.adapters.chain_refusals import meaning

TO = "0x" + "12" * 20


@each(
    ("code", "message", "cause"),
    [
        (-32603, "EVM error OutOfGas", "out_of_gas"),
        (-32603, "EVM error MemoryLimitOOG", "out_of_gas"),  # anvil: memory that nobody could pay
        (-32603, "EVM error InvalidOperandOOG", "out_of_gas"),
        (-32000, "out of gas: invalid memory operand", "out_of_gas"),
        (-32000, "gas uint64 overflow", "out_of_gas"),
        (-32603, "EVM error InvalidFEOpcode", "invalid_opcode"),
        (-32000, "invalid opcode: opcode 0xc not defined", "invalid_opcode"),
        (-32603, "EVM error StackUnderflow", "halted"),
        (-32000, "invalid jump destination", "halted"),
        (-32003, "Insufficient funds for gas * price + value", "insufficient_funds"),
    ],
)
def test_what_stopped_a_call_is_read_from_the_words(code: int, message: str, cause: Cause) -> None:
    """Of geth, reth and anvil."""
    for call in (Call(to=TO, data=b""), EstimateGas(to=TO, data=b"")):
        assert meaning(call, RpcError(code, message), age_s=1.0) == Reverted(b"", cause)


def test_megabytes_of_words_take_no_time() -> None:
    """A pattern that looks for an end which never comes does so from every place again."""
    error = RpcError(-32000, "state " * 200_000, "gas " * 200_000)
    with pytest.raises(UpstreamFailed) as caught:
        meaning(Call(to=TO, data=b""), error, age_s=1.0)
    assert caught.value.reason == "bad_content"
