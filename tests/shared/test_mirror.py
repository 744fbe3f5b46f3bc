"""What workers report to the dashboard about a payment does not show whose wallet it was."""

import msgspec
import pytest

from shared.queue.mirror import Report, Run, decode_report, encode_report, shortened, shortened_payment
from tests.each import each

PAYER = "0x30565aaca49b61a2f4a50e99c5e5b42b4f90da2f"
ASSET = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"


def test_a_payer_is_shortened_once() -> None:
    """Whatever is short already stays."""
    assert shortened(PAYER) == "0x3056…da2f"
    assert shortened(shortened(PAYER)) == "0x3056…da2f"
    assert shortened("") == ""


@each(
    ("payment_id", "expected"),
    [
        (f"eip155:8453:{ASSET}:{PAYER}:0x{'ab' * 32}", f"eip155:8453:0x8335…2913:0x3056…da2f:0x{'ab' * 32}"),
        (f"solana:5eykt4UsFv8P8NJd:{'m' * 44}:{'p' * 44}:ff", "solana:5eykt4UsFv8P8NJd:mmmmmm…mmmm:pppppp…pppp:ff"),
        ("xrpl:0:rJ3uoPkWjbPcCvcuQzKntZBpxPrsUesukA:95369467:5C", "xrpl:0:rJ3uoP…sukA:95369467:5C"),
        ("", ""),
        ("odd", "odd"),
    ],
)
def test_a_payment_id_keeps_what_is_unique(payment_id: str, expected: str) -> None:
    """Network and last part are whole, so the log's line is found by it."""
    assert shortened_payment(payment_id) == expected
    assert shortened_payment(expected) == expected


def test_a_report_is_read_as_it_was_written() -> None:
    """And what is none is refused."""
    run = Run("id", "echo", "micro", "request", "payment", "payer", 1.5, 2.5, "cause", "code")
    report = Report("micro.host.1", ["micro"], 1, "host", 0.5, [run], [run], (1, 2))
    assert decode_report(encode_report(report)) == report
    with pytest.raises(msgspec.DecodeError):
        decode_report(b"none")
