"""What is missing on a machine to confine children: its workers note it in the queue Redis for operators."""

from collections.abc import Iterable, Sequence

KEY = "coinslot:confinement"
"""A hash: a note by machine."""
NOTED_EVERY_S = 10.0
STALE_S = 60.0
"""A note that no worker has renewed for so long is one of a machine that has gone."""


def note(now_s: float, machine: str, lacks: Sequence[str]) -> str:
    """The value of a machine's field."""
    return f"{now_s:.0f} {machine}: {'; '.join(lacks)}"


def sentences(notes: Iterable[bytes], now_s: float) -> list[str]:
    """The notes that count, for people."""
    found = (text.decode("utf-8", "replace").partition(" ") for text in notes)
    return [
        f"Child processes are confined with less than this service knows, on {text}."
        for noted_s, _, text in sorted(found)
        if noted_s.isdecimal() and now_s - int(noted_s) < STALE_S
    ]
