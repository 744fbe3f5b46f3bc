"""Draws texts from the attacks and their harmless neighbours that patterns/ has as sentences with slots.

`{name}` is any of the entries of slots.toml. Each harmless family uses the words of attacks, so that a word says little by
itself. Of a family of variants there are fewer texts: more of them made the model worse on sources that it had not seen.
"""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def attacks(rng: random.Random, most: int) -> Iterator[tuple[str, str, str]]:
    """(family, category, text), at most `most` of each family. The same generator gives the same texts."""
    for file, share in (("jailbreaks", most), ("orders", most), ("attack_variants", most * 2 // 5)):
        for family, row in _read(file).items():
            for text in _drawn(rng, row["patterns"], share):
                yield family, row["category"], text


def harmless(rng: random.Random, most: int) -> Iterator[tuple[str, str]]:
    """(family, text), at most `most` of each family."""
    for file, share in (("harmless", most), ("harmless_variants", most * 2 // 5)):
        for family, patterns in _read(file).items():
            for text in _drawn(rng, patterns, share):
                yield family, text


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "patterns" / f"{name}.toml").read_text())


_SLOTS: dict[str, list[str]] = _read("slots")


def _drawn(rng: random.Random, patterns: list[str], most: int) -> list[str]:
    texts = dict.fromkeys(_filled(rng, patterns[i % len(patterns)]) for i in range(most))
    return list(texts)


def _filled(rng: random.Random, pattern: str) -> str:
    return pattern.format_map({name: rng.choice(entries) for name, entries in _SLOTS.items()})
