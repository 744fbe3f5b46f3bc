"""What workers report to the dashboard: a Redis stream of reports, each of which says what one worker process runs and what it
has ended since its last report. It holds ids and causes, and no argument, body, key or answer.

The stream is in the mirror, a Redis database of the dashboard's own. Only ops/projector.py knows how the dashboard stores
what it shows.
"""

import msgspec

REPORTS = "coinslot:mirror:reports"
FIELD = "r"
"""The field of an entry that holds the encoded report."""
KEPT_REPORTS = 1_000
"""Older reports are dropped: after a minute of much work without a dashboard, or after half an hour without work."""
REPORTS_TTL_S = 3_600
REPORT_S = 0.5
"""Between the reports of a worker whose jobs change."""
HEARTBEAT_S = 2.0
"""Between the reports of a worker that has nothing new to say."""
SILENT_S = 6.0
"""A worker that has not reported for that long is not shown."""


class Run(msgspec.Struct, array_like=True):
    """One run of a job.

    Args:
        queue: name of its pool.
        payment_id: with its addresses shortened; its last part, which no other payment has, is whole.
        payer: shortened.
        started: Unix seconds; 0.0 of a job that was given up before it started here.
        ended: Unix seconds; 0.0 while it runs.
        cause: why it failed, as in the log's ``cause=``; "" of one that was answered.
        code: the failure's code, as in the log's ``code=``.
    """

    job_id: str
    endpoint: str
    queue: str
    request_id: str = ""
    payment_id: str = ""
    payer: str = ""
    started: float = 0.0
    ended: float = 0.0
    cause: str = ""
    code: str = ""


class Report(msgspec.Struct, array_like=True):
    """One report of one worker process.

    Args:
        worker: its name: pools, host and process id.
        queues: names of its pools.
        born: when the process started to work, in Unix seconds.
        running: what it runs now.
        ended: what has ended since the last report: the last failures and the last answers.
        counted: answers and failures since the process started.
    """

    worker: str
    queues: list[str]
    pid: int
    host: str
    born: float
    running: list[Run]
    ended: list[Run]
    counted: tuple[int, int] = (0, 0)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Report)


def encode_report(report: Report) -> bytes:
    """As MessagePack."""
    return _encoder.encode(report)


def decode_report(raw: bytes) -> Report:
    """Raises msgspec.DecodeError when it is none."""
    return _decoder.decode(raw)


def shortened(address: str) -> str:
    """``0x1234…abcd``: enough to recognise a wallet, not enough to look it up. A second time changes nothing."""
    return f"{address[:6]}…{address[-4:]}" if len(address) > 12 else address


def shortened_payment(payment_id: str) -> str:
    """A payment id with its addresses shortened: ``eip155:8453:0x8335…2913:0x1234…abcd:0xc5cc2959…``, the last part whole.

    A payment id is the network in two parts, addresses and numbers, and what makes it unique (shared/x402).
    """
    parts = payment_id.split(":")
    return ":".join([*parts[:2], *(shortened(part) for part in parts[2:-1]), *parts[2:][-1:]])
